"""Policies that the nodes of a shoot would refuse, found before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitops.desired.documents import Document
from gitops.errors import Violation
from gitops.manifest import Manifest
from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.check import Verdict
from gitops.nri.acceptance.machine import Machine
from gitops.nri.machines import Pool, machines_of
from gitops.nri.resolution import is_policy, shared_policy


def refused_policies(
    shoot: Manifest, placed: Sequence[tuple[Document, Manifest]], machines: Mapping[str, Machine], answers: Answers
) -> Iterator[Violation]:
    """A violation for every reason why a node that will use a policy would refuse it.

    Where the machine is not declared, only what every machine refuses is found.

    Args:
        shoot: as it will be.
        placed: what goes inside it, each with the document that declares it.
        machines: declared machines by machine type.
        answers: remembers them for all shoots.
    """
    pools = machines_of(shoot, None, machines)
    for document, manifest in placed:
        if is_policy(manifest):
            for where, machine in _machines(manifest, pools):
                answer = answers.check(manifest, machine)
                for finding in answer.findings if answer.verdict is Verdict.REFUSED else ():
                    message = f"{where} refuses it: {finding.message}; {finding.hint}"
                    yield document.violation(finding.rule, message, *finding.at)


def _machines(policy: Manifest, pools: Sequence[Pool]) -> Sequence[tuple[str, Machine | None]]:
    """The declared machines that will use the policy, with a name for people; any machine where there is none."""
    users = {
        f"a node of machine type {pool.machine_type}": pool.machine
        for pool in pools
        if pool.machine is not None and shared_policy(pool.node) == policy["metadata"]["name"]
    }
    return list(users.items()) or [("every node", None)]
