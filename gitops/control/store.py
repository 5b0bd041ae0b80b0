"""Where what people ask is kept: one ConfigMap per overlay, in the first of the overlay's namespaces.

It is a ConfigMap of its own, so that somebody may be given the right to approve without a right to the records; and it
is read by its name, so that a right to this one name is enough (a LIST with `metadata.name` is authorised by
`resourceNames`; https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
"""

from __future__ import annotations

from collections.abc import Callable

from gitops.control.control import NOTHING_ASKED, Control
from gitops.control.document import control_of, data_of
from gitops.desired.overlay import Overlay
from gitops.errors import Absent, Conflict, Refused
from gitops.kube.cluster import Cluster
from gitops.manifest import GARDEN, Ref, get

LIMIT = 900 * 1024
"""Bytes; an object holds one MiB."""
_ATTEMPTS = 10


def control_name(overlay: str) -> str:
    """The ConfigMap of what people ask of an overlay."""
    return f"shoot-gitops-{overlay}-control"


def load_control(garden: Cluster, overlay: Overlay) -> Control:
    """What has been asked.

    Raises:
        Refused: the ConfigMap is there and is not ours to read.
        Forbidden, Unreachable: it is not known.
    """
    ref = _ref(overlay)
    selector = f"metadata.name={ref.name}"
    listing = garden.list("v1", "ConfigMap", namespace=ref.namespace, field_selector=selector)
    if not listing.items:
        return NOTHING_ASKED
    found = listing.items[0]
    try:
        return control_of(get(found, "data") or {}, found["metadata"]["resourceVersion"])
    except ValueError as error:
        raise Refused(
            f"{ref} holds nothing that can be read as what people ask of overlay {overlay.name} ({error}), so nothing "
            f"is written: delete it to forget every suspension, approval and rollback, or choose another name for the "
            "overlay if it belongs to somebody else"
        ) from error


def change_control(garden: Cluster, overlay: Overlay, change: Callable[[Control], Control]) -> Control:
    """Ask for something else, from what has been asked last; whoever asks at the same time is not overruled unseen.

    Args:
        garden: where to ask.
        overlay: of which overlay.
        change: from what has been asked to what is asked now; may be called again when somebody else was faster.

    Raises:
        Refused: what is there cannot be read, or what is asked takes too much room.
        ApiError: it could not be written.
    """
    for attempt in range(_ATTEMPTS):
        before = load_control(garden, overlay)
        after = change(before)
        if data_of(after) == data_of(before):
            return before
        try:
            return _write(garden, overlay, after)
        except (Absent, Conflict):
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _write(garden: Cluster, overlay: Overlay, control: Control) -> Control:
    """Guarded by the version that the control was read at.

    Raises:
        Absent, Conflict: it was deleted, changed or created since.
    """
    ref, data = _ref(overlay), data_of(control)
    size = sum(len(value) for value in data.values())
    if size > LIMIT:
        raise Refused(
            f"{ref} would take {size // 1024} KiB and holds {LIMIT // 1024}: an approval names every shoot and every "
            "change, so divide the overlay, or let fewer of its waves require one"
        )
    if control.version:
        guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": control.version}
        stored = garden.patch(ref, [guard, {"op": "replace", "path": "/data", "value": data}])
    else:
        metadata = {"name": ref.name, "namespace": ref.namespace}
        stored = garden.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    return control_of(stored["data"], stored["metadata"]["resourceVersion"])


def _ref(overlay: Overlay) -> Ref:
    return Ref(GARDEN, "v1", "ConfigMap", overlay.garden.namespaces[0], control_name(overlay.name))
