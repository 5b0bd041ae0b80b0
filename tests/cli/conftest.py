"""The console script in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest
import yaml

from tests.cli.terminal import Terminal
from tests.end_to_end.repository import Repository
from tests.notify.stub_forge import TOKEN, StubForge, stub_forge
from tests.waiting import PATIENCE

_OURS = str(Path(__file__).parents[2])
"""Where the package lies that is tested, wherever another one may be installed."""

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
Open = Callable[..., Terminal]

COMMAND = (sys.executable, "-m", "gitops")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two whole Shoots for the sandbox, in two waves."""
    repository = Repository(tmp_path / "repository", "garden-dev", "sandbox")
    for name, wave in (("one", "canary"), ("two", "fleet")):
        workers = [{"name": "w1", "machine": {"type": "local"}, "minimum": 1, "maximum": 1}]
        repository.shoot(name, wave=wave, provider={"type": "local", "workers": workers})
    repository.overlay["spec"]["gate"] = {"timeout": "10m"}
    repository.policy()
    repository.commit()
    return repository


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """An environment that holds nothing but the program and an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": _OURS}


@pytest.fixture
def gitops(repository: Repository, environment: Mapping[str, str]) -> Run:
    """Run `gitops` in the repository to its end."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=repository.path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    return run


@pytest.fixture
def started(repository: Repository, environment: Mapping[str, str]) -> Iterator[Start]:
    """Start `gitops` in the repository; what still runs after the test is killed."""
    with ExitStack() as running:

        def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=repository.path,
                env={**environment, **variables},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            running.enter_context(process)
            running.callback(process.kill)
            return process

        yield start


@pytest.fixture
def on_terminal(repository: Repository, environment: Mapping[str, str]) -> Iterator[Open]:
    """Start `gitops` in the repository, as somebody at a terminal does."""
    with ExitStack() as running:

        def start(*arguments: str, columns: int = 100, **variables: str) -> Terminal:
            settings = {"TERM": "xterm", **environment, **variables}
            terminal = Terminal([*COMMAND, *arguments], repository.path, settings, columns=columns)
            running.callback(terminal.close)
            return terminal

        yield start


@pytest.fixture
def sandbox(started: Start, tmp_path: Path) -> Callable[..., str]:
    """Start a landscape behind a port, in which these requests go wrong; returns its kubeconfig."""

    def start(*faults: Mapping[str, Any], time_scale: int = 100) -> str:
        file = tmp_path / "faults.yaml"
        file.write_text(yaml.safe_dump({"requests": [dict(fault) for fault in faults]}))
        kubeconfig = str(tmp_path / "sandbox.kubeconfig")
        arguments = ("--faults", str(file), "--kubeconfig-file", kubeconfig, "--time-scale", str(time_scale))
        read_until(started("sandbox", *arguments).stdout, "Ctrl-C ends it")
        return kubeconfig

    return start


def read_until(stream: IO[str] | None, text: str) -> str:
    """What a process wrote up to and with the line that holds a text; pytest's time limit ends the waiting."""
    assert stream is not None
    lines = []
    for line in stream:
        lines.append(line)
        if text in line:
            return "".join(lines)
    raise AssertionError(f"{text!r} never came:\n{''.join(lines)}")


@pytest.fixture
def forge() -> Iterator[StubForge]:
    with stub_forge() as forge:
        yield forge


@pytest.fixture
def to_forge(forge: StubForge, tmp_path: Path) -> tuple[str, ...]:
    """The options that lead to the forge."""
    token = tmp_path / "token"
    token.write_text(TOKEN)
    where = ("--forge", "gitea", "--forge-url", forge.url, "--forge-repository", "acme/fleet")
    return (*where, "--forge-token-file", str(token))
