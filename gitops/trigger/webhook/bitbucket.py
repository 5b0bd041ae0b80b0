"""Bitbucket, Cloud and Data Center: `X-Hub-Signature` is `sha256=` and the hexadecimal HMAC-SHA256 of the raw body.

support.atlassian.com "Manage webhooks" and "Event payloads" (Cloud), confluence.atlassian.com "Event payload" (Data
Center). The two write different bodies, told apart by `X-Event-Key`. One push may move several refs, and may name none:
Data Center does so for pull requests that were merged elsewhere (its RepositoryRefsChangedEvent.getRefChanges).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitops.manifest import get
from gitops.trigger.push import Delivery, Ignored, Outcome, Push, RefChange, RefKind, Refusal, Refused, ref_change
from gitops.trigger.webhook.fields import addresses, items, text, true
from gitops.trigger.webhook.signatures import hex_holds

IDS = ("x-request-uuid", "x-request-id")
_PREFIX = "sha256="
_KINDS = {"branch": RefKind.BRANCH, "named_branch": RefKind.BRANCH, "tag": RefKind.TAG, "annotated_tag": RefKind.TAG}


def verify(delivery: Delivery, secrets: Sequence[str]) -> Refusal | None:
    """None when it was signed with one of the secrets."""
    signature = delivery.headers.get("x-hub-signature", "")
    if not signature.startswith(_PREFIX):
        return Refusal.SIGNATURE
    return None if hex_holds(signature.removeprefix(_PREFIX), delivery.body, secrets) else Refusal.SIGNATURE


def read(delivery: Delivery, document: Mapping[str, Any]) -> Outcome:
    """The push, of `repo:push` (Cloud) or `repo:refs_changed` (Data Center)."""
    event = delivery.headers.get("x-event-key", "")
    match event:
        case "diagnostics:ping":
            return Ignored("the event diagnostics:ping")
        case "repo:push":
            repositories, listed = _cloud_addresses(document), get(document, "push", "changes")
            changes = tuple(_cloud_changes(document))
        case "repo:refs_changed":
            repositories, listed = _data_center_addresses(document), get(document, "changes")
            changes = tuple(_data_center_changes(document))
        case _:
            return Refused(Refusal.EVENT)
    if not (repositories and isinstance(listed, list)):
        return Refused(Refusal.MALFORMED)
    if listed and not changes:
        return Ignored("neither branch nor tag") if any(map(_ref, listed)) else Refused(Refusal.MALFORMED)
    return Push(repositories, changes, text(document, "repository", "mainbranch", "name"))


def _cloud_addresses(document: Mapping[str, Any]) -> tuple[str, ...]:
    link = addresses(document, [("repository", "links", "html", "href")])
    return link or addresses(document, [("repository", "full_name")])


def _cloud_changes(document: Mapping[str, Any]) -> Iterator[RefChange]:
    for change in items(document, "push", "changes"):
        forced = true(change, "forced")
        for side in ("new", "old"):  # `new` is null where the ref was deleted, `old` where it was created
            kind, name = _KINDS.get(text(change, side, "type")), text(change, side, "name")
            if kind is not None and name:
                before, after = (text(change, part, "target", "hash") for part in ("old", "new"))
                yield RefChange(kind, name, before, after, deleted=side == "old", forced=forced)
                break


def _data_center_addresses(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The clone addresses where it sends them; else the paths that they end with, by https and by ssh."""
    links = (text(link, "href") for link in items(document, "repository", "links", "clone"))
    if found := tuple(filter(None, links)):
        return found
    project, slug = text(document, "repository", "project", "key"), text(document, "repository", "slug")
    return (f"scm/{project}/{slug}", f"{project}/{slug}") if project and slug else ()


def _data_center_changes(document: Mapping[str, Any]) -> Iterator[RefChange]:
    for change in items(document, "changes"):
        found = ref_change(_ref(change), text(change, "fromHash"), text(change, "toHash"))
        if found is not None:
            yield found


def _ref(change: object) -> str:
    """Of Data Center."""
    return text(change, "ref", "id") or text(change, "refId")
