"""The console script in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.repository import Repository

_OURS = str(Path(__file__).parents[2])
"""Where the package lies that is tested, wherever another one may be installed."""

Run = Callable[..., subprocess.CompletedProcess[str]]


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
def gitops(repository: Repository, tmp_path: Path) -> Run:
    """Run `gitops` in the repository with an environment that holds nothing else."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-m", "gitops", *arguments],
            cwd=repository.path,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": _OURS, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run
