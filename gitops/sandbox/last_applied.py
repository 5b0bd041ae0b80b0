"""kubectl's way from client-side to server-side apply (apimachinery pkg/util/managedfields/lastapplied*.go).

What the annotation last-applied-configuration says and the live object still has, kubectl takes over without
force; and the annotation is kept up to date as long as it is there.
"""

import json

from gitops.sandbox import decoding
from gitops.sandbox.fieldsets import FieldSet, difference
from gitops.sandbox.schema import Schema
from gitops.sandbox.typed import compare, to_field_set
from gitops.sandbox.wire import Manifest, encoded

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl"


def taken_over(live: Manifest, schema: Schema, manager: str) -> FieldSet:
    """Return the fields about which kubectl has no conflict; empty for every other manager."""
    text = (live.get("metadata", {}).get("annotations") or {}).get(ANNOTATION)
    if manager != MANAGER or not text:
        return {}
    try:
        last = json.loads(text)
    except ValueError:
        return {}
    list(decoding.prune(last, schema))
    changes = compare(last, live, schema)
    own = to_field_set(last, schema)
    return difference(difference(difference(own, changes.modified), changes.added), changes.removed)


def renewed(new: Manifest, config: Manifest, manager: str) -> None:
    """Write an applied configuration into the annotation, in place, where kubectl applies and it exists."""
    annotations = new.get("metadata", {}).get("annotations") or {}
    if manager == MANAGER and ANNOTATION in annotations:
        document = json.loads(encoded(config))
        annotations[ANNOTATION] = json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"
