"""Takes a lease away from a run that does not give it back."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from gitops.errors import Conflict, Refused
from gitops.lease.contest import Claim, LeaseState
from gitops.lease.leasing import Leasing
from gitops.lease.store import LeaseStore


def held(store: LeaseStore) -> LeaseState:
    """The lease as its holder has it.

    Raises:
        Refused: nobody holds it.
    """
    lease = store.read()
    if lease is None or not lease.holder:
        raise Refused(f"nobody holds the lease of overlay {store.overlay}: there is nothing to unlock")
    return lease


def unlock(
    store: LeaseStore, holder: str, *, run: str, leasing: Leasing, waiting: Callable[[float], None] = lambda _: None
) -> None:
    """Take the lease from a holder, wait until it cannot write any more even if it is alive, and free it.

    Until then nobody else gets it either, so that never two runs write.

    Args:
        store: where the lease is.
        holder: whose it must be; from anybody else it is not taken.
        run: names us while we wait, unlike every other.
        leasing: our name and our time.
        waiting: told for how many seconds.

    Raises:
        Refused: nobody holds it, or somebody else.
        Conflict: somebody took it away from us while we waited.
    """
    taken = None
    while taken is None:
        lease = held(store)
        if lease.holder != holder:
            raise Refused(f"the lease of overlay {store.overlay} is not held by {holder}, but by {lease.holder}")
        claim = Claim(lease, lease.transitions + 1, acquires=True)
        lasting = ceil(lease.duration) + leasing.timing.duration
        try:
            taken = store.claim(claim, leasing.identity(run), lasting, leasing.wall())
        except Conflict:
            continue  # it was renewed in between
    waiting(lease.duration)
    leasing.time.sleep(lease.duration)
    store.free(taken)
