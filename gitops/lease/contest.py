"""Who may take a lease, and who still has it: no I/O and no clock.

Times are seconds of one process's own steady clock; those of two processes are never compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitops.lease.timing import Timing


@dataclass(frozen=True)
class LeaseState:
    """A Lease as it is stored."""

    holder: str
    """`holderIdentity`; empty where nobody holds it."""
    duration: float
    """Seconds after which others take over."""
    transitions: int
    """How often it changed hands."""
    version: str
    """`resourceVersion`: it differs after every renewal."""
    acquired: str = ""
    """When the holder took it, by the holder's wall clock; for people only."""
    renewed: str = ""
    """When it was renewed last, by the holder's wall clock; for people only."""


@dataclass(frozen=True)
class Claim:
    """What is to be stored, so that the lease is ours or stays it."""

    over: LeaseState | None
    """What is stored now, as far as we know; None where nothing is."""
    transitions: int
    acquires: bool
    """Whether it changes hands; otherwise it is renewed."""


@dataclass(frozen=True)
class _Seen:
    lease: LeaseState | None
    since: float
    """When the first answer that said so came: the latest moment at which it can have been written."""


class Contest:
    """What one contender knows of a lease, and what it may do.

    Attributes:
        lost: why it will not have the lease again; empty until it had it and lost it.
        waited: whether somebody else was seen to hold it.
        alive: whether whoever held it was seen to do something about it.
    """

    def __init__(self, identity: str, timing: Timing) -> None:
        self.lost = ""
        self.waited = False
        self.alive = False
        self._identity = identity
        self._timing = timing
        self._seen: _Seen | None = None
        self._until: float | None = None

    @property
    def seen(self) -> LeaseState | None:
        """The lease as it was last seen; None where there was none, or nobody has looked."""
        return self._seen.lease if self._seen else None

    def saw(self, lease: LeaseState | None, now: float) -> None:
        """An answer came that tells what is stored."""
        others = lease is not None and lease.holder not in {"", self._identity}
        self.waited = self.waited or others
        if self._seen is None or self._seen.lease != lease:
            self.alive = self._seen is not None and others
            self._seen = _Seen(lease, now)
        if self._until is not None and not (lease and lease.holder == self._identity):
            self.lose("somebody else has taken it" if others else "somebody has taken it away")

    def claim(self, now: float) -> Claim | None:
        """What to store now; None while it is another's, when it is not known whose it is, and when it was lost."""
        self.holds(now)  # a holder that stood still too long does not even try
        if self._seen is None or self.lost:
            return None
        lease = self._seen.lease
        if lease is None:
            return Claim(None, 0, acquires=True)
        if lease.holder == self._identity:
            return Claim(lease, lease.transitions, acquires=False)
        if lease.holder and now < self._seen.since + lease.duration:
            return None
        return Claim(lease, lease.transitions + 1, acquires=True)

    def expires_in(self, now: float) -> float:
        """Seconds until the present holder may be taken for dead; at most 0 where it may be by now."""
        if self._seen is None or self._seen.lease is None or not self._seen.lease.holder:
            return 0.0
        return self._seen.since + self._seen.lease.duration - now

    def took(self, lease: LeaseState, *, started: float, now: float) -> None:
        """A claim was stored. It counts from when its request began: later the server may have been at any time."""
        self.holds(now)
        self._seen = _Seen(lease, now)
        self._until = started + self._timing.deadline

    def holds(self, now: float) -> bool:
        """Whether the lease is ours, and surely nobody else's, at this moment; once it was lost, it never is again."""
        if self._until is not None and not self.lost and now >= self._until:
            late = now - (self._until - self._timing.deadline)
            self.lose(f"it could not be renewed for {late:.0f} s, or this process stood still so long")
        return self._until is not None and not self.lost

    def lose(self, why: str) -> None:
        """It is not ours any more, and never will be again."""
        self.lost = self.lost or why

    def release(self, now: float) -> LeaseState | None:
        """Hold it no longer; what is stored, to be freed, or None where it is not ours to free."""
        ours = self.holds(now)
        self.lose("it was given back")
        return self.seen if ours else None
