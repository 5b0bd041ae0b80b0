"""Our inventory inside a shoot: an ApplySet as KEP-3659 (kubernetes/enhancements, sig-cli) lays it down (pure).

The parent names the set and the kinds in it; every member carries a label. A tool changes no set but its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

from gitops.manifest import Manifest, State, get

ID = "applyset.kubernetes.io/id"
PART_OF = "applyset.kubernetes.io/part-of"
TOOLING = "applyset.kubernetes.io/tooling"
GROUP_KINDS = "applyset.kubernetes.io/contains-group-kinds"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"

TOOL = "shoot-gitops/v1"
PARENT_NAMESPACE = "kube-system"

GroupKind = tuple[str, str]
"""Group (empty for core) and kind."""


def parent_name(overlay: str) -> str:
    """The ConfigMap in `kube-system` of each shoot that stands for the overlay's set."""
    return f"shoot-gitops-{overlay}"


def applyset_id(overlay: str) -> str:
    """The id of the overlay's set, the same in every shoot.

    >>> applyset_id("dev")
    'applyset-sp0Uz38PJUOKbXV_oepT0r4j7bc0yyKLzJcizcx0IUM-v1'
    """
    digest = hashlib.sha256(f"{parent_name(overlay)}.{PARENT_NAMESPACE}.ConfigMap.".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}-v1"


def member_labels(overlay: str) -> dict[str, str]:
    """What makes an object a member."""
    return {PART_OF: applyset_id(overlay)}


def parent(overlay: str, group_kinds: Iterable[GroupKind], namespaces: Iterable[str]) -> Manifest:
    """The parent of a set with members of these kinds in these namespaces, to be applied as it is.

    A set is widened before its members are applied (what was in it, and what will be) and narrowed after the prune,
    so that no member is ever outside of what the parent names.
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": parent_name(overlay),
            "namespace": PARENT_NAMESPACE,
            "labels": {ID: applyset_id(overlay)},
            "annotations": {
                TOOLING: TOOL,
                GROUP_KINDS: ",".join(sorted({f"{kind}.{group}" if group else kind for group, kind in group_kinds})),
                NAMESPACES: ",".join(sorted({n for n in namespaces if n and n != PARENT_NAMESPACE})),
            },
        },
    }


def group_kinds_of(parent: Manifest) -> frozenset[GroupKind]:
    """The kinds that a parent names; empty for one without the annotation."""
    return frozenset((group, kind) for kind, _, group in (word.partition(".") for word in _words(parent, GROUP_KINDS)))


def namespaces_of(parent: Manifest) -> frozenset[str]:
    """The namespaces in which a parent's members may be, its own among them."""
    return frozenset({PARENT_NAMESPACE, *_words(parent, NAMESPACES)})


def members(state: State, overlay: str) -> State:
    """The objects of a state that belong to the overlay's set."""
    ours = applyset_id(overlay)
    return {ref: manifest for ref, manifest in state.items() if set_of(manifest) == ours}


def set_of(manifest: Manifest) -> str:
    """The id of the set that an object belongs to; empty when it is in none."""
    return get(manifest, "metadata", "labels", PART_OF) or ""


def _words(parent: Manifest, annotation: str) -> list[str]:
    text = get(parent, "metadata", "annotations", annotation) or ""
    return [word for word in text.split(",") if word]
