"""Gardener's own image vector code, as a process that answers one JSON line with one JSON line.

Built once per content of its folder and Go version, into the cache of the test control plane.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.control_plane.oracle import go, oracle

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
    with subprocess.Popen([oracle(FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Oracle(process)


def chart_templates(chart: str, *names: str) -> dict[str, str]:
    """Templates of one of Gardener's own charts, at the version that the oracle is built from."""
    listed = go(FOLDER, "list", "-m", "-f", "{{.Dir}}", GARDENER).strip()
    folder = Path(listed, "charts", "gardener", chart, "templates")
    return {name: (folder / name).read_text() for name in names}
