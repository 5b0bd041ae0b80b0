"""A stub forge, and what opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitops.notify.forge import ForgeClient
from gitops.notify.forges import FORGES
from gitops.notify.secret import SecretFile
from gitops.notify.web import Web
from tests.notify.stub_forge import TOKEN, StubForge, stub_forge

REPOSITORIES = {
    "github": "acme/fleet",
    "gitlab": "acme/platform/fleet",
    "gitea": "acme/fleet",
    "bitbucket": "acme/fleet",
    "bitbucket-server": "ACME/fleet",
}
Client = Callable[[str], ForgeClient]


@pytest.fixture
def forge() -> Iterator[StubForge]:
    """A forge of every kind."""
    with stub_forge() as forge:
        yield forge


@pytest.fixture
def token(tmp_path: Path) -> SecretFile:
    """The token that the forge takes."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return SecretFile(file, "the forge's token")


@pytest.fixture
def web() -> Iterator[Web]:
    """The network."""
    web = Web(read=5)
    yield web
    web.close()


@pytest.fixture
def client(forge: StubForge, token: SecretFile, web: Web) -> Client:
    """Speaks to the stub as to a forge of a kind."""
    return lambda kind: ForgeClient(FORGES[kind](forge.url, REPOSITORIES[kind]), web, token)


@pytest.fixture(params=list(FORGES))
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of forge."""
    return str(request.param)
