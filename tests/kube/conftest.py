import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitops.kube.kubeconfig import Connecting, connect
from gitops.kube.transport import ClientTransport
from tests.kube.certificates import Authority
from tests.kube.https_server import HttpsServer, https_server

Connect = Callable[..., ClientTransport]


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def server(authority: Authority) -> Iterator[HttpsServer]:
    with https_server(authority) as server:
        yield server


@pytest.fixture
def opened() -> Iterator[Connect]:
    """`connect`, whose transports are closed after the test."""
    transports: list[ClientTransport] = []

    def connect_and_remember(
        config: dict[str, Any], *, context: str = "", connecting: Connecting | None = None
    ) -> ClientTransport:
        transports.append(connect(config, context=context, connecting=connecting))
        return transports[-1]

    yield connect_and_remember
    for transport in transports:
        transport.close()


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where anything makes temporary files in this test; it is empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder
