"""How long a lease lasts, and how it is kept. All in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Durations that fit each other; the defaults suit a process and an API server on one continent."""

    duration: int = 30
    """After so long without a renewal others take over; what a crash costs the next run in waiting."""
    deadline: float = 20.0
    """After so long without a renewal the holder writes no more. What is left until `duration` is for writes that are
    under way then, and for clocks that do not run alike."""
    interval: float = 5.0
    """Between two renewals: three of them may fail in a row. A robbed holder notices within this time."""
    retry: float = 2.0
    """Between two attempts that failed, and between two looks at a lease that another holds."""

    def __post_init__(self) -> None:
        if not 0 < self.retry <= self.interval < self.deadline < self.duration:
            raise ValueError(f"not 0 < retry <= interval < deadline < duration: {self}")
