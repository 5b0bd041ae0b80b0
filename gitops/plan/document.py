"""A plan as JSON, by contract with scripts, and the digest over it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from gitops.manifest import Target, pointer
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Change, FieldChange, Plan

API_VERSION = "shoot-gitops/v1alpha1"
GARDEN_WAVE = "garden"
"""The name of what comes before all waves, in plans and records."""


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as `plan -o json` prints it, its own digest included."""
    body = _body(plan)
    return {
        **{key: body[key] for key in ("apiVersion", "kind", "overlay", "revision")},
        "digest": _digest_of(body),
        **{key: body[key] for key in ("summary", "warnings", "waves")},
    }


def digest(plan: Plan) -> str:
    """`sha256:…` over everything a run of this plan would do: the same world and commit give the same digest."""
    return _digest_of(_body(plan))


def _digest_of(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _body(plan: Plan) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "Plan",
        "overlay": plan.overlay,
        "revision": plan.revision,
        "summary": plan.summary(),
        "warnings": list(plan.warnings),
        "waves": [
            *([_wave(GARDEN_WAVE, [_shoot(None, plan.garden)])] if plan.garden else []),
            *(_wave(wave.name, [_shoot(s.shoot, s.changes, s.notes) for s in wave.shoots]) for wave in plan.waves),
        ],
    }


def _wave(name: str, shoots: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "shoots": shoots}


def _shoot(shoot: Target | None, changes: tuple[Change, ...], notes: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"shoot": shoot, "changes": [_change(change) for change in changes], "notes": list(notes)}


def _change(change: Change) -> dict[str, Any]:
    ref = change.ref
    return {
        "target": ref.target,
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "action": change.action.value,
        "cost": change.cost.value,
        "reason": change.reason,
        "fields": [_field(field) for field in change.fields],
    }


def _field(field: FieldChange) -> dict[str, Any]:
    """An absent value is null: to an API server the two are the same."""
    return {
        "path": pointer(field.path),
        "live": None if field.live is ABSENT else field.live,
        "desired": None if field.desired is ABSENT else field.desired,
        "manager": field.manager,
        **({"since": field.since} if field.since else {}),
        **({"ignored": field.ignored} if field.ignored else {}),
    }
