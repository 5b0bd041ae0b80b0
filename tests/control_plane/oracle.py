"""Small Go programs of ours that ask somebody else's code, built once per set of inputs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.control_plane.build import cache_folder
from tests.control_plane.toolchain import BuildError, find_go


@cache
def oracle(folder: Path) -> Path:
    """The program of a folder with a Go module, built now if it is not in the cache.

    Raises:
        BuildError: there is no Go, or the build failed.
    """
    digest = hashlib.sha256(find_go().version.encode())
    for file in sorted(path for path in folder.rglob("*") if path.suffix in {".go", ".mod", ".sum"}):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    program = cache_folder() / f"{folder.name}-{digest.hexdigest()[:16]}"
    if not program.is_file():
        sys.stderr.write(f"oracles: building {folder.name}, which takes some minutes\n")
        with tempfile.TemporaryDirectory(dir=program.parent) as partial:
            built = Path(partial, program.name)
            go(folder, "build", "-mod=readonly", "-ldflags=-s -w", "-o", str(built), ".")
            built.replace(program)
    return program


def go(folder: Path, *arguments: str) -> str:
    """What a go command prints, run in a folder with a Go module.

    Raises:
        BuildError: there is no Go, or the command failed.
    """
    toolchain = find_go()
    done = subprocess.run(
        [toolchain.command, *arguments],
        cwd=folder,
        env=toolchain.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)} in {folder.name} failed:\n{done.stderr[-4000:]}")
    return done.stdout
