"""Whether the balloons that exist from the start fit: those of minBalloons, with minCPUs each.

Only numbers of CPUs are followed, not which ones: where they come from never decides whether there are enough.
Source: nri-plugins cmd/plugins/balloons/policy/balloons-policy.go (setConfig, newBalloon, newCompositeBalloon,
resizeBalloon). By then the plugin has given up its old balloons, so this refusal moves CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gitops.nri.acceptance.amounts import truncated
from gitops.nri.acceptance.cpus import allowed_cpus, reserved_count
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.quantities import to_int64
from gitops.nri.acceptance.spec import PRIORITIES, BalloonType, Policy, text

_PATIENCE = 10_000
"""Composite balloons of one type that are followed one by one; more of them are taken for granted."""


class _NoRoomError(Exception):
    """A balloon cannot be created; the message says why."""


@dataclass
class _Balloon:
    """A balloon that was created."""

    type: BalloonType
    cpus: int = 0
    components: list[_Balloon] = field(default_factory=list)


@dataclass
class _Pool:
    """The CPUs that are left, and the balloons so far."""

    types: Mapping[str, BalloonType]
    free: int
    balloons: list[_Balloon] = field(default_factory=list)

    def create(self, wanted: BalloonType) -> _Balloon:
        existing = sum(balloon.type is wanted for balloon in self.balloons)
        if 0 < wanted.max_balloons <= existing:
            raise _NoRoomError(
                f"there are {existing} balloons of type {wanted.name!r} already, and maxBalloons allows no more"
            )
        balloon = _Balloon(wanted)
        balloon.components = [self.create(self.types[name]) for name in self._components(wanted)]
        self.resize(balloon, to_int64(wanted.min_cpus * 1000))
        return balloon

    def resize(self, balloon: _Balloon, milli: int) -> None:
        if balloon.components:
            each = truncated(milli, len(balloon.components))
            for component in balloon.components:
                self.resize(component, each)
            return
        missing = _size(balloon.type, milli) - balloon.cpus
        if missing > self.free:
            raise _NoRoomError(
                f"one of {balloon.type.name!r} needs {_counted(missing, 'CPU')} and {self.free} are free"
            )
        if -missing > balloon.cpus:
            raise _NoRoomError(f"one of {balloon.type.name!r} cannot have a negative number of CPUs")
        self.free -= missing
        balloon.cpus += missing

    def _components(self, wanted: BalloonType) -> tuple[str, ...]:
        """What a new composite consists of: all components, or the one of which there are fewest balloons."""
        if not wanted.components or text(wanted.given, "componentCreation") != "balance-balloons":
            return wanted.components
        return (min(wanted.components, key=lambda name: self._instances(self._related(name))),)

    def _related(self, name: str) -> frozenset[str]:
        """A type and all types inside it."""
        names, pending = set[str](), [name]
        while pending:
            names.add(name := pending.pop())
            pending += [inner for inner in self.types[name].components if inner not in names]
        return frozenset(names)

    def _instances(self, names: frozenset[str]) -> int:
        return sum(balloon.type.name in names for balloon in _all(self.balloons))


def not_enough_cpus(policy: Policy, machine: Machine | None) -> Faults:
    """The machine cannot hold the balloons that the policy starts with.

    Without a machine only what no machine could hold is found.
    """
    allowed = allowed_cpus(policy, machine)
    types = policy.created_types(reserved_count(policy, allowed))
    pool = _Pool({known.name: known for known in types}, allowed.size)
    for wanted in sorted(types, key=lambda known: _order(known.priority)):
        try:
            _create_all(pool, wanted)
        except _NoRoomError as error:
            message = f"{_asked(wanted)}: {error}{_taken(pool)}"
            yield Fault(wanted.at, message, "lower minBalloons or minCPUs, or make more CPUs available")
            return


def _create_all(pool: _Pool, wanted: BalloonType) -> None:
    first = len(pool.balloons)
    for _ in range(min(wanted.min_balloons, _PATIENCE)):
        pool.balloons.append(pool.create(wanted))
    more = wanted.min_balloons - (len(pool.balloons) - first)
    if more > 0 and not wanted.components:
        needed = more * max(pool.balloons[-1].cpus, 0)
        if needed > pool.free:
            raise _NoRoomError(
                f"{more} more balloons of type {wanted.name!r} need {needed} CPUs and {pool.free} are free"
            )
        pool.free -= needed


def _size(wanted: BalloonType, milli: int) -> int:
    size = truncated(to_int64(milli + 999), 1000)
    if 0 < wanted.max_cpus < size:
        size = wanted.max_cpus
    return max(size, wanted.min_cpus) if wanted.min_cpus > 0 else size


def _order(priority: str) -> int:
    return PRIORITIES.index(priority) if priority in PRIORITIES else len(PRIORITIES) - 1


def _all(balloons: list[_Balloon]) -> Iterator[_Balloon]:
    for balloon in balloons:
        yield balloon
        yield from _all(balloon.components)


def _asked(wanted: BalloonType) -> str:
    each = f" of {_counted(wanted.min_cpus, 'CPU')}" if wanted.min_cpus > 0 and not wanted.components else ""
    return f"the balloon type {wanted.name!r} starts with {_counted(wanted.min_balloons, 'balloon')}{each}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _taken(pool: _Pool) -> str:
    taken: dict[str, int] = {}
    for balloon in pool.balloons:
        taken[balloon.type.name] = taken.get(balloon.type.name, 0) + sum(one.cpus for one in _all([balloon]))
    parts = [f"{name} {cpus}" for name, cpus in taken.items() if cpus]
    return f" (taken before: {', '.join(parts)})" if parts else ""
