"""Records in the garden: one ConfigMap per overlay, in the first of the overlay's namespaces.

`data.record` is the last run whole, `data.history` the last runs in brief, newest first, `data.unfinished` what runs
began and nobody has ended. Nothing in them is secret: plans, and so the messages of records, are masked before they
get here.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from gitops.desired.compose import Desired
from gitops.desired.overlay import Overlay
from gitops.errors import Refused
from gitops.kube.cluster import Cluster, Conflicts, Mode
from gitops.manifest import Target, get
from gitops.record.record import Record, brief, is_news, record_document
from gitops.rollout.step import ShootOutcome

HISTORY = 20
"""Runs remembered in brief."""
MESSAGE = 500
"""Characters of their messages."""
LIMIT = 512 * 1024
"""Bytes of the last run; an object holds one MiB. Beyond it, converged shoots are left out."""

UNFINISHED = 256 * 1024
"""Bytes of the shoots that are unfinished. Of more none is remembered, and they wait for their next window."""


@dataclass(frozen=True)
class Unfinished:
    """Shoots of waves with windows that were written and have come to no end since, as a run was interrupted."""

    content: str = ""
    """What they were written for, as `Desired.content` has it."""
    shoots: frozenset[Target] = frozenset()

    def of(self, content: str) -> frozenset[Target]:
        """Those that were written for what is declared now."""
        return self.shoots if content and content == self.content else frozenset()


@dataclass(frozen=True)
class Stored:
    """What is remembered of an overlay's runs."""

    last: dict[str, Any]
    """The last record, by contract."""
    history: tuple[dict[str, Any], ...]
    """Newest first: revision, digest, trigger, outcome, message, writes, started, finished."""
    unfinished: Unfinished = field(default_factory=Unfinished)


def begun_before(stored: Stored | None, desired: Desired) -> frozenset[Target]:
    """Shoots that earlier runs began with what is declared now, and did not come to an end with."""
    return stored.unfinished.of(desired.content) if stored is not None else frozenset()


def record_name(overlay: str) -> str:
    """The ConfigMap of an overlay's records."""
    return f"shoot-gitops-{overlay}"


def load_records(garden: Cluster, overlay: Overlay) -> Stored | None:
    """What is remembered; None when the overlay never ran.

    Raises:
        Refused: the ConfigMap is there and is not ours to read.
        Forbidden, Unreachable: it is not known.
    """
    name, namespace = record_name(overlay.name), overlay.garden.namespaces[0]
    listing = garden.list("v1", "ConfigMap", namespace=namespace, field_selector=f"metadata.name={name}")
    if not listing.items:
        return None
    data = get(listing.items[0], "data") or {}
    try:
        unfinished = json.loads(data.get("unfinished", '{"content": "", "shoots": []}'))
        left = Unfinished(str(unfinished["content"]), frozenset(map(str, unfinished["shoots"])))
        return Stored(json.loads(data["record"]), tuple(json.loads(data["history"])), left)
    except (KeyError, ValueError, TypeError) as error:
        raise Refused(
            f"ConfigMap {namespace}/{name} holds no record that can be read ({error!r}): delete it, or choose another "
            "name for the overlay if it belongs to somebody else"
        ) from error


def tells_news(record: Record, before: Stored | None) -> bool:
    """Whether a record is worth a write."""
    return is_news(record_document(record), before.last if before is not None else None)


def unfinished_after(record: Record, desired: Desired, begun: Collection[Target]) -> Unfinished:
    """What a run leaves half done, as far as a window could keep it so. A shoot that failed has come to an end.

    Args:
        record: what it did.
        desired: what it rolled out.
        begun: what earlier runs had left half done of the same.
    """
    ends = {ShootOutcome.CONVERGED, ShootOutcome.FAILED}
    windows = {wave.name for wave in desired.overlay.waves if wave.windows}
    shoots = [shoot for wave in record.result.waves if wave.name in windows for shoot in wave.shoots]
    left = [s.shoot for s in shoots if s.outcome not in ends and (s.writes or s.shoot in begun)]
    return Unfinished(desired.content, frozenset(left if len(_compact(left)) <= UNFINISHED else ()))


def save_record(
    garden: Cluster, overlay: Overlay, record: Record, before: Stored | None, unfinished: Unfinished
) -> None:
    """Remember a run, and what it left half done.

    Raises:
        ApiError: it could not be written.
    """
    document = record_document(record)
    history = [brief(document, MESSAGE), *(before.history if before else ())][:HISTORY]
    left = {"content": unfinished.content, "shoots": sorted(unfinished.shoots)}
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": record_name(overlay.name), "namespace": overlay.garden.namespaces[0]},
        "data": {"record": _bounded(document), "history": _compact(history), "unfinished": _compact(left)},
    }
    garden.apply(manifest, ownership=Conflicts.FORCE, mode=Mode.WRITE)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _bounded(document: dict[str, Any]) -> str:
    text = _compact(document)
    if len(text) <= LIMIT:
        return text
    waves = [
        {**wave, "shoots": [shoot for shoot in wave["shoots"] if shoot["outcome"] != "Converged"], "abridged": True}
        for wave in document["waves"]
    ]
    return _compact({**document, "waves": waves})
