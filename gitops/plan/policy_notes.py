"""What a person should know about the policies of a shoot before the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops.desired.compose import DesiredShoot
from gitops.manifest import get
from gitops.nri.acceptance.check import Verdict
from gitops.nri.agents import Agents
from gitops.nri.machines import Pool
from gitops.nri.resolution import is_policy, node_name, unconfigured_nodes
from gitops.nri.usage import remarks, used_by
from gitops.plan.observed import Inside, Surroundings
from gitops.plan.policy_problems import Asked
from gitops.plan.policy_scene import PolicyScene, contests


def standing_notes(desired: DesiredShoot, scene: PolicyScene) -> Iterator[str]:
    """What is worth a line even where nothing changes."""
    for contest in contests(desired.objects):
        if bare := unconfigured_nodes(scene.nodes, scene.after[contest]):
            names = ", ".join(sorted(map(node_name, bare))[:3])
            yield f"{len(bare)} of {len(scene.nodes)} nodes would have no configuration, among them {names}"


def changing_notes(desired: DesiredShoot, scene: PolicyScene) -> Iterator[str]:
    """Who will use which policy, and what is probably not meant; one paragraph per kind and namespace."""
    declared = contests(desired.objects)
    for contest in declared:
        kind = f"{contest[0]}: " if len(declared) > 1 else ""
        names = scene.after[contest]
        obvious = len(names) == 1 and scene.nodes and not unconfigured_nodes(scene.nodes, names)
        used = "" if obvious else used_by(scene.nodes, scene.pools, names)  # its own line says how many use it
        for text in (*([used] if used else []), *remarks(scene.nodes, scene.pools, names)):
            yield f"{kind}{text}"


def foreseen_notes(desired: DesiredShoot, pools: Sequence[Pool]) -> Iterator[str]:
    """The same for a shoot that nobody can look into, from its declared worker pools."""
    after = contests(desired.objects)
    yield from changing_notes(desired, PolicyScene(tuple(pools), (), {}, after))


def unwatched_notes(desired: DesiredShoot, inside: Inside, agents: Sequence[Agents]) -> Iterator[str]:
    """Policies in a namespace that no agent reads, as far as there are agents or answers that tell."""
    for kind, namespace in contests(desired.objects):
        read = {one.namespace for one in agents if one.kind == kind}
        read |= {
            ref.namespace
            for ref, live in inside.objects.items()
            if ref.kind == kind and is_policy(live) and get(live, "status", "nodes")
        }
        if read and namespace not in read:
            yield f"{kind} in namespace {namespace}: no agent reads it there, they read {', '.join(sorted(read))}"


def doubt_notes(scene: PolicyScene, answers: Sequence[Asked], around: Surroundings) -> Iterator[str]:
    """What could not be concluded, and why."""
    for pool in scene.pools:
        if pool.machine is None:
            yield from (f"worker pool {pool.name}: {question}" for question in pool.open_questions)
    for one in answers:
        for finding in one.answer.findings if one.answer.verdict is Verdict.UNKNOWN else ():
            yield f"{one.ref}: whether {one.who} accepts it cannot be known from here: {finding.message}"
    yield from (f"not known: {what}" for what in around.unread)
