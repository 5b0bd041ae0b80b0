"""How long it is from a `git push` to the first write: hook, webhook, `gitops serve`, plan, rollout in the sandbox."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from tests.cli.serving import SECRET, serving
from tests.end_to_end.repository import Repository, balloons

ROUNDS = 5


def main() -> None:
    """Print the seconds of a few rounds."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])  # the hook runs in another folder
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))


def measure(folder: Path) -> None:
    """Serve a repository of two Shoots, and push to it."""
    repository = Repository(folder / "work", "garden-dev", "sandbox")
    workers = [{"name": "w1", "machine": {"type": "local"}, "minimum": 1, "maximum": 1}]
    for name in ("one", "two"):
        repository.shoot(name, wave="canary", provider={"type": "local", "workers": workers})
    repository.policy()
    repository.commit()
    bare, secrets = folder / "fleet.git", folder / "secrets"
    secrets.write_text(SECRET)
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    common = ("--repo", str(bare), "--webhook-secret-file", str(secrets), "--listen", "127.0.0.1:0")
    with _started("serve", "--sandbox", *common) as process:
        server = serving(process)
        server.wait_for(lambda state: bool(state.get("record")))
        url = f"{server.url}/hooks/generic"
        _started("hook", "install", str(bare), "--url", url, "--secret-file", str(secrets)).wait()
        for number in range(ROUNDS):
            repository.policy(**balloons(str(2 + number)))
            revision = repository.commit()
            begun = monotonic()
            repository.git("push", "--quiet", str(bare), "main")
            pushed = monotonic()
            server.wait_for(lambda state, revision=revision: _wrote(state, revision))  # type: ignore[misc]
            wrote = monotonic()
            server.wait_for(lambda state, revision=revision: _ended(state, revision))  # type: ignore[misc]
            sys.stdout.write(f"git push {pushed - begun:.2f} s, first write {wrote - begun:.2f} s after it began\n")
        process.terminate()


def _started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gitops", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


def _wrote(state: Mapping[str, Any], revision: str) -> bool:
    running = state.get("running") or {}
    return (running.get("revision") == revision and running["wrote"]) or _ended(state, revision)


def _ended(state: Mapping[str, Any], revision: str) -> bool:
    return bool(state.get("record")) and state["record"]["revision"] == revision


if __name__ == "__main__":
    main()
