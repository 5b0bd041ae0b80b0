"""Everybody at once: a gardenlet per namespace, and policy agents in every shoot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TypeAlias

from tests.actors.driving import settled, stepping
from tests.actors.gardenlet import Gardenlet
from tests.actors.policy_agents import PolicyAgents
from tests.control_plane.client import Client

Recruit: TypeAlias = Callable[[str, Client], PolicyAgents]
"""Makes the agents of the shoot `<namespace>/<name>`."""


def accepting(_target: str, shoot: Client) -> PolicyAgents:
    """Agents that accept every policy."""
    return PolicyAgents(shoot)


class Cast:
    """Gardenlets and policy agents that take turns."""

    def __init__(
        self,
        gardenlets: Iterable[Gardenlet],
        shoots: Callable[[], Mapping[str, Client]],
        recruit: Recruit = accepting,
    ) -> None:
        """Prepare to act at the first step.

        Args:
            gardenlets: who act on Shoots.
            shoots: admins of the shoots that have an API server now, by `<namespace>/<name>`.
            recruit: makes the agents of a shoot, when it is first seen.
        """
        self._gardenlets = list(gardenlets)
        self._shoots = shoots
        self._recruit = recruit
        self._agents: dict[str, PolicyAgents] = {}

    def step(self) -> list[str]:
        """Let everybody act once; returns what they did."""
        done = [transition for gardenlet in self._gardenlets for transition in gardenlet.step()]
        for target, client in self._shoots().items():
            if target not in self._agents:
                self._agents[target] = self._recruit(target, client)
            done += [f"{target}: {reaction}" for reaction in self._agents[target].step()]
        return done

    def settle(self, limit: int = 50) -> list[str]:
        """Step until nothing is left to do; returns all that was done.

        Raises:
            RuntimeError: there is still something to do after `limit` steps.
        """
        return settled(self.step, limit)

    def run_in_background(self, interval: float = 0.1) -> AbstractContextManager[None]:
        """Step every `interval` seconds in a thread while the block runs."""
        return stepping(self.step, interval)
