"""Records in the garden: one ConfigMap per overlay, in the first of the overlay's namespaces.

`data.record` is the last run whole, `data.history` the last runs in brief, newest first. Nothing in either is secret:
plans, and so the messages of records, are masked before they get here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gitops.desired.overlay import Overlay
from gitops.errors import Refused
from gitops.kube.cluster import Cluster, Conflicts, Mode
from gitops.manifest import get
from gitops.record.record import Record, outcomes, record_document

HISTORY = 20
"""Runs remembered in brief."""
LIMIT = 512 * 1024
"""Bytes of the last run; an object holds one MiB. Beyond it, converged shoots are left out."""


@dataclass(frozen=True)
class Stored:
    """What is remembered of an overlay's runs."""

    last: dict[str, Any]
    """The last record, by contract."""
    history: tuple[dict[str, Any], ...]
    """Newest first: revision, digest, trigger, outcome, message, writes, started, finished."""


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
        return Stored(json.loads(data["record"]), tuple(json.loads(data["history"])))
    except (KeyError, ValueError) as error:
        raise Refused(
            f"ConfigMap {namespace}/{name} holds no record that can be read ({error!r}): delete it, or choose another "
            "name for the overlay if it belongs to somebody else"
        ) from error


def tells_news(record: Record, before: Stored | None) -> bool:
    """Whether a record is worth a write: a run that found everything as the last one left it is not."""
    return before is None or record.result.writes > 0 or outcomes(record_document(record)) != outcomes(before.last)


def save_record(garden: Cluster, overlay: Overlay, record: Record, before: Stored | None) -> None:
    """Remember a run.

    Raises:
        ApiError: it could not be written.
    """
    document = record_document(record)
    history = [_brief(document), *(before.history if before else ())][:HISTORY]
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": record_name(overlay.name), "namespace": overlay.garden.namespaces[0]},
        "data": {"record": _bounded(document), "history": json.dumps(history, separators=(",", ":"))},
    }
    garden.apply(manifest, ownership=Conflicts.FORCE, mode=Mode.WRITE)


def _brief(document: dict[str, Any]) -> dict[str, Any]:
    keys = ("revision", "digest", "trigger", "outcome", "message", "writes", "started", "finished")
    return {**{key: document[key] for key in keys}, "message": document["message"][:500]}


def _bounded(document: dict[str, Any]) -> str:
    text = json.dumps(document, separators=(",", ":"))
    if len(text) <= LIMIT:
        return text
    waves = [
        {**wave, "shoots": [shoot for shoot in wave["shoots"] if shoot["outcome"] != "Converged"], "abridged": True}
        for wave in document["waves"]
    ]
    return json.dumps({**document, "waves": waves}, separators=(",", ":"))
