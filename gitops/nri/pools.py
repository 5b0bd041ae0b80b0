"""Whether the pools of a shoot accept the policies they will use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitops.manifest import Manifest
from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.check import Acceptance
from gitops.nri.machines import Pool
from gitops.nri.resolution import shared_policy


@dataclass(frozen=True)
class PoolAcceptance:
    """What the nodes of one pool say about the policy they will use."""

    pool: Pool
    policy: str | None
    """The policy's name; None where they will have none."""
    answer: Acceptance | None
    """None where they will have none; where the pool's machine is not known, what is true of every machine."""


def accepted_by_pools(
    pools: Sequence[Pool], policies: Mapping[str, Manifest], answers: Answers
) -> Iterator[PoolAcceptance]:
    """Every pool with the answer to its policy.

    Args:
        pools: of one shoot.
        policies: by name; all of one kind, in the namespace that the agents of the shoot watch.
        answers: remembers them for as long as the caller keeps it.
    """
    for pool in pools:
        name = shared_policy(pool.node)
        policy = policies.get(name) if name is not None else None
        if policy is None:
            yield PoolAcceptance(pool, None, None)
        else:
            yield PoolAcceptance(pool, name, answers.check(policy, pool.machine))
