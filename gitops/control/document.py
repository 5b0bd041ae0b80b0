"""What people have asked, as the data of a ConfigMap: JSON, and nothing in it secret."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gitops.control.control import Approval, Control, Hold, Suspension
from gitops.gardener.shoot_record import parse_timestamp, timestamp

KEYS = ("suspension", "approvals", "hold")
_REVISION = re.compile(r"[0-9a-f]{40}")


def data_of(control: Control) -> dict[str, str]:
    """The ConfigMap's data."""
    suspension = {
        "overlay": suspension_document(control.suspension) if control.suspension else None,
        "shoots": {name: suspension_document(asked) for name, asked in sorted(control.shoots.items())},
    }
    approvals = [_approval_document(approval) for approval in control.approvals]
    hold = {**hold_document(control.hold), "content": control.hold.content} if control.hold else None
    return {key: _compact(value) for key, value in zip(KEYS, (suspension, approvals, hold), strict=True)}


def control_of(data: Mapping[str, str], version: str) -> Control:
    """What the data of a ConfigMap says.

    Raises:
        ValueError: it does not say it in the form that `data_of` writes.
    """
    try:
        suspension, approvals, hold = (json.loads(data[key]) for key in KEYS)
        return Control(
            suspension=_suspension(suspension["overlay"]) if suspension["overlay"] else None,
            shoots={name: _suspension(asked) for name, asked in suspension["shoots"].items()},
            approvals=tuple(_approval(approval) for approval in approvals),
            hold=_hold(hold) if hold else None,
            version=version,
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def suspension_document(suspension: Suspension) -> dict[str, str]:
    """Who asked, when and why."""
    return {"by": suspension.by, "at": timestamp(suspension.at), "reason": suspension.reason}


def hold_document(hold: Hold) -> dict[str, str]:
    """What holds instead of what."""
    return {"from": hold.bad, "to": hold.good, "by": hold.by, "at": timestamp(hold.at)}


def _suspension(document: Any) -> Suspension:
    return Suspension(_text(document["by"]), parse_timestamp(document["at"]), _text(document["reason"]))


def _hold(document: Any) -> Hold:
    bad, good = (_text(document[key]) for key in ("from", "to"))
    if not (_REVISION.fullmatch(bad) and _REVISION.fullmatch(good)):
        raise ValueError(f"{bad!r} and {good!r} are no commits")
    at, content = parse_timestamp(document["at"]), _text(document.get("content", ""))
    return Hold(bad, good, _text(document["by"]), at, content)


def _approval_document(approval: Approval) -> dict[str, Any]:
    """Many shoots get the same, so that each thing is named once and shoots refer to it by its place."""
    names = sorted({name for agreed in approval.shoots.values() for name in agreed})
    places = {name: place for place, name in enumerate(names)}
    return {
        "by": approval.by,
        "at": timestamp(approval.at),
        "revision": approval.revision,
        "digest": approval.digest,
        "changes": names,
        "shoots": {shoot: sorted(places[name] for name in agreed) for shoot, agreed in approval.shoots.items()},
    }


def _approval(document: Any) -> Approval:
    names = [_text(name) for name in document["changes"]]
    return Approval(
        by=_text(document["by"]),
        at=parse_timestamp(document["at"]),
        revision=_text(document["revision"]),
        digest=_text(document["digest"]),
        shoots={shoot: frozenset(names[at] for at in places) for shoot, places in document["shoots"].items()},
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
