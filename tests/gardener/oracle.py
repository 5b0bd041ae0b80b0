"""Gardener's own image vector code, as a process that answers one JSON line with one JSON line.

Built once per content of its folder and Go version, into the cache of the test control plane.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.control_plane.build import cache_folder
from tests.control_plane.toolchain import SETTINGS, BuildError, find_go

FOLDER = Path(__file__).with_name("oracle_imagevector")
GARDENER = "github.com/gardener/gardener"


class Oracle:
    """A running oracle."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **question: Any) -> dict[str, Any]:
        """The answer to one question; `error` in it is Gardener's own."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def running_oracle() -> Iterator[Oracle]:
    """An oracle, built now if it is not in the cache.

    Raises:
        BuildError: there is no Go, or the build failed.
    """
    with subprocess.Popen([_binary()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Oracle(process)


def chart_templates(chart: str, *names: str) -> dict[str, str]:
    """Templates of one of Gardener's own charts, at the version that the oracle is built from."""
    listed = _go("list", "-m", "-f", "{{.Dir}}", GARDENER).stdout.strip()
    folder = Path(listed, "charts", "gardener", chart, "templates")
    return {name: (folder / name).read_text() for name in names}


@cache
def _binary() -> Path:
    digest = hashlib.sha256(find_go().version.encode())
    for file in sorted(FOLDER.iterdir()):
        digest.update(file.read_bytes())
    binary = cache_folder() / f"oracle-imagevector-{digest.hexdigest()[:16]}"
    if not binary.is_file():
        with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
            built = Path(folder, binary.name)
            _go("build", "-mod=readonly", "-ldflags=-s -w", "-o", str(built), ".")
            built.replace(binary)
    return binary


def _go(*arguments: str) -> subprocess.CompletedProcess[str]:
    go = find_go()
    environment = {**os.environ, **SETTINGS}
    done = subprocess.run(
        [go.command, *arguments], cwd=FOLDER, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)} failed:\n{done.stderr[-4000:]}")
    return done
