"""GitHub: `X-Hub-Signature-256` is `sha256=` and the hexadecimal HMAC-SHA256 of the raw body.

docs.github.com, "Validating webhook deliveries" and "Webhook events and payloads". The older `X-Hub-Signature` (SHA-1)
proves nothing to us. A ping comes when a webhook is made; its redelivery carries the same `X-GitHub-Delivery`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitops.trigger.push import Delivery, Ignored, Outcome, Push, Refusal, Refused, ref_change
from gitops.trigger.webhook.fields import addresses, text, true
from gitops.trigger.webhook.signatures import hex_holds

IDS = ("x-github-delivery",)
_PREFIX = "sha256="
_ADDRESSES = (
    ("repository", "clone_url"),
    ("repository", "ssh_url"),
    ("repository", "git_url"),
    ("repository", "html_url"),
)
_OF_NO_CONCERN = {"ping", "create", "delete"}
"""Creations and deletions of refs come as pushes too."""


def verify(delivery: Delivery, secrets: Sequence[str]) -> Refusal | None:
    """None when it was signed with one of the secrets."""
    signature = delivery.headers.get("x-hub-signature-256", "")
    if not signature.startswith(_PREFIX):
        return Refusal.SIGNATURE
    return None if hex_holds(signature.removeprefix(_PREFIX), delivery.body, secrets) else Refusal.SIGNATURE


def read(delivery: Delivery, document: Mapping[str, Any]) -> Outcome:
    """The push, of a `push` event."""
    event = delivery.headers.get("x-github-event", "")
    if event in _OF_NO_CONCERN:
        return Ignored(f"the event {event}")
    return push(document) if event == "push" else Refused(Refusal.EVENT)


def push(document: Mapping[str, Any]) -> Outcome:
    """The push as GitHub and Gitea write it."""
    repositories = addresses(document, _ADDRESSES) or addresses(document, [("repository", "full_name")])
    ref, before, after = (text(document, key) for key in ("ref", "before", "after"))
    if not (repositories and ref and after):
        return Refused(Refusal.MALFORMED)
    change = ref_change(ref, before, after, forced=true(document, "forced"))
    if change is None:
        return Ignored("neither branch nor tag")
    return Push(repositories, (change,), text(document, "repository", "default_branch"))
