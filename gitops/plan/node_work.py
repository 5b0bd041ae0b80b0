"""From what was observed inside a shoot to what is known of its nodes."""

from __future__ import annotations

from datetime import datetime

from gitops.nri.prerequisites.course import Situation
from gitops.nri.prerequisites.facts import node_facts
from gitops.nri.prerequisites.jobs import job_of
from gitops.nri.prerequisites.ledger import read_ledger
from gitops.nri.resolution import live_nodes
from gitops.plan.observed import Inside


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
