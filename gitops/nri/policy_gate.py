"""Have the nodes accepted a policy? Each node's agent answers in `status.nodes.<node>`.

Source: nri-plugins pkg/apis/config/v1alpha1/types.go and pkg/agent/agent.go. There are no conditions and there is no
observedGeneration, so generic status rules call a policy current that every node refuses. Entries of nodes that
are gone stay for ever, and a node that moved to another policy may leave its Success behind: only entries of
live nodes that resolve to the policy count, and only at its present generation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.resolution import Stage, live_nodes, node_name, nodes_of, stage
from gitops.verdict import Status, Verdict, current, failed, in_progress

_SHOWN_NODES = 3

_LEFT_BEHIND = (
    "A node stays behind when no agent of this kind reads this namespace on it, or when the agent cannot decode the "
    "policy, which only its log tells"
)


def policy_gate(policy: Manifest, *, nodes: Sequence[Manifest], policy_names: Collection[str]) -> Verdict:
    """Whether every live node that will use the policy has accepted its present generation.

    Nodes that are NotReady count as well: they come back with the policy, or without.

    Args:
        policy: The live policy, of any shape; what cannot be read counts as not there.
        nodes: All nodes of the shoot on which the policy's agent runs.
        policy_names: The names of all policies of this kind in its namespace; its own need not be among them.
    """
    if since := get(policy, "metadata", "deletionTimestamp"):
        return Verdict(Status.TERMINATING, f"the policy is being deleted since {since}")
    name, generation = str(get(policy, "metadata", "name") or ""), get(policy, "metadata", "generation")
    if not _is_generation(generation):
        return Verdict(Status.UNKNOWN, "it has no metadata.generation, so nothing tells what the nodes accepted")
    users = sorted(nodes_of(name, live_nodes(nodes), {*policy_names, name}), key=node_name)
    if not users:
        return current(_unused(name))
    entries = [(node, get(policy, "status", "nodes", node_name(node))) for node in users]
    answers = [(node, entry, _answer(entry, generation)) for node, entry in entries]
    refusals = [f"{node_name(node)}: {_refusal(entry)}" for node, entry, answer in answers if answer == "Failure"]
    waits = [
        f"{node_name(node)} ({_wait(entry, generation)}{_readiness(node)})"
        for node, entry, answer in answers
        if answer not in ("Success", "Failure")
    ]
    if refusals:
        silent = f", {len(waits)} yet to answer" if waits else ""
        return failed(f"{len(refusals)} of {len(users)} nodes refuse generation {generation}{silent}: {_few(refusals)}")
    accepted = f"{len(users) - len(waits)} of {len(users)} nodes accepted generation {generation}"
    if waits:
        return in_progress(f"{accepted}; waiting for {_few(waits)}", hint=_LEFT_BEHIND)
    return current(accepted)


def _answer(entry: Any, generation: int) -> Any:
    """The status that a node reports at this generation; None while it has not come so far."""
    answered = get(entry, "generation")
    return get(entry, "status") if _is_generation(answered) and answered == generation else None


def _refusal(entry: Any) -> str:
    return " ".join(str(get(entry, "errors") or "").split()) or "Failure, without an error text"


def _wait(entry: Any, generation: int) -> str:
    answered, status = get(entry, "generation"), get(entry, "status")
    if not _is_generation(answered):
        return "no answer yet"
    if answered < generation:
        return f"still at generation {answered}"
    if answered > generation:
        return f"answers for generation {answered}, which the policy has not reached"
    return f"answers {status!r}, neither Success nor Failure"


def _readiness(node: Manifest) -> str:
    conditions = get(node, "status", "conditions")
    for condition in conditions if isinstance(conditions, list) else []:
        if get(condition, "type") == "Ready" and get(condition, "status") != "True":
            return ", NotReady"
    return ""


def _unused(name: str) -> str:
    if stage(name) is Stage.UNUSED:
        return "no node will ever use it: policies are named default, group.<GROUP> or node.<NODE>"
    return "no node uses it"


def _few(texts: Sequence[str]) -> str:
    more = len(texts) - _SHOWN_NODES
    return "; ".join([*texts[:_SHOWN_NODES], *([f"and {more} more"] if more > 0 else [])])


def _is_generation(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
