"""Policies and machines for comparison with the plugin, biased to the edges of every rule.

A policy is a plausible one with a few edges put on it. An edge is named after the rule whose subject it is, and is
meant to fall on either side of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from gitops.nri.acceptance.machine import Machine
from tests.nri.acceptance.edge_table import EDGES
from tests.nri.acceptance.plain import plain_spec, some_machine


@dataclass(frozen=True)
class Case:
    """One question."""

    spec: Mapping[str, Any]
    machine: Machine
    edges: frozenset[str]
    """The rules whose edges it was brought to."""


def generate(random: Random) -> Case:
    """One case; the same for the same state of `random`."""
    machine = some_machine(random)
    spec = plain_spec(random, machine)
    edges = random.sample(list(EDGES), random.choice([0, 1, 1, 1, 1, 2, 2, 3]))
    for edge in sorted(edges, key="undecodable-value".__eq__):  # other edges need a policy that has its shape
        EDGES[edge](random, spec, machine)
    return Case(spec, machine, frozenset(edges))
