"""Tables, as `kubectl get` asks for them."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from gitops.sandbox.kinds import Resource
from gitops.sandbox.wire import Manifest


def table(resource: Resource, manifests: Iterable[Manifest], revision: str, now: datetime) -> Manifest:
    """Return a Table of objects with the resource's columns between NAME and AGE."""
    definitions = [
        {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0},
        *(
            {
                "name": column.name,
                "type": "string",
                "format": "",
                "description": "",
                "priority": column.priority,
            }
            for column in resource.columns
        ),
        *([] if _own_columns(resource) else [_AGE]),
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": revision},
        "columnDefinitions": definitions,
        "rows": [row(resource, manifest, now) for manifest in manifests],
    }


_AGE = {"name": "Age", "type": "date", "format": "", "description": "", "priority": 0}


def _own_columns(resource: Resource) -> bool:
    """Tell whether a CRD names columns: then it has those and no AGE."""
    return resource.custom and bool(resource.columns)


def row(resource: Resource, manifest: Manifest, now: datetime) -> Manifest:
    """Return one object's row."""
    created = manifest["metadata"].get("creationTimestamp")
    age = _age(now - datetime.fromisoformat(created)) if created else "<unknown>"
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    own = [column.cell(manifest) for column in resource.columns]
    return {
        "cells": [manifest["metadata"]["name"], *own, *([] if _own_columns(resource) else [age])],
        "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata},
    }


def _age(age: timedelta) -> str:
    """Spell a duration as apimachinery's duration.HumanDuration does for whole units."""
    seconds = max(0, int(age.total_seconds()))
    if seconds < 120:
        return f"{seconds}s"
    minutes = seconds // 60
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours = minutes // 60
    if hours < 48:
        return f"{hours}h"
    return f"{hours // 24}d"
