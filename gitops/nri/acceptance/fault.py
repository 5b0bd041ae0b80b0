"""What a rule finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gitops.nri.schema.fields import Location


@dataclass(frozen=True)
class Fault:
    """One place of a policy that a rule does not like."""

    at: Location
    """From the manifest's root."""
    message: str
    """What is wrong."""
    hint: str
    """What to do about it."""


Faults: TypeAlias = Iterator[Fault]
