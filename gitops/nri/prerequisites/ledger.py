"""What is remembered of the nodes inside a shoot, so that a node that was looked at once is left alone until it boots.

A ConfigMap in kube-system, one key per node. An entry counts for the boot and the runtime version that it was made
with. One that is not good enough counts only for the run that made it: somebody may have mended the node since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from gitops.manifest import Manifest, get
from gitops.nri.prerequisites.facts import NodeFacts
from gitops.nri.prerequisites.node_report import NodeReport, read_report

NAMESPACE = "kube-system"
NAME = "shoot-gitops-nodes"


@dataclass(frozen=True)
class Entry:
    """One node when it was looked at."""

    boot_id: str
    runtime: str
    at: datetime
    """By the garden's clock."""
    run: str
    """Which run looked."""
    repaired: bool
    """Whether it was repaired, or that was tried, and then looked at."""
    report: NodeReport

    def is_of(self, facts: NodeFacts) -> bool:
        """Whether the node is still the one that was looked at."""
        return (self.boot_id, self.runtime) == (facts.boot_id, facts.runtime)


def entry_of(facts: NodeFacts, report: NodeReport, at: datetime, run: str, *, repaired: bool) -> Entry:
    """The entry for a report that was made now."""
    return Entry(facts.boot_id, facts.runtime, at, run, repaired, report)


def read_ledger(config_map: Manifest | None) -> dict[str, Entry]:
    """Entries by node; what cannot be read is as if nobody had looked."""
    data = get(config_map, "data")
    entries = {name: _entry(text) for name, text in data.items()} if isinstance(data, Mapping) else {}
    return {name: entry for name, entry in entries.items() if entry is not None}


def write_ledger(entries: Mapping[str, Entry]) -> Manifest:
    """The ConfigMap to apply; nodes that are left out are forgotten."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "annotations": {
                "shoot-gitops/purpose": "what is known of the nodes; delete it to have them looked at again"
            },
        },
        "data": {name: _text(entry) for name, entry in sorted(entries.items())},
    }


def _text(entry: Entry) -> str:
    document = {
        "bootID": entry.boot_id,
        "runtime": entry.runtime,
        "at": entry.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "run": entry.run,
        "repaired": entry.repaired,
        "report": entry.report.document(),
    }
    return json.dumps(document, separators=(",", ":"))


def _entry(text: object) -> Entry | None:
    try:
        said = json.loads(str(text))
        report = read_report(said["report"])
        at = datetime.fromisoformat(said["at"])
        if report is None or at.tzinfo is None:
            return None
        boot_id, runtime, run = (str(said[key]) for key in ("bootID", "runtime", "run"))
        return Entry(boot_id, runtime, at, run, said["repaired"] is True, report)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
