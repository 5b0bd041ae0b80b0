"""Ask the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from gitops.manifest import Manifest
from gitops.nri.acceptance.decoding import undecodable
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.spec import Policy
from gitops.nri.acceptance.table import RULES, UNDECODABLE, Rules
from gitops.nri.schema.fields import Location


class Verdict(Enum):
    """What the plugin would say."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """It cannot be known from here: it depends on devices, drivers or interrupts of the node."""


@dataclass(frozen=True)
class Finding:
    """Why a policy is refused, or why nobody can tell."""

    rule: str
    """The rule's stable name."""
    at: Location
    """From the manifest's root."""
    message: str
    hint: str
    """What to do about it."""


@dataclass(frozen=True)
class Acceptance:
    """The answer about one policy and one machine."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    """In the order in which the plugin would find them; none for what is accepted."""


def check(policy: Manifest, machine: Machine | None = None) -> Acceptance:
    """Whether the plugin accepts a policy on a machine.

    The policy is taken as the API server would store it: keys that the CRD does not know do not count, and
    `allocatorPriority` is `high` where it is absent. Nothing is assumed about the types of values.

    Args:
        policy: a manifest of a kind in `RULES`.
        machine: None to ask only what is true of every machine.

    Raises:
        KeyError: it is no such policy.
    """
    kind = policy["kind"]
    rules = RULES[kind]
    spec = policy.get("spec")
    if wrong := tuple(_named(UNDECODABLE, undecodable(kind, spec))):
        return Acceptance(Verdict.REFUSED, wrong)
    read = Policy(spec or {})
    refusals = tuple(_refusals(rules, read, machine))
    if refusals:
        return Acceptance(Verdict.REFUSED, refusals)
    doubts = tuple(finding for name, rule in rules.unknowable.items() for finding in _named(name, rule(read)))
    return Acceptance(Verdict.UNKNOWN if doubts else Verdict.ACCEPTED, doubts)


def _refusals(rules: Rules, policy: Policy, machine: Machine | None) -> Iterator[Finding]:
    sound = True
    for name, rule in rules.refusing.items():
        for finding in _named(name, rule(policy)):
            sound = False
            yield finding
    for name, machine_rule in rules.on_machine.items():
        for finding in _named(name, machine_rule(policy, machine)):
            sound = False
            yield finding
    for name, machine_rule in rules.after.items() if sound else ():
        yield from _named(name, machine_rule(policy, machine))


def _named(rule: str, faults: Faults) -> Iterator[Finding]:
    return (_finding(rule, fault) for fault in faults)


def _finding(rule: str, fault: Fault) -> Finding:
    return Finding(rule, fault.at, fault.message, fault.hint)
