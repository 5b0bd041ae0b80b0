"""Custom resource definitions that an extension brings into a shoot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from tests.control_plane.client import Client, HttpError
from tests.waiting import until

COLLECTION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DATA = Path(__file__).parent.parent / "data" / "crds"
_MANAGER = "gardener-resource-manager"


def nri() -> list[dict[str, Any]]:
    """BalloonsPolicy, TopologyAwarePolicy and TemplatePolicy, as the charts of nri-plugins install them."""
    return [yaml.safe_load(path.read_text()) for path in sorted(_DATA.glob("config.nri_*.yaml"))]


def balloons_of(release: str) -> dict[str, Any]:
    """BalloonsPolicy as a release of nri-plugins defined it, such as `v0.9.4`."""
    definition: dict[str, Any] = yaml.safe_load((_DATA / "versions" / f"balloonspolicies-{release}.yaml").read_text())
    return definition


def install(shoot: Client, definitions: list[dict[str, Any]]) -> None:
    """Create or update definitions; one that is there already is not written."""
    for definition in definitions:
        shoot.apply(f"{COLLECTION}/{definition['metadata']['name']}", definition, _MANAGER, force=True)


def wait_until_established(shoot: Client, definitions: list[dict[str, Any]]) -> None:
    """Wait until the API server serves the objects of `definitions`."""
    for definition in definitions:
        spec = definition["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        until(lambda served: served is not None, partial(shoot.find, path))


def uninstall(shoot: Client, definitions: list[dict[str, Any]]) -> None:
    """Delete definitions, and with them all their objects; returns when they are gone."""
    paths = [f"{COLLECTION}/{definition['metadata']['name']}" for definition in definitions]
    present = [path for path in paths if shoot.find(path) is not None]
    for path in present:
        with _others_may_have_deleted():
            shoot.delete(path)
    for path in present:
        until(lambda left: left is None, partial(_awaited, shoot, path, count(1)))


def _awaited(shoot: Client, path: str, looks: Iterator[int]) -> dict[str, Any] | None:
    """What is left of a definition that is being deleted; every hundredth look reminds its finalizer of it.

    An attempt of the finalizer that finds the objects' storage not ready is repeated at once, maybe with a definition
    that is older than its own last write: that ends in a conflict, after which it waits for a change of more than the
    condition Terminating, or five minutes (apiextensions-apiserver, `crd_finalizer.go`).
    """
    left = shoot.find(path)
    look = next(looks)
    if left is not None and look % 100 == 0:
        with _others_may_have_deleted():
            shoot.merge_patch(path, {"metadata": {"annotations": {"tests.invalid/reminder": str(look)}}})
    return left


@contextmanager
def _others_may_have_deleted() -> Iterator[None]:
    try:
        yield
    except HttpError as error:
        if error.status != 404:
            raise
