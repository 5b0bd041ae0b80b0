"""A small model of server-side apply: maps are granular, lists are one value, and `containers` is keyed by name.

Good enough for ownership: who applied or updated which field, forced takeovers, and what goes away when an applier
leaves it out (sigs.k8s.io/structured-merge-diff merge/update.go).
"""

from __future__ import annotations

import copy
from typing import Any

from gitops.manifest import Manifest, Path
from gitops.ownership.equality import same
from gitops.ownership.field_set import FieldSet, declared_fields, from_fields_v1, to_fields_v1
from gitops.ownership.lists import KeyedList, ListKeys
from gitops.ownership.merge import ABSENT, MergeRules, lookup, merge

LISTS: ListKeys = {("spec", "containers"): KeyedList("name")}
_RULES = MergeRules(LISTS, lambda _, live, desired: same(live, desired), lambda *_: "")
_SERVER = {"uid", "resourceVersion", "generation", "managedFields", "creationTimestamp"}
_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
_Owners = dict[tuple[str, str], FieldSet]


def applied(live: Manifest | None, manifest: Manifest, manager: str, time: str = "") -> Manifest:
    """What the server has after a forced apply."""
    before = live if live is not None else _empty(manifest)
    owners = _owners(before)
    ours = owners.pop((manager, "Apply"), frozenset())
    others = frozenset[Path]().union(*owners.values())
    content = _content(manifest)
    after = merge(content, ours - others, _content(before), _RULES).merged
    fields = frozenset(path for path, _ in declared_fields(content, LISTS) if path not in _IDENTITY)
    lost = {path for path in fields if not same(lookup(before, path), lookup(after, path))}
    owners = {owner: held - lost for owner, held in owners.items()}
    return _stored(before, after, {**owners, (manager, "Apply"): fields}, (manager, "Apply"), time)


def updated(live: Manifest, manifest: Manifest, manager: str, time: str = "") -> Manifest:
    """What the server has after somebody wrote the whole object."""
    before, after = _content(live), _content(manifest)
    there = {path: lookup(before, path) for path, _ in declared_fields(before, LISTS)}
    now = {path: lookup(after, path) for path, _ in declared_fields(after, LISTS)}
    changed = frozenset(path for path in now if not same(there.get(path, ABSENT), now[path]))
    owners = {owner: (held & now.keys()) - changed for owner, held in _owners(live).items()}
    owners[manager, "Update"] = owners.get((manager, "Update"), frozenset()) | changed
    return _stored(live, after, owners, (manager, "Update"), time)


def _empty(manifest: Manifest) -> Manifest:
    metadata = {key: manifest["metadata"][key] for key in ("name", "namespace") if key in manifest["metadata"]}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _content(manifest: Manifest) -> Manifest:
    """What people write: no status, and no metadata that is the server's."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in _SERVER}
    return copy.deepcopy({**{k: v for k, v in manifest.items() if k != "status"}, "metadata": metadata})


def _owners(live: Manifest) -> _Owners:
    entries = live["metadata"].get("managedFields") or []
    return {(entry["manager"], entry["operation"]): from_fields_v1(entry["fieldsV1"]) for entry in entries}


def _stored(live: Manifest, content: Manifest, owners: _Owners, writer: tuple[str, str], time: str) -> Manifest:
    """The object as stored: a write that changed nothing leaves the times as they are."""
    server = {key: value for key, value in live["metadata"].items() if key in _SERVER}
    after = {**content, "metadata": {**content["metadata"], **server}}
    if "status" in live:
        after["status"] = copy.deepcopy(live["status"])
    times = {(e["manager"], e["operation"]): e.get("time", "") for e in server.get("managedFields") or []}
    if owners != _owners(live) or _content(after) != _content(live):
        times[writer] = time
    entries: list[dict[str, Any]] = [
        {
            "manager": manager,
            "operation": operation,
            "time": times.get((manager, operation), time),
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields_v1(held),
        }
        for (manager, operation), held in sorted(owners.items())
        if held
    ]
    after["metadata"]["managedFields"] = entries
    return after
