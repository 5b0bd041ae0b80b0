"""Image vectors, overwrites and lookups at random, with everything that decides between entries in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

NAMES = ("pause", "balloons")
CONSTRAINTS = (
    "1.31.x", "1.31", "= 1.31.2", "1.31.2", "v1.31.2", ">= 1.31", ">=1.31", ">= 1.31-0", "< 1.32", "> 1.30", "<= 1.31",
    "~1.31", "~1.31.1", "^1.30", ">= 1.30, < 1.32", ">= 1.30 < 1.32", "1.30 - 1.31", "1.30.x || 1.32.x", "!= 1.31", "*",
    "=> 1.31", "=1", "^0", "!= 1.31.2",
)  # fmt: skip
VERSIONS = (
    None,
    "1.30.0",
    "1.31.2",
    "v1.31.2",
    "1.31.9-gardener.1",
    "1.32.0+build",
    "1.31",
    "1",
    "0.9",
    "nonsense",
    "",
)
ARCHITECTURES: tuple[list[str] | None, ...] = (
    None,
    None,
    [],
    ["amd64"],
    ["arm64"],
    ["amd64", "arm64"],
    ["arm64", "amd64"],
    ["am", "d64"],
)
TAGS = ("v1", "sha256:0123", "v1@sha256:0123", "1.10")


@dataclass(frozen=True)
class Case:
    base: dict[str, Any]
    overwrite: dict[str, Any]
    queries: list[dict[str, Any]]


def case(random: Random) -> Case:
    """A base, an overwrite that often has the base's keys, and a few lookups."""
    base = [_entry(random, f"base-{at}") for at in range(random.randint(0, 6))]
    overwrite = [_entry(random, f"new-{at}", base) for at in range(random.randint(0, 4))]
    queries = [
        {
            "name": random.choice((*NAMES, NAMES[0], "unknown")),
            "runtime": random.choice((None, random.choice(VERSIONS))),
            "target": random.choice(VERSIONS),
            "arch": random.choice((None, "amd64", "arm64", "riscv64", "")),
        }
        for _ in range(8)
    ]
    return Case({"images": base}, {"images": overwrite}, queries)


def _entry(random: Random, place: str, like: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": random.choice((NAMES[0], *NAMES))}
    if like and random.random() < 0.6:
        model = random.choice(like)
        entry = {
            key: model[key] for key in ("name", "runtimeVersion", "targetVersion", "architectures") if key in model
        }
    else:
        if random.random() < 0.3:
            entry["runtimeVersion"] = random.choice(CONSTRAINTS)
        if random.random() < 0.6:
            entry["targetVersion"] = random.choice(CONSTRAINTS)
        if random.random() < 0.5:
            entry["architectures"] = random.choice(ARCHITECTURES)
    if random.random() < 0.3:
        entry["ref"] = f"registry/{place}:v1"
    else:
        entry["repository"] = f"registry/{place}"
        if random.random() < 0.8:
            entry["tag"] = random.choice(TAGS)
    if random.random() < 0.2:
        entry["version"] = place
    return entry


def text(data: dict[str, Any]) -> str:
    """As YAML that both sides read the same."""
    return json.dumps(data)
