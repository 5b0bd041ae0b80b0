"""The rights of an overlay as Roles and ClusterRoles, bound to the account that the pipeline has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from gitops.deploy.naming import APP, labels
from gitops.deploy.printed import Because, Part, Printed
from gitops.deploy.rights import Right
from gitops.desired.overlay import Overlay
from gitops.manifest import Manifest

RBAC = "rbac.authorization.k8s.io"
_PARTS = list(Part)
_WHY = {
    Part.PROJECT: (
        "The garden: rights of overlay {overlay} in {where}. An administrator of the Gardener project can grant them: "
        "they are part of the project role `admin`, and RBAC lets nobody grant what they lack. A project member with "
        "that role, person or ServiceAccount, needs no such Role, only the operators'; and may delete Shoots and read "
        "every Secret, too. The roles `viewer` and `serviceaccountmanager` are not enough; a role `extension:<name>` "
        "is what an operator has made of it."
    ),
    Part.GARDEN: (
        "The garden: rights of overlay {overlay} in {where} that no project role holds, so that an operator of the "
        "garden has to grant them."
    ),
    Part.RUNTIME: (
        "The garden's runtime cluster: rights of overlay {overlay} to gardener-operator's Extensions. An operator of "
        "the landscape has to grant them."
    ),
}


def roles(overlay: Overlay, rights: Iterable[Right], account: tuple[str, str]) -> Iterator[Printed]:
    """One Role for each part and namespace, one ClusterRole for what no namespace bounds, and their bindings.

    Args:
        overlay: whose rights they are.
        rights: of the garden, or of its runtime cluster.
        account: namespace and name of the ServiceAccount that gets them.
    """
    for (part, namespace), group in groupby(sorted(rights, key=_place), key=_place):
        yield from _bound_role(overlay, _PARTS[part], namespace, list(group), account)


def _place(right: Right) -> tuple[int, str]:
    return (_PARTS.index(right.part), right.namespace)


def _bound_role(
    overlay: Overlay, part: Part, namespace: str, rights: list[Right], account: tuple[str, str]
) -> Iterator[Printed]:
    kind = "Role" if namespace else "ClusterRole"
    api = {"apiVersion": f"{RBAC}/v1"}
    name = _name(overlay, part, namespace)
    metadata = {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "labels": labels("rights", overlay.name),
    }
    where = f"namespace {namespace}" if namespace else "the whole garden"
    role = {**api, "kind": kind, "metadata": metadata, "rules": [_rule(right) for right in rights]}
    yield Printed(part, role, _WHY[part].format(overlay=overlay.name, where=where))
    binding = {
        **api,
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "namespace": account[0], "name": account[1]}],
    }
    yield Printed(part, binding, f"Gives the account of the pipeline the {kind} of the same name.")


def _name(overlay: Overlay, part: Part, namespace: str) -> str:
    """Unlike that of an overlay of the same name in another project, where they could meet."""
    if part is Part.PROJECT:
        return f"{APP}-{overlay.name}"
    if namespace in overlay.garden.namespaces:
        return f"{APP}-{overlay.name}-operator"
    ending = ":runtime" if part is Part.RUNTIME else ""  # the two clusters may be one
    return f"{APP}:{overlay.garden.namespaces[0]}:{overlay.name}{ending}"


def _rule(right: Right) -> Because:
    rule: Manifest = {"apiGroups": [right.group], "resources": [right.resource]}
    if right.names:
        rule["resourceNames"] = list(right.names)
    return Because({**rule, "verbs": list(right.verbs)}, right.why)
