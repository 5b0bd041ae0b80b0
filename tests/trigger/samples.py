"""Deliveries as the forges' documentation describes them, signed as each forge signs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from gitops.trigger.push import Delivery

SECRET = "correct horse battery staple"  # noqa: S105 - of these samples only
OTHER = "another secret of the same length"
SIGNING = "whsec_" + base64.b64encode(b"twenty-four bytes of key").decode()
"""A signing token of GitLab, as Standard Webhooks writes keys."""
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BEFORE, AFTER, NONE = "1" * 40, "2" * 40, "0" * 40
BRANCH = "refs/heads/main"


@dataclass(frozen=True)
class Sample:
    """A delivery and how it comes to be signed."""

    forge: str
    document: Any
    headers: dict[str, str] = field(default_factory=dict)
    """Without the signature."""
    secret: str = SECRET
    sent: datetime = NOW

    @property
    def body(self) -> bytes:
        return json.dumps(self.document).encode()

    def signed(self) -> dict[str, str]:
        """All headers."""
        return {**self.headers, **_SIGN[self.forge](self)}

    def delivery(self, *, headers: dict[str, str] | None = None, body: bytes | None = None) -> Delivery:
        """As it arrives, or with something changed on its way."""
        given = self.signed() if headers is None else headers
        return Delivery({key.lower(): value for key, value in given.items()}, self.body if body is None else body, NOW)

    def late(self, by: timedelta) -> Sample:
        """Signed so much earlier than it arrives."""
        return replace(self, sent=NOW - by)


def _hex(sample: Sample, *before: bytes) -> str:
    return hmac.new(sample.secret.encode(), b"".join([*before, sample.body]), hashlib.sha256).hexdigest()


def _gitlab(sample: Sample) -> dict[str, str]:
    if "webhook-id" not in sample.headers:
        return {"X-Gitlab-Token": sample.secret}
    seconds = str(int(sample.sent.timestamp()))
    key = base64.b64decode(sample.secret.removeprefix("whsec_"))
    signed = f"{sample.headers['webhook-id']}.{seconds}.".encode() + sample.body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-timestamp": seconds, "webhook-signature": f"v1,{digest}"}


def _generic(sample: Sample) -> dict[str, str]:
    seconds = str(int(sample.sent.timestamp()))
    return {"X-Gitops-Signature": f"t={seconds},v1={_hex(sample, seconds.encode(), b'.')}"}


_SIGN = {
    "github": lambda sample: {"X-Hub-Signature-256": f"sha256={_hex(sample)}"},
    "gitea": lambda sample: {"X-Gitea-Signature": _hex(sample)},
    "bitbucket": lambda sample: {"X-Hub-Signature": f"sha256={_hex(sample)}"},
    "gitlab": _gitlab,
    "generic": _generic,
}


def github_push(ref: str = BRANCH, before: str = BEFORE, after: str = AFTER, *, forced: bool = False) -> Sample:
    document = {
        "ref": ref,
        "before": before,
        "after": after,
        "created": before == NONE,
        "deleted": after == NONE,
        "forced": forced,
        "repository": {
            "full_name": "fleet/config",
            "html_url": "https://github.example/fleet/config",
            "clone_url": "https://github.example/fleet/config.git",
            "ssh_url": "git@github.example:fleet/config.git",
            "default_branch": "main",
        },
        "pusher": {"name": "ada"},
    }
    headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
    return Sample("github", document, headers)


def gitea_push(ref: str = BRANCH, before: str = BEFORE, after: str = AFTER) -> Sample:
    document = {
        "ref": ref,
        "before": before,
        "after": after,
        "compare_url": "https://gitea.example/fleet/config/compare/1...2",
        "repository": {
            "full_name": "fleet/config",
            "html_url": "https://gitea.example/fleet/config",
            "ssh_url": "ssh://git@gitea.example:2222/fleet/config.git",
            "clone_url": "https://gitea.example/fleet/config.git",
            "default_branch": "main",
        },
        "commits": [],
    }
    headers = {"X-Gitea-Event": "push", "X-Gitea-Delivery": "f6266f16-1bf3-46a5-9ea4-602e06ead473"}
    return Sample("gitea", document, headers)


def forgejo_push() -> Sample:
    """Forgejo sends its own headers and Gitea's; only its own are given here."""
    sample = gitea_push()
    headers = {"X-Forgejo-Event": "push", "X-Forgejo-Delivery": "f6266f16-1bf3-46a5-9ea4-602e06ead473"}
    return replace(sample, headers={**headers, "X-Forgejo-Signature": _hex(sample)})


def gitlab_push(ref: str = BRANCH, before: str = BEFORE, after: str = AFTER) -> Sample:
    tag = ref.startswith("refs/tags/")
    document = {
        "object_kind": "tag_push" if tag else "push",
        "event_name": "tag_push" if tag else "push",
        "ref": ref,
        "before": before,
        "after": after,
        "checkout_sha": None if after == NONE else after,
        "project": {
            "path_with_namespace": "fleet/config",
            "web_url": "https://gitlab.example/fleet/config",
            "git_http_url": "https://gitlab.example/fleet/config.git",
            "git_ssh_url": "git@gitlab.example:fleet/config.git",
            "default_branch": "main",
        },
        "total_commits_count": 1,
    }
    event = "Tag Push Hook" if tag else "Push Hook"
    headers = {"X-Gitlab-Event": event, "X-Gitlab-Event-UUID": "13792a34-cac6-4fda-95a8-c58e00a3954e"}
    return Sample("gitlab", document, headers)


def gitlab_signed_push() -> Sample:
    sample = gitlab_push()
    headers = {**sample.headers, "webhook-id": "0c3aef0d-53e0-4f94-a6ea-2a04a1b1ab41"}
    return replace(sample, headers=headers, secret=SIGNING)


def bitbucket_cloud_push(*changes: dict[str, Any]) -> Sample:
    document = {
        "actor": {"type": "user", "nickname": "ada"},
        "repository": {
            "full_name": "fleet/config",
            "links": {"html": {"href": "https://bitbucket.example/fleet/config"}},
        },
        "push": {"changes": list(changes or (cloud_change(),))},
    }
    headers = {"X-Event-Key": "repo:push", "X-Request-UUID": "4f0b1a0e-8a1f-4a54-a2f3-8f5b4dd5b8c1"}
    return Sample("bitbucket", document, headers)


def cloud_change(
    name: str = "main", kind: str = "branch", *, deleted: bool = False, created: bool = False, forced: bool = False
) -> dict[str, Any]:
    old = {"type": kind, "name": name, "target": {"type": "commit", "hash": BEFORE}}
    new = {"type": kind, "name": name, "target": {"type": "commit", "hash": AFTER}}
    return {
        "old": None if created else old,
        "new": None if deleted else new,
        "created": created,
        "closed": deleted,
        "forced": forced,
    }


def bitbucket_data_center_push(*changes: dict[str, Any]) -> Sample:
    document = {
        "eventKey": "repo:refs_changed",
        "date": "2026-11-30T12:00:00+0000",
        "repository": {
            "slug": "config",
            "name": "config",
            "project": {"key": "FLEET"},
            "links": {
                "clone": [
                    {"href": "ssh://git@bitbucket.example:7999/fleet/config.git", "name": "ssh"},
                    {"href": "https://bitbucket.example/scm/fleet/config.git", "name": "http"},
                ]
            },
        },
        "changes": list(changes or (data_center_change(),)),
    }
    headers = {"X-Event-Key": "repo:refs_changed", "X-Request-Id": "1d8a7f7e-5e0b-4f7c-9d64-6a3f8e3b2c11"}
    return Sample("bitbucket", document, headers)


def data_center_change(ref: str = BRANCH, before: str = BEFORE, after: str = AFTER) -> dict[str, Any]:
    kind = "TAG" if ref.startswith("refs/tags/") else "BRANCH"
    change = "ADD" if before == NONE else "DELETE" if after == NONE else "UPDATE"
    named = {"id": ref, "displayId": ref.split("/", 2)[2], "type": kind}
    return {"ref": named, "refId": ref, "fromHash": before, "toHash": after, "type": change}


def generic_push(ref: str = BRANCH, before: str = BEFORE, after: str = AFTER) -> Sample:
    document = {"repository": "https://git.example/fleet/config.git", "ref": ref, "before": before, "after": after}
    return Sample("generic", document)


SAMPLES = {
    "github": github_push(),
    "gitlab, token": gitlab_push(),
    "gitlab, signing token": gitlab_signed_push(),
    "gitea": gitea_push(),
    "forgejo": forgejo_push(),
    "bitbucket cloud": bitbucket_cloud_push(),
    "bitbucket data center": bitbucket_data_center_push(),
    "generic": generic_push(),
}
SECRETS = (OTHER, SECRET, SIGNING)
"""As a file holds them while secrets are being changed."""
