"""Anybody else, in our own form; `gitops hook notify` sends it.

    POST /hooks/generic
    Content-Type: application/json
    X-Gitops-Signature: t=1795000000,v1=<hexadecimal HMAC-SHA256 of "1795000000." and the raw body>

    {"repository": "ssh://git.example/fleet.git", "ref": "refs/heads/main", "before": "<40 hex>", "after": "<40 hex>"}

`t` is seconds since 1970 and must be within five minutes. `v1` may come several times, one of them must hold.
`repository` may be a list of addresses of the one repository; `before` and `after` are all zeros where there is none.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gitops.trigger.push import Delivery, Ignored, Outcome, Push, Refusal, Refused, ref_change
from gitops.trigger.webhook.fields import items, text
from gitops.trigger.webhook.signatures import hex_holds, is_fresh

HEADER = "X-Gitops-Signature"


def sign(secret: str, body: bytes, now: datetime) -> str:
    """The value of the header."""
    timestamp = str(int(now.timestamp()))
    return f"t={timestamp},v1={hmac.new(secret.encode(), _signed(timestamp, body), 'sha256').hexdigest()}"


def body_of(repositories: Sequence[str], ref: str, before: str, after: str) -> bytes:
    """The body for one ref that moved."""
    return json.dumps({"repository": list(repositories), "ref": ref, "before": before, "after": after}).encode()


def verify(delivery: Delivery, secrets: Sequence[str]) -> Refusal | None:
    """None when it was signed with one of the secrets just now."""
    timestamps, signatures = _parts(delivery)
    if len(timestamps) != 1:
        return Refusal.SIGNATURE
    signed = _signed(timestamps[0], delivery.body)
    if not any([hex_holds(signature, signed, secrets) for signature in signatures]):  # noqa: C419 - all, always
        return Refusal.SIGNATURE
    return None if is_fresh(timestamps[0], delivery.received) else Refusal.STALE


def proven(delivery: Delivery) -> bytes:
    """The body with its time: branches go to and fro, and such pushes differ in nothing else."""
    timestamps, _ = _parts(delivery)
    return _signed(timestamps[0], delivery.body)


def read(delivery: Delivery, document: Mapping[str, Any]) -> Outcome:
    """The push."""
    del delivery
    listed = (address for address in items(document, "repository") if isinstance(address, str))
    repositories = tuple(filter(None, (text(document, "repository"), *listed)))
    ref, before, after = (text(document, key) for key in ("ref", "before", "after"))
    if not (repositories and ref and after):
        return Refused(Refusal.MALFORMED)
    change = ref_change(ref, before, after)
    return Ignored("neither branch nor tag") if change is None else Push(repositories, (change,))


def _parts(delivery: Delivery) -> tuple[list[str], list[str]]:
    """The timestamps and the signatures of a header, of which only so many are looked at."""
    parts = [part.strip().partition("=") for part in delivery.headers.get(HEADER.lower(), "").split(",")[:8]]
    return [value for key, _, value in parts if key == "t"], [value for key, _, value in parts if key == "v1"]


def _signed(timestamp: str, body: bytes) -> bytes:
    return f"{timestamp}.".encode() + body
