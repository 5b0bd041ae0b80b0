import gc
import gzip
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import Configuration

from gitops.errors import LeaseLost, Unreachable
from gitops.kube.kubeconfig import Connecting
from gitops.kube.transport import ClientTransport, NotSent, Request, Response, Timeouts
from tests.kube.certificates import Authority
from tests.kube.conftest import Connect
from tests.kube.https_server import HttpsServer, https_server
from tests.kube.kubeconfigs import kubeconfig
from tests.waiting import PATIENCE


def seen(response: Response) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(response.body)
    return parsed


def header(response: Response, name: str) -> list[str]:
    return [value for key, value in seen(response)["headers"] if key.lower() == name.lower()]


def test_a_request_arrives_as_it_is(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    transport = opened(kubeconfig(server, authority))

    answer = transport(Request("PATCH", "/a%2Fb", (("x", "1 &2"), ("y", "a=b")), b"{}", "application/json-patch+json"))

    assert (seen(answer)["method"], seen(answer)["path"]) == ("PATCH", "/a%2Fb?x=1%20%262&y=a%3Db")
    assert header(answer, "content-type") == ["application/json-patch+json"]
    assert header(answer, "user-agent")[0].startswith("shoot-gitops/")
    assert answer.headers["content-length"] == answer.headers["Content-Length"]


def test_connections_are_kept_alive(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    transport = opened(kubeconfig(server, authority))

    for _ in range(5):
        transport(Request("GET", "/"))

    assert server.connections == 1


def test_errors_are_answers(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    server.answers["/x"] = (503, {}, b"no")

    assert opened(kubeconfig(server, authority))(Request("GET", "/x")).status == 503
    assert server.connections == 1


def test_redirects_are_not_followed(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    server.answers["/x"] = (307, {"Location": f"{server.url}/elsewhere"}, b"")

    assert opened(kubeconfig(server, authority))(Request("GET", "/x")).status == 307


def test_compressed_answers_are_unpacked(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    server.answers["/x"] = (200, {"Content-Encoding": "gzip"}, gzip.compress(b'{"a": 1}'))

    assert seen(opened(kubeconfig(server, authority))(Request("GET", "/x"))) == {"a": 1}


def test_a_truncated_answer_is_no_answer(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    server.answers["/x"] = (200, {"Content-Length": "100", "Connection": "close"}, b"{}")

    with pytest.raises(Unreachable) as caught:
        opened(kubeconfig(server, authority))(Request("POST", "/x", body=b"{}"))

    assert not isinstance(caught.value, NotSent)


def test_a_closed_port_is_known_not_to_have_seen_the_request() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        transport = ClientTransport(Configuration(host=f"http://127.0.0.1:{reserved.getsockname()[1]}"))

        with pytest.raises(NotSent, match="GET /x: no connection") as caught:
            transport(Request("GET", "/x", (("token", "hunter2"),)))

    assert "hunter2" not in str(caught.value)
    assert "0x" not in str(caught.value)


def test_a_silent_server_is_unreachable_after_the_read_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        transport = ClientTransport(
            Configuration(host=f"http://127.0.0.1:{silent.getsockname()[1]}"), timeouts=Timeouts(read=0.05)
        )

        with pytest.raises(Unreachable, match="GET /") as caught:
            transport(Request("GET", "/"))

        transport.close()
    assert not isinstance(caught.value, NotSent)


def test_a_server_of_another_authority_is_not_talked_to(authority: Authority, opened: Connect) -> None:
    with https_server(Authority("other")) as stranger, pytest.raises(Unreachable, match="verify"):
        opened(kubeconfig(stranger, authority))(Request("GET", "/"))


def test_a_closed_transport_still_serves_whoever_holds_it(
    server: HttpsServer, authority: Authority, opened: Connect
) -> None:
    transport = opened(kubeconfig(server, authority))
    transport(Request("GET", "/"))

    transport.close()

    assert seen(transport(Request("GET", "/")))["client"] == "admin"
    assert server.connections == 2


def test_many_threads_share_a_transport(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    transport = opened(kubeconfig(server, authority), connecting=Connecting(pool_size=4))
    paths: list[str] = []

    def ask(number: int) -> None:
        paths.extend(seen(transport(Request("GET", f"/{number}/{i}")))["path"] for i in range(5))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(paths) == sorted(f"/{n}/{i}" for n in range(4) for i in range(5))
    assert server.connections <= 4


def test_hundreds_of_transports_leave_neither_descriptors_nor_files(
    server: HttpsServer, authority: Authority, opened: Connect, temporary_folder: Path
) -> None:
    config = kubeconfig(server, authority)
    before = len(list(Path("/proc/self/fd").iterdir()))

    for number in range(200):
        transport = opened(config)
        if number % 20 == 0:
            transport(Request("GET", "/"))
        transport.close()
    during = len(list(Path("/proc/self/fd").iterdir()))
    gc.collect()

    assert during <= before + 2  # the server's side of the last connection may linger
    assert list(temporary_folder.iterdir()) == []


def test_a_request_is_asked_about_when_its_credential_is_at_hand_and_sent_only_then() -> None:
    order: list[str] = []

    def renew() -> bool:
        order.append("renewed")
        return False

    def permit() -> None:
        order.append("asked")
        raise LeaseLost("gone")

    configuration = Configuration()
    configuration.host = "http://localhost:1"  # where nobody listens
    transport = ClientTransport(configuration, renew=renew)

    with pytest.raises(LeaseLost):
        transport(Request("POST", "/x", permit=permit))

    assert order == ["renewed", "asked"]


def test_a_write_is_asked_about_once_its_connection_stands_and_otherwise_not_sent() -> None:
    """To find the server and to connect may take longer than a lease lasts."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            connection, _ = server.accept()
            connected.set()
            with connection:
                while data := connection.recv(65536):
                    received.append(data)

        def permit() -> None:
            if next(connecting):
                return  # nothing has been sent yet
            assert connected.wait(PATIENCE)
            raise LeaseLost("gone")

        connecting = iter((True, False))
        connected = threading.Event()
        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        configuration = Configuration()
        configuration.host = f"http://127.0.0.1:{server.getsockname()[1]}"
        transport = ClientTransport(configuration)

        with pytest.raises(LeaseLost):
            transport(Request("POST", "/x", body=b'{"kind": "Shoot"}', permit=permit))
        listener.join()

    assert b"Shoot" not in b"".join(received), "no server acts on half a request"


def test_a_write_that_is_allowed_arrives_whole(server: HttpsServer, authority: Authority, opened: Connect) -> None:
    answer = opened(kubeconfig(server, authority))(Request("POST", "/x", body=b"{} ", permit=lambda: None))

    assert header(answer, "content-length") == ["3"]
    assert header(answer, "transfer-encoding") == []


def test_a_request_may_be_in_more_of_a_hurry_than_its_transport() -> None:
    configuration = Configuration()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        configuration.host = f"http://127.0.0.1:{silent.getsockname()[1]}"

        with pytest.raises(Unreachable, match="timed out"):
            ClientTransport(configuration)(Request("GET", "/x", timeout=0.01))
