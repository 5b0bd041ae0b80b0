"""From what was observed inside a shoot to what is known of its nodes."""

from __future__ import annotations

from datetime import datetime

from gitops.nri.prerequisites.course import Situation, known_reports
from gitops.nri.prerequisites.facts import node_facts
from gitops.nri.prerequisites.jobs import job_of
from gitops.nri.prerequisites.ledger import read_ledger
from gitops.nri.prerequisites.wanted import Demand, Need, Prerequisites
from gitops.nri.resolution import live_nodes
from gitops.plan.observed import Inside


def node_notes(wanted: Prerequisites, inside: Inside, now: datetime) -> tuple[str, ...]:
    """What a run would do on the nodes first; nothing where they are known to have what is asked for."""
    if inside.node_work is None:
        return ()
    seen = situation(inside, now)
    unknown = len(seen.nodes) - len(known_reports(wanted, seen))
    if not unknown:
        return ()
    repairs = [need.value for need in Need if wanted.demand(need) is Demand.REPAIR]
    then = f", and repaired one after the other where {' or '.join(repairs)} is missing" if repairs else ""
    return (f"{unknown} of {len(seen.nodes)} nodes are looked at first{then}",)


def situation(inside: Inside, now: datetime) -> Situation:
    """What is known of the nodes.

    Args:
        inside: with its `node_work`.
        now: when the garden was read last, by its clock.
    """
    work = inside.node_work
    if work is None:
        raise ValueError("nobody looked at what is at work on the nodes")
    nodes = sorted(map(node_facts, live_nodes(inside.nodes)), key=lambda facts: facts.name)
    standing = {job: manifest for manifest in work.daemon_sets if (job := job_of(manifest)) is not None}
    return Situation(nodes, read_ledger(work.ledger), standing, work.pods, work.run, now)
