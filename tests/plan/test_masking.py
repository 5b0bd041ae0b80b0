"""What a plan may show of a value."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.manifest import Element, Path
from gitops.plan.masking import MASK, masked
from tests.plan.fleet import path

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("kind", "at", "value"),
    [
        pytest.param("Secret", path("/data/anything"), "aGVsbG8=", id="a Secret's data"),
        pytest.param("Secret", path("/stringData/anything"), "hello", id="a Secret's text"),
        pytest.param("Secret", ("data",), {"a": "aGVsbG8="}, id="all data of a Secret"),
        pytest.param("ConfigMap", path("/data/password"), "x", id="a password"),
        pytest.param("Shoot", path("/spec/token"), "x", id="a token"),
        pytest.param("Shoot", path("/spec/dbPassword"), "x", id="a password in camel case"),
        pytest.param("ConfigMap", path("/data/API_KEY"), "x", id="an API key"),
        pytest.param("ConfigMap", path("/data/private-key"), "x", id="a private key by name"),
        pytest.param("Shoot", path("/spec/clientSecret"), "x", id="a client secret"),
        pytest.param("Shoot", path("/spec/kubeconfig"), "apiVersion: v1", id="a kubeconfig"),
        pytest.param("ConfigMap", path("/data/key.pem"), KEY, id="a private key by its form"),
        pytest.param("ConfigMap", path("/data/x"), f"Bearer {JWT}", id="a web token by its form"),
        pytest.param("ConfigMap", path("/data/url"), "https://me:hunter2@host/x", id="a password in a URL"),
        pytest.param("ConfigMap", path("/data/x"), "ghp_abcdefghijklmnop", id="a forge's token"),
        pytest.param("ConfigMap", path("/data/app.yaml"), "user: a\npassword: hunter2\n", id="a password in a file"),
        pytest.param("ConfigMap", path("/data/app.json"), '{"apiKey": "hunter2"}', id="an API key in a file"),
        pytest.param("ConfigMap", path("/data/app.ini"), "secret_key=hunter2", id="a secret key in a file"),
        pytest.param("Shoot", path("/spec/credentials/pass"), "x", id="below a field that names a secret"),
        pytest.param("Shoot", path("/spec/credentials/list"), ["x"], id="a list below such a field"),
        pytest.param(
            "Deployment",
            ("spec", "containers", Element("name", "c"), "env", Element("name", "DB_PASSWORD"), "value"),
            "x",
            id="a variable by its name",
        ),
        pytest.param(
            "Secret",
            ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
            '{"data":{"a":"aGVsbG8="}}',
            id="what kubectl wrote down",
        ),
    ],
)
def test_this_is_not_shown(kind: str, at: Path, value: Any) -> None:
    assert masked(kind, at, value) in (MASK, [MASK])


@pytest.mark.parametrize(
    ("kind", "at", "value"),
    [
        pytest.param("Secret", path("/metadata/labels/a"), "b", id="a Secret's labels"),
        pytest.param("Secret", path("/type"), "Opaque", id="a Secret's type"),
        pytest.param("ConfigMap", path("/data/anything"), "hello", id="a ConfigMap's data"),
        pytest.param("Shoot", path("/spec/secretBindingName"), "binding", id="the name of a binding"),
        pytest.param("Shoot", path("/spec/credentialsBindingName"), "binding", id="the name of credentials"),
        pytest.param("Shoot", path("/spec/resources/resourceRef/name"), "secret-dns", id="a reference"),
        pytest.param("Shoot", path("/spec/secretRef/name"), "x", id="the name below a reference"),
        pytest.param("Shoot", path("/spec/tokenEnabled"), True, id="a switch"),
        pytest.param("Shoot", path("/spec/tokenSeconds"), 600, id="a number"),
        pytest.param("Shoot", path("/spec/secret"), "", id="nothing"),
        pytest.param("Shoot", path("/spec/secret"), None, id="null"),
        pytest.param("Shoot", path("/spec/kubernetes/kubeAPIServer/maxTokenExpiration"), "720h", id="a lifetime"),
        pytest.param("Shoot", path("/spec/x/secret/secretName"), "x", id="a volume's secret"),
        pytest.param("Shoot", path("/spec/x/url"), "https://host/path", id="a URL without password"),
        pytest.param("Shoot", path("/spec/x"), "10:30@noon", id="no URL at all"),
        pytest.param("ConfigMap", path("/data/x"), "-----BEGIN CERTIFICATE-----", id="a certificate is public"),
        pytest.param("ConfigMap", path("/data/app.yaml"), "password: ${DB_PASSWORD}\n", id="a placeholder in a file"),
        pytest.param("ConfigMap", path("/data/doc"), "the password is in the vault", id="a text about passwords"),
        pytest.param(
            "Shoot", ("spec", "extensions", Element("type", "shoot-secret-rotator"), "disabled"), False, id="an element"
        ),
        pytest.param(
            "Shoot",
            ("spec", "extensions", Element("type", "shoot-secret-rotator"), "providerConfig", "period"),
            "7d",
            id="in an element whose name sounds secret",
        ),
        pytest.param("ConfigMap", (), "hello", id="a whole value"),
    ],
)
def test_this_is_shown(kind: str, at: Path, value: Any) -> None:
    assert masked(kind, at, value) == value


def test_only_the_secret_parts_of_a_map_are_hidden() -> None:
    env = [{"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_HOST", "value": "db"}]
    value = {"env": env, "auth": {"token": "t", "tokenRef": {"name": "n"}, "retries": 3}, "keys": [KEY, "b"]}

    assert masked("Shoot", ("spec",), value) == {
        "env": [{"name": "DB_PASSWORD", "value": MASK}, {"name": "DB_HOST", "value": "db"}],
        "auth": {"token": MASK, "tokenRef": {"name": "n"}, "retries": 3},
        "keys": [MASK, "b"],
    }
