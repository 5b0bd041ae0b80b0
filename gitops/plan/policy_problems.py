"""Why policies must not be written: a machine refuses one, or two plugins would configure the same node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gitops.desired.compose import DesiredShoot
from gitops.errors import Violation
from gitops.manifest import Manifest, Ref, get
from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.check import Acceptance, Verdict
from gitops.nri.agents import Agents
from gitops.nri.machines import POOL_LABEL, Pool
from gitops.nri.resolution import effective_policy, node_name
from gitops.plan.policy_scene import PolicyScene


@dataclass(frozen=True)
class Asked:
    """The answer of some machines to the policy that they will use."""

    ref: Ref
    who: str
    """Such as `worker pool w1 (machine type x, 1x1x8x1)`."""
    answer: Acceptance


def asked(desired: DesiredShoot, scene: PolicyScene, changing: Collection[Ref]) -> tuple[Asked, ...]:
    """What is known of every machine that will use one of the changing policies, once per pool and policy."""
    answers = Answers()
    found: dict[tuple[Ref, str], Asked] = {}
    for ref in sorted(changing):
        names = scene.after[ref.kind, ref.namespace]
        for pool in _users(ref.name, names, scene):
            if pool.machine is not None:
                who = f"worker pool {pool.name} (machine type {pool.machine_type}, {pool.machine})"
                answer = answers.check(desired.objects[ref], pool.machine)
                found.setdefault((ref, pool.name), Asked(ref, who, answer))
    return tuple(found.values())


def refusals(desired: DesiredShoot, answers: Sequence[Asked]) -> Iterator[Violation]:
    """A problem for every reason why a machine refuses its policy."""
    for one in answers:
        for finding in one.answer.findings if one.answer.verdict is Verdict.REFUSED else ():
            yield _problem(desired, one.ref, finding.rule, f"{one.who} refuses it: {finding.message}; {finding.hint}")


def rival_plugins(desired: DesiredShoot, scene: PolicyScene, agents: Sequence[Agents]) -> Iterator[Violation]:
    """A problem for the policies of every pair of kinds that would configure the same node.

    Two plugins that set the same field make every container's creation fail (containerd/nri pkg/api/owners.go).
    """
    told: set[Ref] = set()
    for node in scene.nodes:
        kinds = {kind for kind, namespace in scene.after if _uses(kind, namespace, node, scene, agents)}
        for ref in desired.objects:
            rivals = sorted(kinds - {ref.kind})
            if rivals and ref not in told and _uses(ref.kind, ref.namespace, node, scene, agents) == ref.name:
                told.add(ref)
                message = (
                    f"node {node_name(node)} would have a {' and a '.join(rivals)} as well, and pods cannot start where"
                    " two plugins set the same fields: keep the plugins on different nodes by their node selectors"
                )
                yield _problem(desired, ref, "two-plugins", message)


def _users(name: str, names: Collection[str], scene: PolicyScene) -> Iterator[Pool]:
    """The pools of which some node, or where there is none some node to come, will use the policy."""
    pools = {pool.name: pool for pool in scene.pools}
    peopled = set()
    for node in scene.nodes:
        pool = pools.get(str(get(node, "metadata", "labels", POOL_LABEL)))
        if pool is not None:
            peopled.add(pool.name)
            if effective_policy(node, names) == name:
                yield pool
    for pool in scene.pools:
        if pool.name not in peopled and effective_policy(pool.node, names) == name:
            yield pool


def _uses(kind: str, namespace: str, node: Manifest, scene: PolicyScene, agents: Sequence[Agents]) -> str | None:
    """The policy that the agent of a kind will use on the node, if one may run there that reads the namespace."""
    names = scene.after.get((kind, namespace))
    return effective_policy(node, names) if names and _may_read(kind, namespace, node, agents) else None


def _may_read(kind: str, namespace: str, node: Manifest, agents: Sequence[Agents]) -> bool:
    """Whether an agent may run there that reads the namespace; true as well where none of the kind was seen."""
    known = [one for one in agents if one.kind == kind]
    here = [one for one in known if one.namespace == namespace and not one.confined and one.may_run_on(node)]
    return bool(here) or not known


def _problem(desired: DesiredShoot, ref: Ref, rule: str, message: str) -> Violation:
    origin = desired.origins[ref]
    return Violation(origin.file, origin.line, f"{ref} in shoot {desired.target}", rule, message)
