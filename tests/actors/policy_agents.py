"""Plays the agents of an NRI resource policy plugin, one on each Node of a shoot.

After containers/nri-plugins pkg/agent: a node obeys `node.<name>`, else `group.<group>` if it has a group, else
`default`. There is no fall-through: a node whose group has no policy keeps what it has.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from tests.actors import nodes
from tests.actors.driving import stepping
from tests.control_plane.client import Client, HttpError

GROUP_LABEL = "config.nri/group"
Policy: TypeAlias = dict[str, Any]
Verdict: TypeAlias = Callable[[str, Policy], str]
"""Why a node, by name, refuses a policy; empty where it accepts."""


def accept(_node: str, _policy: Policy) -> str:
    """The verdict of a node that accepts everything."""
    return ""


def refuse(node: str, error: str, when: Callable[[Policy], bool] = lambda _: True) -> Verdict:
    """One node refuses the policies for which `when` holds; the others accept everything."""

    def verdict(name: str, policy: Policy) -> str:
        return error if name == node and when(policy) else ""

    return verdict


class PolicyAgents:
    """All agents of one shoot.

    Attributes:
        verdict: what the nodes say to policies; may be replaced between steps.
    """

    def __init__(
        self,
        shoot: Client,
        *,
        verdict: Verdict = accept,
        plural: str = "balloonspolicies",
        namespace: str = "kube-system",
    ) -> None:
        """Prepare to act at the first step.

        Args:
            shoot: as an admin.
            verdict: what the nodes say to policies.
            plural: the kind of the plugin that runs on the nodes.
            namespace: where the plugin runs, the only one whose policies it sees.
        """
        self.verdict = verdict
        self._shoot = shoot
        self._policies = f"/apis/config.nri/v1alpha1/namespaces/{namespace}/{plural}"
        self._obeyed: dict[str, Policy] = {}
        """By node: the policy it last acted on."""

    def step(self) -> list[str]:
        """Let every agent react once; returns what they did, such as `w1-0: default 3 Success`.

        Nothing happens while the shoot does not know the kind, or has no policy for a node.
        """
        listed = self._shoot.find(self._policies)
        if listed is None:
            self._obeyed.clear()  # the plugin went with its definitions
            return []
        policies = {policy["metadata"]["name"]: policy for policy in listed["items"]}
        done = []
        for node in nodes.listed(self._shoot):
            policy = policies.get(policy_name(node, set(policies)))
            if policy is not None:
                done.append(self._react(node["metadata"]["name"], policy))
        return [reaction for reaction in done if reaction]

    def run_in_background(self, interval: float = 0.1) -> AbstractContextManager[None]:
        """Step every `interval` seconds in a thread while the block runs."""
        return stepping(self.step, interval)

    def _react(self, node: str, policy: Policy) -> str:
        before = self._obeyed.get(node)
        if before is not None and _version(before) == _version(policy):
            return ""
        name = policy["metadata"]["name"]
        if before is not None and before["metadata"]["name"] != name:
            self._write(before["metadata"]["name"], node, None)
        error = self.verdict(node, policy)
        entry = {
            "status": "Failure" if error else "Success",
            "errors": error,
            "generation": policy["metadata"]["generation"],
            "timestamp": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        self._write(name, node, entry)
        self._obeyed[node] = policy
        return f"{node}: {name} {entry['generation']} {entry['status']}"

    def _write(self, policy: str, node: str, entry: dict[str, Any] | None) -> None:
        try:
            self._shoot.merge_patch(f"{self._policies}/{policy}/status", {"status": {"nodes": {node: entry}}})
        except HttpError as error:
            if error.status != 404:  # a policy that was deleted needs no status
                raise


def policy_name(node: dict[str, Any], existing: set[str]) -> str:
    """The name of the policy that a Node looks for, whether or not there is one, among those that exist."""
    own = f"node.{node['metadata']['name']}"
    if own in existing:
        return own
    group = node["metadata"].get("labels", {}).get(GROUP_LABEL)
    return f"group.{group}" if group else "default"


def _version(policy: Policy) -> tuple[str, int]:
    """Agents ignore events that change neither: status and metadata."""
    return policy["metadata"]["uid"], policy["metadata"]["generation"]
