"""Takes a lease, keeps it while a run goes on, and gives it back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from gitops.errors import Absent, Conflict, Forbidden, GitopsError, LeaseHeld, LeaseLost, Throttled, Unreachable
from gitops.kube.cluster import Cluster
from gitops.kube.retry import Retry
from gitops.kube.transport import Request, Response, Transport
from gitops.lease.contest import Contest, LeaseState
from gitops.lease.leasing import Leasing
from gitops.lease.store import LeaseStore

Waiting = Callable[[str], None]
"""Told who is waited for, whenever that is somebody else than before."""


class Lease:
    """The lease of one overlay, for one run. `check` may be called from any thread.

    Attributes:
        identity: by which everybody knows this run.
    """

    def __init__(self, garden: Cluster, overlay: str, namespace: str, run: str, leasing: Leasing) -> None:
        """Ask for nothing yet.

        Args:
            garden: where it is kept, by a way that no fence is on.
            overlay: whose turn it is about.
            namespace: the overlay's first.
            run: unlike every other run's.
            leasing: our name and our time.
        """
        timing = self._timing = leasing.timing
        self._leasing = leasing
        self._time = leasing.time
        retry = Retry(attempts=2, longest=timing.retry, total=timing.retry, sleep=leasing.time.sleep)
        hurried = garden.through(lambda transport: _hurried(transport, timing.interval), retry=retry)
        self._store = LeaseStore(hurried, overlay, namespace)
        self.identity = leasing.identity(run)
        self._contest = Contest(self.identity, timing)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._noted: LeaseState | None = None
        self._before: LeaseState | None = None
        self._known = False

    def check(self) -> None:
        """Return where this run may write at this moment.

        Raises:
            LeaseLost: it may not.
        """
        with self._lock:
            if not self._contest.holds(self._time.now()):
                why = self._contest.lost or "this run never took it, as there was nothing to write"
                raise LeaseLost(f"the lease of overlay {self._store.overlay} is not held: {why}")

    def note(self) -> None:
        """Remember how the lease stands, before this run looks at the world."""
        with contextlib.suppress(GitopsError):  # then it is not known; what is wrong is told when it is taken
            self._noted = self._store.read()
            self._known = True

    @property
    def undisturbed(self) -> bool:
        """Whether surely nobody else held the lease from `note` on until this run took it.

        A lease differs after whatever anybody did with it; times would be those of several servers' clocks.
        """
        return self._known and not self._contest.waited and self._before == self._noted

    @contextmanager
    def held(
        self, lock_timeout: timedelta, waiting: Waiting, go_on: Callable[[], None] = lambda: None
    ) -> Iterator[None]:
        """Hold the lease while the block runs.

        A holder that shows no sign of life is waited for until its lease has expired. What ends the block early and is
        no error of ours may leave a write under way, so that the lease is then left to expire.

        Args:
            lock_timeout: how long to wait for a holder that is alive.
            waiting: told who is waited for.
            go_on: called before each look at the lease; what it raises ends the waiting, and nothing is held.

        Raises:
            LeaseHeld: it is alive and did not give the lease back in that time.
            LeaseLost: in place of the block's own, with who holds the lease now.
            ApiError: the lease cannot be read or taken.
        """
        self._acquire(lock_timeout.total_seconds(), waiting, go_on)
        keeper = threading.Thread(target=self._keep, name="lease", daemon=True)
        keeper.start()
        try:
            yield
        except LeaseLost as lost:
            raise LeaseLost(self._story()) from lost
        except GitopsError:
            self._give_back(keeper)
            raise
        else:
            self._give_back(keeper)
        finally:
            self._over.set()

    def _acquire(self, lock_timeout: float, waiting: Waiting, go_on: Callable[[], None]) -> None:
        begun = self._time.now()
        told = ""
        go_on()
        try:
            self._look()
            while not self._patiently(self._claim, begun + lock_timeout):
                told = self._tell(told, waiting)
                now = self._time.now()
                if self._contest.alive and now - begun >= lock_timeout:
                    raise LeaseHeld(self._taken())
                self._time.sleep(max(min(self._timing.retry, self._contest.expires_in(now)), 0))
                go_on()
                self._patiently(self._look, begun + lock_timeout)
        except Forbidden as error:
            ref = self._store.ref
            message = f"the lease cannot be taken: allow get and patch of {ref}, and create ({error})"
            raise Forbidden(message, status=error.status, reason=error.reason) from error

    def _patiently(self, step: Callable[[], bool | None], until: float) -> bool:
        """Do a step of the waiting, which a garden that does not answer for a while does not end before its time."""
        try:
            return bool(step())
        except (Throttled, Unreachable):
            if self._time.now() >= until:
                raise
            self._time.sleep(self._timing.retry)
            return False

    def _look(self) -> None:
        lease = self._store.read()
        with self._lock:
            self._contest.saw(lease, self._time.now())

    def _claim(self) -> bool:
        """Take or renew the lease; whether that was done."""
        started = self._time.now()
        with self._lock:
            claim = self._contest.claim(started)
        if claim is None:
            return False
        try:
            lease = self._store.claim(claim, self.identity, self._timing.duration, self._leasing.wall())
        except Conflict:
            return False
        except Absent:
            if claim.over is None:
                raise  # not the lease is missing, but what it would be kept in
            return False
        with self._lock:
            self._contest.took(lease, started=started, now=self._time.now())
        if claim.acquires:
            self._before = claim.over
        return True

    def _keep(self) -> None:
        """Renew until the run is over or the lease is lost."""
        pause = self._timing.interval
        while not self._time.wait(self._over, pause):
            pause = self._timing.interval if self._renew() else self._timing.retry
            with self._lock:
                if not self._contest.holds(self._time.now()):
                    return

    def _renew(self) -> bool:
        try:
            if self._claim():
                return True
            self._look()  # it was written: by us, without an answer; by a person, who noted something; or by a robber
            return self._claim()
        except GitopsError:
            return False  # what that means is a question of how long it goes on

    def _give_back(self, keeper: threading.Thread) -> None:
        self._over.set()
        keeper.join()
        with self._lock:
            lease = self._contest.release(self._time.now())
        if lease is not None:
            with contextlib.suppress(GitopsError):  # then it expires
                self._store.free(lease)

    def _tell(self, told: str, waiting: Waiting) -> str:
        """Say who is waited for; who that is."""
        lease = self._contest.seen
        if lease and lease.holder not in {"", told}:
            waiting(held_by(lease))
        return lease.holder if lease else ""

    def _taken(self) -> str:
        lease, ref = self._contest.seen, self._store.ref
        holder = held_by(lease) if lease else "somebody"
        return (
            f"another run is at work on overlay {self._store.overlay}: {holder} holds {ref} and is "
            f"alive. Wait for it with --lock-timeout, or take the lease away with `gitops unlock {self._store.overlay}`"
        )

    def _story(self) -> str:
        """What a person should know of a lease that was lost."""
        overlay = self._store.overlay
        with self._lock:
            why = self._contest.lost
        try:
            lease = self._store.read()
        except GitopsError as error:
            now = f"Who holds it now cannot be read: {error}"
        else:
            now = "Nobody holds it now"
            if lease and lease.holder == self.identity:
                now = f"Nobody has taken it yet; others may once they have watched it for {lease.duration:.0f} s"
            elif lease and lease.holder:
                now = f"It is held by {held_by(lease)} now"
        return (
            f"the lease of overlay {overlay} was lost while the run went on: {why}. {now}. This run writes nothing "
            f"more and keeps no record; what it has begun is finished by the next `gitops reconcile {overlay}`"
        )


def held_by(lease: LeaseState) -> str:
    """A holder as a person wants to know it."""
    return f"{lease.holder} (since {lease.acquired} by its own clock)" if lease.acquired else lease.holder


def _hurried(transport: Transport, timeout: float) -> Transport:
    """A way on which an answer that comes too late to be of use is not waited for."""

    def send(request: Request) -> Response:
        return transport(replace(request, timeout=timeout))

    return send
