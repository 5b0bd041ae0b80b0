"""Everything that is printed, in the order in which it can be applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops.deploy.naming import APP, labels
from gitops.deploy.network import egress_policy, ingress_policy
from gitops.deploy.printed import Because, Part, Printed
from gitops.deploy.rights import rights_of
from gitops.deploy.roles import roles
from gitops.deploy.runs import (
    cronjob,
    deployment,
    disruption_budget,
    ingress,
    service,
    service_monitor,
    writes_extensions,
)
from gitops.deploy.settings import Mode, Settings, label
from gitops.desired.compose import Desired
from gitops.errors import InvalidInput, Refused, Violation


def manifests(overlays: Sequence[Desired], settings: Settings) -> tuple[Printed, ...]:
    """The objects by which some overlays are rolled out from a cluster.

    Args:
        overlays: at least one.
        settings: how it is to run.

    Raises:
        InvalidInput: an overlay's name cannot be part of an object's.
        Refused: the overlays are for several gardens.
    """
    _one_garden(overlays)
    wrong = [violation for desired in overlays if (violation := _unfit_name(desired)) is not None]
    if wrong:
        raise InvalidInput(wrong)
    return (*_running(overlays, settings), *_rights(overlays, settings))


def _one_garden(overlays: Sequence[Desired]) -> None:
    gardens = {desired.overlay.garden.identity: desired.overlay.name for desired in overlays}
    if len(gardens) > 1:
        which = " and ".join(f"{name} for the garden {identity!r}" for identity, name in gardens.items())
        raise Refused(f"what runs has one kubeconfig, and overlay {which}: print them one by one, by their names")


def _unfit_name(desired: Desired) -> Violation | None:
    try:
        label(desired.overlay.name)
    except ValueError as error:
        return Violation(desired.overlay.file, 0, f"Overlay {desired.overlay.name}", "overlay-name", str(error))
    return None


def _running(overlays: Sequence[Desired], settings: Settings) -> Iterator[Printed]:
    """What belongs to the cluster that it runs in."""
    if settings.create_namespace:
        yield _namespace(settings)
    why = "The account of the pods."
    yield _account(Part.RUN, settings.namespace, why)
    yield egress_policy(settings)
    if settings.mode is not Mode.SERVE:
        yield from (cronjob(desired, settings) for desired in overlays)
    if settings.mode is not Mode.CRONJOB:
        yield ingress_policy(settings)
        yield service(settings)
        yield deployment(overlays, settings)
        yield disruption_budget(settings)
        if settings.hosts:
            yield ingress(settings)
        if settings.service_monitor:
            yield service_monitor(settings)


def _rights(overlays: Sequence[Desired], settings: Settings) -> Iterator[Printed]:
    """What belongs to the garden, and to its runtime cluster."""
    account = (settings.namespace, APP)
    if not settings.in_cluster:
        account = (overlays[0].overlay.garden.namespaces[0], APP)
        why = (
            f"The garden: the account behind the kubeconfig in Secret {settings.namespace}/{settings.secrets.garden}, "
            "which needs a token from time to time: "
            f"`kubectl --namespace {account[0]} create token {APP} --duration 2160h`. Making accounts and tokens is "
            "what the project role `serviceaccountmanager` is for."
        )
        yield _account(Part.PROJECT, account[0], why)
    for desired in overlays:
        rights = rights_of(desired)
        yield from roles(desired.overlay, (r for r in rights if r.part is not Part.RUNTIME), account)
    if writes_extensions(overlays):
        why = (
            "The garden's runtime cluster: the account behind the kubeconfig in Secret "
            f"{settings.namespace}/{settings.secrets.runtime}."
        )
        yield _account(Part.RUNTIME, settings.namespace, why, f"{APP}-runtime")
        for desired in overlays:
            runtime = (settings.namespace, f"{APP}-runtime")
            yield from roles(desired.overlay, (r for r in rights_of(desired) if r.part is Part.RUNTIME), runtime)


def _namespace(settings: Settings) -> Printed:
    marks = {
        **labels("namespace"),
        **{f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")},
    }
    metadata = {"name": settings.namespace, "labels": marks}
    why = "Where the pipeline runs; nothing in it needs more than Pod Security's strictest level."
    return Printed(Part.RUN, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, why)


def _account(part: Part, namespace: str, why: str, name: str = APP) -> Printed:
    metadata = {"name": name, "namespace": namespace, "labels": labels("account")}
    tree = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": Because(value=False, why="Only pods that say so get its token."),
    }
    return Printed(part, tree, why)
