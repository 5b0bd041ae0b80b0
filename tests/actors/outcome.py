"""How an operation on a Shoot ends: the script that a test gives to the gardenlet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Succeeded:
    """The operation succeeds."""

    unhealthy: Mapping[str, str] = field(default_factory=dict)
    """Types of conditions that care finds False afterwards, with their messages."""


@dataclass(frozen=True)
class Failed:
    """The operation ends with `lastErrors`."""

    message: str
    codes: tuple[str, ...] = ()
    """Such as `ERR_CONFIGURATION_PROBLEM`."""
    state: Literal["Failed", "Error"] = "Failed"
    """`Error`: gardenlet tries again at its next step, and asks the script again. `Failed`: on a new generation."""


Outcome: TypeAlias = Succeeded | Failed
Script: TypeAlias = Callable[[dict[str, Any]], Outcome]
"""The outcome of an operation, given the Shoot as it was when the operation started."""

SUCCEEDED = Succeeded()


def succeed(_: dict[str, Any]) -> Outcome:
    """The script by which everything succeeds."""
    return SUCCEEDED


def by_target(outcomes: Mapping[str, Outcome]) -> Script:
    """By `<namespace>/<name>`; what is not listed succeeds. Later changes of the mapping are seen."""

    def outcome(shoot: dict[str, Any]) -> Outcome:
        return outcomes.get(target_of(shoot), SUCCEEDED)

    return outcome


def target_of(shoot: dict[str, Any]) -> str:
    """`<namespace>/<name>`."""
    return f"{shoot['metadata']['namespace']}/{shoot['metadata']['name']}"
