"""GitLab: the secret itself in `X-Gitlab-Token`, or a signature where the webhook has a signing token.

docs.gitlab.com "Webhooks". The signature is that of Standard Webhooks (standardwebhooks.com): `webhook-signature` over
`<webhook-id>.<webhook-timestamp>.<body>`; where it is sent it must hold, and no token makes up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitops.trigger.push import Delivery, Ignored, Outcome, Push, Refusal, Refused, ref_change
from gitops.trigger.webhook.fields import addresses, text
from gitops.trigger.webhook.signatures import base64_holds, is_fresh, token_holds

IDS = ("webhook-id", "idempotency-key", "x-gitlab-event-uuid")
_EVENTS = {"Push Hook", "Tag Push Hook", "System Hook"}
_KINDS = {"push", "tag_push"}
_ADDRESSES = (("project", "git_http_url"), ("project", "git_ssh_url"), ("project", "web_url"))


def verify(delivery: Delivery, secrets: Sequence[str]) -> Refusal | None:
    """None when it was signed with one of the secrets just now, or carries one."""
    headers = delivery.headers
    if "webhook-signature" not in headers:
        return None if token_holds(headers.get("x-gitlab-token", ""), secrets) else Refusal.SIGNATURE
    if not (headers.get("webhook-id") and base64_holds(headers["webhook-signature"], _signed(delivery), secrets)):
        return Refusal.SIGNATURE
    return None if is_fresh(headers.get("webhook-timestamp", ""), delivery.received) else Refusal.STALE


def proven(delivery: Delivery) -> bytes:
    """What was signed. A token vouches for nothing, and whoever has it can say anything: only names count then."""
    if "webhook-signature" in delivery.headers:
        return _signed(delivery)
    return b"" if any(delivery.headers.get(name) for name in IDS) else delivery.body


def read(delivery: Delivery, document: Mapping[str, Any]) -> Outcome:
    """The push, of a hook for pushes or for tags; a system hook says in its body which event it is."""
    event = delivery.headers.get("x-gitlab-event", "")
    kind = text(document, "object_kind") or text(document, "event_name")
    if event == "System Hook" and kind not in _KINDS:
        return Ignored("a system hook about something else")
    if event not in _EVENTS or kind not in _KINDS:
        return Refused(Refusal.EVENT)
    repositories = addresses(document, _ADDRESSES) or addresses(document, [("project", "path_with_namespace")])
    ref, before, after = (text(document, key) for key in ("ref", "before", "after"))
    if not (repositories and ref and after):
        return Refused(Refusal.MALFORMED)
    change = ref_change(ref, before, after)
    if change is None:
        return Ignored("neither branch nor tag")
    return Push(repositories, (change,), text(document, "project", "default_branch"))


def _signed(delivery: Delivery) -> bytes:
    name, timestamp = (delivery.headers.get(key, "") for key in ("webhook-id", "webhook-timestamp"))
    return f"{name}.{timestamp}.".encode() + delivery.body
