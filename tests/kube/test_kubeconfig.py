import base64
import datetime as dt
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from urllib3.exceptions import InsecureRequestWarning

from gitops.errors import CredentialsError, Unreachable
from gitops.kube.kubeconfig import Connecting, connect, connect_in_cluster, open_garden
from gitops.kube.transport import NotSent, Request, Response
from tests.kube.certificates import Authority
from tests.kube.conftest import Connect
from tests.kube.https_server import HttpsServer, https_server
from tests.kube.kubeconfigs import encoded, kubeconfig

GET = Request("GET", "/")


def client(response: Response) -> str | None:
    name: str | None = json.loads(response.body)["client"]
    return name


def headers(response: Response, name: str) -> list[str]:
    pairs = json.loads(response.body)["headers"]
    return [value for key, value in pairs if key.lower() == name.lower()]


def test_a_client_certificate_given_as_data_authenticates_and_touches_no_file(
    server: HttpsServer, authority: Authority, opened: Connect, temporary_folder: Path
) -> None:
    transport = opened(kubeconfig(server, authority))

    assert client(transport(GET)) == "admin"
    assert list(temporary_folder.iterdir()) == []


def test_certificates_given_as_files_authenticate(
    server: HttpsServer, authority: Authority, opened: Connect, tmp_path: Path
) -> None:
    pair = authority.issue("from-files")
    for name, content in (("c", pair.certificate), ("k", pair.key), ("ca", authority.certificate)):
        (tmp_path / name).write_bytes(content)
    user = {"client-certificate": str(tmp_path / "c"), "client-key": str(tmp_path / "k")}
    ca = {"certificate-authority-data": None, "certificate-authority": str(tmp_path / "ca")}

    assert client(opened(kubeconfig(server, authority, user=user, cluster=ca))(GET)) == "from-files"


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        ({"token": "t0ken"}, "Bearer t0ken"),
        ({"username": "u", "password": "p"}, "Basic " + base64.b64encode(b"u:p").decode()),
        ({}, None),
    ],
    ids=["token", "basic", "nobody"],
)
def test_users_without_certificates_authenticate(
    user: dict[str, Any], authorization: str | None, server: HttpsServer, authority: Authority, opened: Connect
) -> None:
    answer = opened(kubeconfig(server, authority, user=user))(GET)

    assert headers(answer, "Authorization") == ([authorization] if authorization else [])
    assert client(answer) is None


def test_a_token_file_authenticates(server: HttpsServer, authority: Authority, opened: Connect, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file")

    answer = opened(kubeconfig(server, authority, user={"tokenFile": str(tmp_path / "token")}))(GET)

    assert headers(answer, "Authorization") == ["Bearer from-file"]


def test_impersonation_is_asked_for(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    user = {"token": "t", "as": "jane", "as-groups": ["a", "b"]}

    answer = opened(kubeconfig(server, authority, user=user))(GET)

    assert headers(answer, "Impersonate-User") == ["jane"]
    assert ", ".join(headers(answer, "Impersonate-Group")) == "a, b"


def test_the_name_that_a_server_must_have_can_differ_from_its_address(authority: Authority, opened: Connect) -> None:
    with https_server(authority, "api.example.com") as server:
        with pytest.raises(Unreachable):
            opened(kubeconfig(server, authority))(GET)

        assert (
            client(opened(kubeconfig(server, authority, cluster={"tls-server-name": "api.example.com"}))(GET))
            == "admin"
        )


def test_an_unverified_server_is_talked_to_only_when_asked_for(authority: Authority, opened: Connect) -> None:
    insecure = {"insecure-skip-tls-verify": True, "certificate-authority-data": None}
    with https_server(Authority("other")) as server:
        transport = opened(kubeconfig(server, authority, user={"token": "t"}, cluster=insecure))

        with pytest.warns(InsecureRequestWarning):
            answer = transport(GET)

    assert answer.status == 200


def test_a_proxy_is_used(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    transport = opened(kubeconfig(server, authority, cluster={"proxy-url": "http://127.0.0.1:1"}))

    with pytest.raises(NotSent):
        transport(GET)

    assert server.connections == 0


Plugin = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """A user whose exec plugin returns a status; it writes a line to `runs` each time."""

    def make(status: dict[str, Any], version: str = "v1") -> dict[str, Any]:
        api_version = f"client.authentication.k8s.io/{version}"
        credential = {"apiVersion": api_version, "kind": "ExecCredential", "status": status}
        (tmp_path / "credential.json").write_text(json.dumps(credential))
        runs, output = str(tmp_path / "runs"), str(tmp_path / "credential.json")
        script = f"open({runs!r}, 'a').write('x'); print(open({output!r}).read())"
        return {"exec": {"apiVersion": api_version, "command": sys.executable, "args": ["-c", script]}}

    return make


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_plugins_token_authenticates(
    version: str, server: HttpsServer, authority: Authority, opened: Connect, plugin: Callable[..., dict[str, Any]]
) -> None:
    transport = opened(kubeconfig(server, authority, user=plugin({"token": "from-plugin"}, version)))

    assert headers(transport(GET), "Authorization") == ["Bearer from-plugin"]


def test_a_plugins_certificate_authenticates_and_touches_no_file(
    server: HttpsServer, authority: Authority, opened: Connect, plugin: Plugin, temporary_folder: Path
) -> None:
    pair = authority.issue("gardenlogin")
    user = plugin(
        {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()},
    )

    assert client(opened(kubeconfig(server, authority, user=user))(GET)) == "gardenlogin"
    assert list(temporary_folder.iterdir()) == []


def test_a_plugin_is_run_again_only_when_its_certificate_is_about_to_expire(
    server: HttpsServer, authority: Authority, opened: Connect, plugin: Plugin, tmp_path: Path
) -> None:
    now = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    clock = [now]

    def issue(name: str, expires: dt.datetime) -> dict[str, Any]:
        pair = authority.issue(name)
        return plugin(
            {
                "clientCertificateData": pair.certificate.decode(),
                "clientKeyData": pair.key.decode(),
                "expirationTimestamp": expires.isoformat(),
            }
        )

    user = issue("first", now + dt.timedelta(minutes=10))
    transport = opened(kubeconfig(server, authority, user=user), connecting=Connecting(now=lambda: clock[0]))
    names = [client(transport(GET))]
    issue("second", now + dt.timedelta(hours=1))
    clock[0] += dt.timedelta(minutes=9, seconds=29)
    names.append(client(transport(GET)))
    clock[0] += dt.timedelta(seconds=1)
    names += [client(transport(GET)), client(transport(GET))]

    assert names == ["first", "first", "second", "second"]
    assert (tmp_path / "runs").read_text() == "xx"


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("no-such-plugin", [], "installed"),
        (sys.executable, ["-c", "import sys; sys.exit('please log in')"], "please log in"),
        (sys.executable, ["-c", "import sys; sys.exit('hunter2' * 9)"], "…"),
        (sys.executable, ["-c", "print('hunter2')"], "failed to decode"),
        (sys.executable, ["-c", "print('{}')"], "missing key"),
    ],
    ids=["not there", "fails", "fails with a secret", "prints no JSON", "prints no credential"],
)
def test_a_failing_plugin_is_explained(
    command: str, arguments: list[str], message: str, server: HttpsServer, authority: Authority, opened: Connect
) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "args": arguments}}

    with pytest.raises(CredentialsError, match=message) as caught:
        opened(kubeconfig(server, authority, user=user))(GET)

    assert "hunter2" not in str(caught.value)
    assert server.connections == 0


def test_a_plugin_without_a_credential_is_an_error_and_no_anonymous_request(
    server: HttpsServer, authority: Authority, opened: Connect, plugin: Plugin
) -> None:
    with pytest.raises(CredentialsError, match="neither a token"):
        opened(kubeconfig(server, authority, user=plugin({"clientCertificateData": "x"})))(GET)

    assert server.connections == 0


def oidc(server: HttpsServer, authority: Authority, expires: int) -> dict[str, Any]:
    payload = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    config = {
        "idp-issuer-url": server.url,
        "idp-certificate-authority-data": encoded(authority.certificate),
        "client-id": "gitops",
        "client-secret": "s",
        "refresh-token": "r",
        "id-token": f"e30.{payload}.c2ln",
    }
    return {"auth-provider": {"name": "oidc", "config": config}}


def test_an_expired_oidc_token_is_refreshed_at_its_verified_provider_without_a_file(
    server: HttpsServer, authority: Authority, opened: Connect, temporary_folder: Path
) -> None:
    endpoint = json.dumps({"token_endpoint": f"{server.url}/token"}).encode()
    server.answers["/.well-known/openid-configuration"] = (200, {"Content-Type": "application/json"}, endpoint)
    tokens = json.dumps({"access_token": "a", "id_token": "fresh", "refresh_token": "r2"}).encode()
    server.answers["/token"] = (200, {"Content-Type": "application/json"}, tokens)

    answer = opened(kubeconfig(server, authority, user=oidc(server, authority, expires=0)))(GET)

    assert headers(answer, "Authorization") == ["Bearer fresh"]
    assert list(temporary_folder.iterdir()) == []


@pytest.mark.parametrize("ca", ["another", "none named"])
def test_an_oidc_provider_that_is_not_trusted_gets_no_refresh_token(
    ca: str, server: HttpsServer, authority: Authority, opened: Connect
) -> None:
    with https_server(Authority("other")) as stranger:
        user = oidc(stranger, authority, expires=0)
        if ca == "none named":
            del user["auth-provider"]["config"]["idp-certificate-authority-data"]

        with pytest.raises(CredentialsError, match=r"cannot be used: \w+Error"):
            opened(kubeconfig(server, authority, user=user))

        assert stranger.connections == 0


def test_a_provider_that_gives_no_token_is_an_error_and_no_anonymous_request(
    server: HttpsServer, authority: Authority, opened: Connect
) -> None:
    with pytest.raises(CredentialsError, match="auth-provider"):
        opened(kubeconfig(server, authority, user={"auth-provider": {"name": "azure", "config": {}}}))


SECRET = base64.b64encode(b"hunter2").decode()


def broken(**changes: Any) -> dict[str, Any]:
    good: dict[str, Any] = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "hunter2"}}],
    }
    return {**good, **changes}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (broken(**{"current-context": ""}), "no current-context"),
        (broken(**{"current-context": "x"}), r"no context 'x' \(it has: c\)"),
        (broken(contexts=None), r"no context 'c' \(it has: none\)"),
        (broken(contexts="c"), "no context"),
        (broken(clusters=[]), "no cluster 'k'"),
        (broken(users=[{"name": "v", "user": {"token": "hunter2"}}]), "no user 'u'"),
        (broken(clusters=[{"name": "k", "cluster": {}}]), "no server"),
        (broken(users=[{"name": "u", "user": {"client-certificate-data": SECRET}}]), "only one of"),
        (
            broken(users=[{"name": "u", "user": {"client-certificate-data": SECRET, "client-key-data": SECRET}}]),
            "must be PEM",
        ),
        (broken(users=[{"name": "u", "user": {"client-key-data": "hunter2!"}}]), "client-key-data is not base64"),
        (broken(users=[{"name": "u", "user": {"client-key": "/no/such/file"}}]), "/no/such/file"),
        (broken(users=[{"name": "u", "user": {"as-user-extra": {"a": ["b"]}}}]), "as-user-extra"),
        (
            broken(clusters=[{"name": "k", "cluster": {"server": "https://x", "certificate-authority-data": SECRET}}]),
            "no PEM certificate",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_kubeconfig_is_explained_without_its_secrets(config: dict[str, Any], message: str) -> None:
    with pytest.raises(CredentialsError, match=message) as caught:
        connect(config)

    assert "hunter2" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_context_can_be_chosen(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    config = kubeconfig(server, authority)
    config["users"].append({"name": "other", "user": {"token": "t"}})
    config["contexts"].append({"name": "d", "context": {"cluster": "k", "user": "other"}})

    assert headers(opened(config, context="d")(GET), "Authorization") == ["Bearer t"]


def test_the_garden_is_found_through_the_environment(server: HttpsServer, authority: Authority, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(kubeconfig(server, authority)))

    transport = open_garden({"KUBECONFIG": str(file)})
    answer = transport(GET)
    transport.close()

    assert client(answer) == "admin"


def test_without_any_kubeconfig_the_ways_to_give_one_are_named() -> None:
    with pytest.raises(CredentialsError, match=r"--kubeconfig FILE.*KUBECONFIG.*~/.kube/config"):
        open_garden({})


def test_a_context_without_any_kubeconfig_is_not_taken_for_the_pods_own_account() -> None:
    with pytest.raises(CredentialsError, match="no kubeconfig found"):
        open_garden({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, context="garden")


def test_a_pod_uses_its_own_account(server: HttpsServer, authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of-the-pod")
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    host, port = server.url.removeprefix("https://").split(":")

    transport = connect_in_cluster({"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}, account=tmp_path)
    answer = transport(GET)
    transport.close()

    assert headers(answer, "Authorization") == ["bearer of-the-pod"]


def test_in_a_pod_without_an_account_the_reason_is_given() -> None:
    with pytest.raises(CredentialsError, match="pod's own account"):
        open_garden({"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
