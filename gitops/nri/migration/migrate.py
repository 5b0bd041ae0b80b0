"""Migrate what one file holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gitops.nri.acceptance.check import Finding, Verdict, check
from gitops.nri.migration.old import NEW_GROUP_LABEL, OLD_GROUP_LABEL, Found, find
from gitops.nri.migration.text import migrated_text
from gitops.nri.migration.translation import Translation, translate

ABOUT_ALL = (
    f"nodes: {OLD_GROUP_LABEL} becomes {NEW_GROUP_LABEL}, best in spec.provider.workers[].labels of the Shoot",
    "pods: annotations end in resource-policy.nri.io instead of cri-resource-manager.intel.com",
    "nodes: the kubelet talks to containerd itself again, and containerd needs NRI",
    "a policy that nodes refuse is told in its status, and no readiness probe fails any more",
)
"""What changes for everybody."""


@dataclass(frozen=True)
class Refusal:
    """A configuration that was not migrated."""

    name: str
    """Of the configuration, such as `default` or `group.fast`."""
    rule: str
    message: str


@dataclass(frozen=True)
class Migration:
    """What became of one file."""

    text: str
    """The policies as YAML; empty where there are none."""
    translations: tuple[Translation, ...]
    """Of the policies in `text`."""
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]
    """About what is in the file beside configurations."""

    @property
    def empty(self) -> bool:
        """Whether the file held nothing to migrate; so it is with policies, which are new already."""
        return not (self.translations or self.refusals or self.notes)


def migrate(values: Sequence[Any]) -> Migration:
    """Migrate the documents of one file.

    Raises:
        ValueError: an embedded configuration cannot be read; the message names it.
    """
    found: list[Found] = [find(value) for value in values]
    done: list[Translation] = []
    refusals: list[Refusal] = []
    for config in (config for one in found for config in one.configs):
        translation = translate(config)
        if translation.policy is None:
            refusals.append(Refusal(config.name, "no-such-policy", translation.lost[0]))
            continue
        answer = check(translation.policy)
        if answer.verdict is Verdict.REFUSED:
            refusals += [_refusal(config.name, finding) for finding in answer.findings]
        else:
            done.append(translation)
    notes = [note for one in found for note in one.notes]
    notes += [
        f"worker pool {pool}: {OLD_GROUP_LABEL} becomes {NEW_GROUP_LABEL}" for one in found for pool in one.relabelled
    ]
    return Migration(migrated_text(done), tuple(done), tuple(refusals), tuple(notes))


def _refusal(name: str, finding: Finding) -> Refusal:
    return Refusal(name, finding.rule, f"{finding.message}; {finding.hint}")
