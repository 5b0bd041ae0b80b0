"""Gitea and Forgejo: `X-Gitea-Signature` or `X-Forgejo-Signature` is the hexadecimal HMAC-SHA256 of the raw body.

docs.gitea.com "Webhooks", forgejo.org/docs "Webhooks". Forgejo sends both headers; those that are there must all hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitops.trigger.push import Delivery, Ignored, Outcome, Refusal, Refused
from gitops.trigger.webhook import github
from gitops.trigger.webhook.signatures import hex_holds

IDS = ("x-forgejo-delivery", "x-gitea-delivery")
_SIGNATURES = ("x-forgejo-signature", "x-gitea-signature")
_EVENTS = ("x-forgejo-event", "x-gitea-event")
_OF_NO_CONCERN = {"create", "delete"}


def verify(delivery: Delivery, secrets: Sequence[str]) -> Refusal | None:
    """None when it was signed with one of the secrets."""
    given = [delivery.headers[header] for header in _SIGNATURES if header in delivery.headers]
    holds = bool(given) and all([hex_holds(signature, delivery.body, secrets) for signature in given])  # noqa: C419 - all
    return None if holds else Refusal.SIGNATURE


def read(delivery: Delivery, document: Mapping[str, Any]) -> Outcome:
    """The push, of a `push` event; the body is as GitHub's."""
    event = next((delivery.headers[header] for header in _EVENTS if header in delivery.headers), "")
    if event in _OF_NO_CONCERN:
        return Ignored(f"the event {event}")
    return github.push(document) if event == "push" else Refused(Refusal.EVENT)
