"""A landscape in which some requests are never answered, and which tells when one has come."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from gitops.sandbox import Faults, Landscape, Options, RequestFault, ScaledClock, Server
from tests.end_to_end.repository import Repository
from tests.waiting import PATIENCE


class _HeldClock(ScaledClock):
    """Who falls into a black hole stays there, and it is told that somebody did."""

    def __init__(self) -> None:
        super().__init__()
        self.held = threading.Event()
        self.released = threading.Event()

    def sleep(self, seconds: float) -> None:
        del seconds
        self.held.set()
        self.released.wait()


@dataclass(frozen=True)
class BlackHole:
    """The landscape."""

    kubeconfig: Path
    _clock: _HeldClock

    def has_caught(self) -> None:
        """Wait until a request hangs."""
        assert self._clock.held.wait(PATIENCE)


@contextmanager
def black_hole(repository: Repository, hanging: Mapping[str, str], folder: Path) -> Iterator[BlackHole]:
    """A landscape with the repository's Shoots while the block runs.

    Args:
        repository: whose.
        hanging: which requests hang, as a fault of the sandbox matches them.
        folder: for the kubeconfig.
    """
    clock = _HeldClock()
    holes = Faults()
    holes.requests.append(RequestFault("BlackHole", hanging))
    shoots = [yaml.safe_load((repository.path / f"clusters/{name}.yaml").read_text()) for name in ("one", "two")]
    landscape = Landscape(shoots, clock, faults=holes, options=Options(identity="sandbox"))
    with Server(landscape) as server:
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_bytes(server.garden_kubeconfig())
        try:
            yield BlackHole(kubeconfig, clock)
        finally:
            clock.released.set()
