"""Looks at the nodes of one shoot outside of any rollout, and repairs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitops.kube.cluster import Access
from gitops.live.nodes import observe_node_work
from gitops.manifest import Target
from gitops.nri.prerequisites.course import Do, Move, Situation, Wait, next_move
from gitops.nri.prerequisites.facts import NodeFacts
from gitops.nri.prerequisites.ledger import Entry
from gitops.nri.prerequisites.wanted import Demand, Prerequisites
from gitops.plan.node_work import situation
from gitops.plan.observed import Inside
from gitops.rollout.actions import NotWritten, WriteTo
from gitops.rollout.effects import Effects
from gitops.rollout.step import PrepareNodes


@dataclass(frozen=True)
class Preflight:
    """What is known of the nodes of one shoot."""

    nodes: tuple[NodeFacts, ...]
    entries: Mapping[str, Entry]
    """What was seen on them, by node; nodes that nobody has looked at are missing."""
    message: str
    """Why nodes are missing; empty where none is."""


def everything_of(wanted: Prerequisites) -> Prerequisites:
    """All there is to look at, with the overlay's own image, and nothing to repair."""
    return replace(wanted, dbus=Demand.REQUIRE, nri=Demand.REQUIRE, cgroup_v2=Demand.REQUIRE)


def remembered(effects: Effects, target: Target) -> Preflight:
    """What is known without looking.

    Raises:
        GitopsError: the shoot cannot be read.
    """
    return _told(_observed(effects, target), None)


def known_nodes(inside: Inside, now: datetime) -> Preflight:
    """What is known of the nodes of a shoot that was observed with its `node_work`.

    Args:
        inside: the shoot.
        now: when the garden was read last, by its clock.
    """
    return _told(situation(inside, now), None)


def preflight(effects: Effects, target: Target, *, poll: timedelta, timeout: timedelta) -> Preflight:
    """Look at every node that nobody knows; one that lacked something is looked at again.

    Args:
        effects: the world, and the overlay that names the image.
        target: which shoot.
        poll: between two looks at what the nodes say.
        timeout: how long to wait for them.

    Raises:
        GitopsError: the shoot cannot be read or written.
    """
    wanted = everything_of(effects.desired.overlay.prerequisites)
    give_up_at = effects.clock.now() + timeout
    while True:
        seen = _observed(effects, target)
        move = next_move(wanted, seen)
        if isinstance(move, Do):
            done = effects.perform(WriteTo(target, PrepareNodes(move.about, move.apply, move.delete), None))
            if isinstance(done, NotWritten):
                raise done.error
        elif isinstance(move, Wait) and effects.clock.now() < give_up_at:
            effects.clock.sleep(poll.total_seconds())
        else:
            return _told(seen, move)


def _observed(effects: Effects, target: Target) -> Situation:
    cluster = effects.access.cluster(target, Access.VIEWER)
    work = observe_node_work(cluster, effects.run)
    inside = Inside({}, cluster.list("v1", "Node").items, frozenset(), node_work=work)
    return situation(inside, effects.clock.now())


def _told(seen: Situation, move: Move | None) -> Preflight:
    entries = {f.name: e for f in seen.nodes if (e := seen.ledger.get(f.name)) is not None and e.is_of(f)}
    missing = len(seen.nodes) - len(entries)
    message = f"{missing} of {len(seen.nodes)} nodes were not looked at" if missing else ""
    return Preflight(tuple(seen.nodes), entries, move.message if isinstance(move, Wait) else message)
