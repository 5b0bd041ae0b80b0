"""Ask the real plugins, balloons and topology-aware, whether they accept a policy on a machine.

`main.go` runs the acceptance code of nri-plugins v0.14.0 on a made-up sysfs. `topology/` stands in for a nested
module that the module proxy does not serve. The binary is built once per set of inputs, outside the tree.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitops.nri.acceptance.machine import Machine
from tests.control_plane.oracle import oracle

FOLDER = Path(__file__).parent
"""The program's sources."""


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
    command = ["nice", str(oracle(FOLDER))]
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
