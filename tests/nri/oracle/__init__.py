"""Ask the real plugins, balloons and topology-aware, whether they accept a policy on a machine.

`main.go` runs the acceptance code of nri-plugins v0.14.0 on a made-up sysfs. `topology/` stands in for a nested
module that the module proxy does not serve. The binary is built once per set of inputs, outside the tree.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gitops.nri.acceptance.machine import Machine
from tests.control_plane.build import cache_folder
from tests.control_plane.toolchain import BuildError, find_go

_SOURCES = ("go.mod", "go.sum", "main.go", "topology/go.mod", "topology/topology.go")


@dataclass(frozen=True)
class Answer:
    """What the plugin says."""

    accepted: bool
    error: str
    """The plugin's own words; empty when it accepts."""


def ask(questions: Iterable[tuple[Mapping[str, Any], Machine]], kind: str = "BalloonsPolicy") -> list[Answer]:
    """The plugin's answers to pairs of a spec and a machine, in their order.

    Args:
        questions: specs of policies of one kind, as the API server would store them.
        kind: `BalloonsPolicy` or `TopologyAwarePolicy`.

    Raises:
        BuildError: the plugin cannot be built.
    """
    asked = ({"kind": kind, "spec": spec, "machine": _machine(machine)} for spec, machine in questions)
    lines = "".join(json.dumps(question) + "\n" for question in asked)
    command = ["nice", str(binary())]
    run = subprocess.run(
        command,
        input=lines,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
        env=_environment(),
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return [Answer(answer["accepted"], answer.get("error", "")) for answer in answers]


@cache
def binary() -> Path:
    """The program, built now if it is not in the cache.

    Raises:
        BuildError: there is no Go, or the build failed.
    """
    go = find_go()
    here = Path(__file__).parent
    digest = hashlib.sha256(go.version.encode())
    for source in _SOURCES:
        digest.update(hashlib.sha256((here / source).read_bytes()).digest())
    program = cache_folder().parent / "balloons-oracle" / digest.hexdigest()[:16]
    if not program.is_file():
        program.parent.mkdir(exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=program.parent)) / "oracle"
        command = ["nice", str(go.command), "build", "-mod=readonly", "-o", str(partial), "."]
        build = subprocess.run(command, cwd=here, env=go.environment, capture_output=True, text=True, check=False)
        if build.returncode:
            raise BuildError(f"{' '.join(command)} failed:\n{build.stderr[-4000:]}")
        partial.rename(program)
        shutil.rmtree(partial.parent)
    return program


def _environment() -> dict[str, str]:
    """Machines are thousands of small files: in memory where there is a file system for that."""
    memory = Path("/dev/shm")  # noqa: S108 - the program makes folders of its own in it
    return {**os.environ, **({"TMPDIR": str(memory)} if memory.is_dir() else {})}


def _machine(machine: Machine) -> dict[str, Any]:
    return {
        "packages": machine.packages,
        "nodes": machine.nodes,
        "cores": machine.cores,
        "threads": machine.threads,
        "memory": machine.memory,
        "isolated": str(machine.isolated),
    }
