"""What a reconciled Shoot contains: Nodes of its worker pools, and definitions that its extensions bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.actors import crds, nodes
from tests.control_plane.client import Client

Definitions = Mapping[str, list[dict[str, Any]]]
"""Custom resource definitions by extension type."""


def reconcile(shoot: dict[str, Any], client: Client, by_type: Definitions) -> None:
    """Bring the contents in line with the Shoot's spec; what is in line is not written."""
    nodes.follow_workers(client, shoot["spec"]["provider"].get("workers", []))
    enabled = {extension["type"] for extension in shoot["spec"].get("extensions", []) if not extension.get("disabled")}
    wanted = [definition for kind in by_type if kind in enabled for definition in by_type[kind]]
    crds.install(client, wanted)
    # Two types may bring the same definitions, as when one replaces the other.
    names = {definition["metadata"]["name"] for definition in wanted}
    known = [definition for kind in by_type for definition in by_type[kind]]
    crds.uninstall(client, [definition for definition in known if definition["metadata"]["name"] not in names])
