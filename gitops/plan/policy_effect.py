"""What nodes feel of a policy's change.

Every new generation destroys all balloons of every node that uses the policy, and allocates all containers anew
(nri-plugins balloons.Reconfigure); so does a node's move from one policy to another. A change of metadata alone
raises no generation, and no agent notices (pkg/agent/agent.go).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from gitops.manifest import Manifest
from gitops.nri.resolution import effective_policy, node_name
from gitops.plan.changes import Action, Change, Cost
from gitops.plan.policy_scene import PolicyScene

NO_EFFECT = "none of the nodes notices: only metadata changes"


def with_effect(change: Change, scene: PolicyScene) -> Change:
    """The change of a policy with what it costs, and how many nodes and containers feel it."""
    match change.action:
        case Action.PRUNED:
            return _pruned(change, scene)
        case Action.CREATED | Action.CONFIGURED if change.fields:
            if all(field.path[0] == "metadata" for field in change.fields):
                return replace(change, reason=_joined(change.reason, NO_EFFECT))
            return _used(change, scene)
        case _:
            return change


def _used(change: Change, scene: PolicyScene) -> Change:
    names = scene.after.get((change.ref.kind, change.ref.namespace), frozenset())
    users = [node for node in scene.nodes if effective_policy(node, names) == change.ref.name]
    cost = Cost.PINNING if users else Cost.NONE
    effect = f"{_nodes(len(users))} will use it{_containers(users, scene)}"
    return replace(change, cost=cost, reason=_joined(effect, change.reason))


def _pruned(change: Change, scene: PolicyScene) -> Change:
    """Nodes move to what is left for them; where nothing is, the agent goes on with what it has."""
    contest = (change.ref.kind, change.ref.namespace)
    before, after = scene.before.get(contest, frozenset()), scene.after.get(contest, frozenset())
    users = [node for node in scene.nodes if effective_policy(node, before) == change.ref.name]
    moves = Counter(effective_policy(node, after) for node in users)
    bare = moves.pop(None, 0)
    parts = [f"{_nodes(count)} will use {name} instead" for name, count in sorted(moves.items(), key=str)]
    if bare:
        parts.append(f"{_nodes(bare)} will run it until the agent restarts, and then have no configuration")
    return replace(change, cost=Cost.PINNING if moves else Cost.NONE, reason=_joined(change.reason, *parts))


def _containers(users: Sequence[Manifest], scene: PolicyScene) -> str:
    """How many containers are pinned anew, as far as the nodes show them (showContainersInNrt)."""
    shown = [scene.containers[name] for node in users if (name := node_name(node)) in scene.containers]
    if not shown:
        return ""
    at_least = "" if len(shown) == len(users) else "at least "
    return f" and re-pin {at_least}{sum(shown)} container{'' if sum(shown) == 1 else 's'}"


def _joined(*sentences: str) -> str:
    return "; ".join(filter(None, sentences))


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"
