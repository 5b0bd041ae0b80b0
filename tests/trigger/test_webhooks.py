"""Every forge's own rule: what it signs is accepted, whatever is changed on the way is not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

import pytest

from gitops.trigger.push import Delivery, Ignored, Outcome, Push, RefChange, RefKind, Refusal, Refused
from gitops.trigger.receiving import FORGES, receive
from gitops.trigger.replay import ReplayWindow
from tests.trigger.samples import (
    AFTER,
    BEFORE,
    NONE,
    OTHER,
    SAMPLES,
    SECRET,
    SECRETS,
    SIGNING,
    Sample,
    bitbucket_cloud_push,
    bitbucket_data_center_push,
    cloud_change,
    data_center_change,
    generic_push,
    gitea_push,
    github_push,
    gitlab_push,
)

Case: TypeAlias = tuple[Sample, Delivery]
"""What was signed, and what arrives."""


def outcome_of(forge: str, delivery: Delivery, *secrets: str) -> Outcome:
    return receive(FORGES[forge], delivery, secrets or SECRETS, ReplayWindow())


def refusal_of(forge: str, delivery: Delivery, *secrets: str) -> Refusal | None:
    outcome = outcome_of(forge, delivery, *secrets)
    return outcome.why if isinstance(outcome, Refused) else None


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_a_forge_signs_is_a_push_of_one_branch(sample: Sample) -> None:
    push = outcome_of(sample.forge, sample.delivery())

    assert isinstance(push, Push)
    assert push.changes == (RefChange(RefKind.BRANCH, "main", BEFORE, AFTER),)
    assert all("fleet/config" in address for address in push.repositories)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_any_secret_of_the_file_will_do_and_no_other(sample: Sample) -> None:
    for secrets in ((sample.secret,), (sample.secret, OTHER), (OTHER, sample.secret)):
        assert isinstance(outcome_of(sample.forge, sample.delivery(), *secrets), Push)
    assert refusal_of(sample.forge, sample.delivery(), OTHER) is Refusal.SIGNATURE


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_without_any_secret_everything_is_refused(sample: Sample) -> None:
    refused = receive(FORGES[sample.forge], sample.delivery(), (), ReplayWindow())

    assert refused == Refused(Refusal.SIGNATURE)


_PROOFS = (
    "X-Hub-Signature-256",
    "X-Hub-Signature",
    "X-Gitea-Signature",
    "X-Forgejo-Signature",
    "webhook-signature",
    "X-Gitlab-Token",
    "X-Gitops-Signature",
)


def _signature(sample: Sample) -> str:
    """The header that proves who sent it."""
    return next(name for name in _PROOFS if name in sample.signed())


def _with(sample: Sample, value: str | None) -> Delivery:
    """The signature replaced, everywhere that it stands; None leaves it out."""
    headers = {key: given for key, given in sample.signed().items() if "signature" not in key.lower()}
    headers.pop("X-Gitlab-Token", None)
    return sample.delivery(headers=headers if value is None else {**headers, _signature(sample): value})


def _bodies() -> dict[str, Case]:
    """Changes of the body under an unchanged signature, for every forge that signs it."""
    changes: dict[str, Case] = {}
    for name, sample in SAMPLES.items():
        if name == "gitlab, token":
            continue
        body = sample.body
        for what, changed in {
            "a commit changed": body.replace(AFTER.encode(), b"3" * 40),
            "a space added": body + b" ",
            "the last byte cut off": body[:-1],
            "no body": b"",
        }.items():
            changes[f"{name}: {what}"] = (sample, sample.delivery(body=changed))
    return changes


def _signatures() -> dict[str, Case]:
    """Changes of the signature over an unchanged body."""
    changes: dict[str, Case] = {}
    for name, sample in SAMPLES.items():
        value = sample.signed()[_signature(sample)]
        for what, changed in {
            "no signature": None,
            "an empty signature": "",
            "the last character changed": value[:-1] + ("0" if value[-1] != "0" else "1"),
            "half a signature": value[: len(value) // 2],
            "no ASCII": value[:-1] + "\u00e9",
        }.items():
            changes[f"{name}: {what}"] = (sample, _with(sample, changed))
    return changes


def _special() -> dict[str, Case]:
    """What one forge's rule must see through."""
    github, gitlab, signed = SAMPLES["github"], SAMPLES["gitlab, token"], SAMPLES["gitlab, signing token"]
    forgejo, generic = SAMPLES["forgejo"], SAMPLES["generic"]
    sha1 = hmac.new(SECRET.encode(), github.body, hashlib.sha1).hexdigest()
    right = github.signed()["X-Hub-Signature-256"]
    stamped = generic.signed()["X-Gitops-Signature"]
    unstamped = hmac.new(SECRET.encode(), generic.body, hashlib.sha256).hexdigest()
    earlier = generic.late(timedelta(minutes=1)).signed()["X-Gitops-Signature"]
    both = {**forgejo.signed(), "X-Gitea-Signature": "0" * 64}
    return {
        "github: SHA-1 only": (github, github.delivery(headers={**github.headers, "X-Hub-Signature": f"sha1={sha1}"})),
        "github: SHA-1 named as SHA-256": (github, _with(github, f"sha256={sha1}")),
        "github: without its prefix": (github, _with(github, right.removeprefix("sha256="))),
        "github: upper case": (github, _with(github, right.upper())),
        "github: signed with nothing": (github, replace(github, secret="").delivery()),
        "gitlab: another token": (gitlab, _with(gitlab, "guess")),
        "gitlab: a token with a space": (gitlab, _with(gitlab, f"{SECRET} ")),
        "gitlab: two tokens": (gitlab, _with(gitlab, f"{SECRET}\n{OTHER}")),
        "gitlab: a wrong signature beside the right token": (
            signed,
            signed.delivery(headers={**signed.signed(), "webhook-signature": "v1,AAAA", "X-Gitlab-Token": SECRET}),
        ),
        "gitlab: another id": (signed, signed.delivery(headers={**signed.signed(), "webhook-id": "another"})),
        "gitlab: another time": (
            signed,
            signed.delivery(headers={**signed.signed(), "webhook-timestamp": "1795000000"}),
        ),
        "gitlab: another version of signatures": (
            signed,
            _with(signed, "v1a" + signed.signed()["webhook-signature"].removeprefix("v1")),
        ),
        "forgejo: one of two signatures is wrong": (forgejo, forgejo.delivery(headers=both)),
        "generic: the time is not signed": (generic, _with(generic, f"{stamped.partition(',')[0]},v1={unstamped}")),
        "generic: the signature of another time": (
            generic,
            _with(generic, f"{stamped.partition(',')[0]},{earlier.partition(',')[2]}"),
        ),
        "generic: two times": (generic, _with(generic, f"t=1,{stamped}")),
        "generic: no time": (generic, _with(generic, stamped.partition(",")[2])),
    }


TAMPERED = {**_bodies(), **_signatures(), **_special()}


def test_there_are_at_least_forty_ways_to_tamper() -> None:
    assert len(TAMPERED) >= 40


@pytest.mark.parametrize(("sample", "delivery"), TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_delivery_is_refused(sample: Sample, delivery: Delivery) -> None:
    assert refusal_of(sample.forge, delivery) is Refusal.SIGNATURE


@pytest.mark.parametrize("name", ["gitlab, signing token", "generic"])
@pytest.mark.parametrize("by", [timedelta(minutes=6), -timedelta(minutes=6)], ids=["late", "early"])
def test_where_time_is_signed_it_must_be_close_to_now(name: str, by: timedelta) -> None:
    sample = SAMPLES[name]

    assert refusal_of(sample.forge, sample.late(by).delivery()) is Refusal.STALE
    assert refusal_of(sample.forge, sample.late(by * 0.8).delivery()) is None


@pytest.mark.parametrize("timestamp", ["", "x", "-1", "1e9", "9" * 40, "\u0661\u0662", "0x10"])
def test_a_time_that_is_no_number_is_never_fresh(timestamp: str) -> None:
    sample = SAMPLES["gitlab, signing token"]
    key = b"twenty-four bytes of key"
    signed = f"{sample.headers['webhook-id']}.{timestamp}.".encode() + sample.body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    headers = {**sample.headers, "webhook-timestamp": timestamp, "webhook-signature": f"v1,{digest}"}

    assert refusal_of("gitlab", sample.delivery(headers=headers), SIGNING) is Refusal.STALE


def test_one_valid_signature_of_several_will_do() -> None:
    """As Standard Webhooks sends them while a key is being changed."""
    sample = SAMPLES["gitlab, signing token"]
    headers = sample.signed()
    headers["webhook-signature"] = f"v1,AAAA v1a,BBBB {headers['webhook-signature']}"

    assert isinstance(outcome_of("gitlab", sample.delivery(headers=headers)), Push)


@pytest.mark.parametrize("line", ["whsec_", "whsec_?", "whsec_é", "whsec_YWJj=YWJj", "é"])
def test_a_line_that_is_no_key_stands_in_the_way_of_no_other(line: str) -> None:
    sample = SAMPLES["gitlab, signing token"]

    for secrets in ((line, SIGNING), (SIGNING, line)):
        assert isinstance(receive(FORGES["gitlab"], sample.delivery(), secrets, ReplayWindow()), Push)
    empty = replace(sample, secret=SIGNING[:6])
    assert receive(FORGES["gitlab"], empty.delivery(), (line,), ReplayWindow()) == Refused(Refusal.SIGNATURE)


MALFORMED = {
    "no JSON": b"{",
    "a list": b"[]",
    "a number": b"7",
    "an empty object": b"{}",
    "no UTF-8": b'{"ref": "\xff"}',
    "two objects": b"{}{}",
    "brackets without end": b"[" * 500_000,
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a number without end": b'{"ref": ' + b"1" * 100_000 + b"}",
    "numbers where texts belong": b'{"ref": 1, "before": 2, "after": 3, "repository": 4, "project": 5, "push": 6}',
    "lists where objects belong": b'{"ref": [], "before": [], "after": [], "repository": [], "object_kind": "push"}',
    "nulls": b'{"ref": null, "repository": null, "project": null, "push": {"changes": [null]}, "changes": [null]}',
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_signed_body_that_the_forge_would_not_send_is_refused(name: str, body: bytes) -> None:
    sample = SAMPLES[name]

    class Raw(Sample):
        @property
        def body(self) -> bytes:
            return body

    raw = Raw(sample.forge, None, sample.headers, sample.secret)
    headers = {
        **raw.signed(),
        **({"X-Forgejo-Signature": raw.signed()["X-Gitea-Signature"]} if "gitea" in raw.forge else {}),
    }

    assert refusal_of(sample.forge, raw.delivery(headers=headers)) in {Refusal.MALFORMED, Refusal.EVENT}


@pytest.mark.parametrize(
    ("sample", "header"),
    [
        (github_push(), "X-GitHub-Event"),
        (gitea_push(), "X-Gitea-Event"),
        (gitlab_push(), "X-Gitlab-Event"),
        (bitbucket_cloud_push(), "X-Event-Key"),
    ],
    ids=["github", "gitea", "gitlab", "bitbucket"],
)
@pytest.mark.parametrize("event", ["", "issues", "PUSH", "push\u00e9"])
def test_an_event_that_is_no_push_is_refused(sample: Sample, header: str, event: str) -> None:
    assert refusal_of(sample.forge, sample.delivery(headers={**sample.signed(), header: event})) is Refusal.EVENT


@pytest.mark.parametrize(
    ("sample", "event"),
    [
        (Sample("github", {"zen": "Keep it simple.", "hook_id": 1}), {"X-GitHub-Event": "ping"}),
        (Sample("bitbucket", {"test": True}), {"X-Event-Key": "diagnostics:ping"}),
        (Sample("gitlab", {"event_name": "project_create"}), {"X-Gitlab-Event": "System Hook"}),
        (Sample("gitea", {"ref": "main", "ref_type": "branch"}), {"X-Gitea-Event": "delete"}),
        (github_push("refs/pull/7/head"), {}),
        (generic_push("refs/notes/commits"), {}),
        (bitbucket_data_center_push(data_center_change("refs/notes/commits")), {}),
    ],
    ids=[
        "github ping",
        "bitbucket ping",
        "gitlab system hook",
        "gitea delete",
        "pull request ref",
        "notes",
        "bitbucket notes",
    ],
)
def test_what_is_genuine_and_no_push_is_accepted_and_ignored(sample: Sample, event: dict[str, str]) -> None:
    given = replace(sample, headers={**sample.headers, **event})

    assert isinstance(outcome_of(sample.forge, given.delivery()), Ignored)


SLASHES = "feature/a/b"


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (github_push(f"refs/heads/{SLASHES}"), RefChange(RefKind.BRANCH, SLASHES, BEFORE, AFTER)),
        (github_push(after=NONE), RefChange(RefKind.BRANCH, "main", BEFORE, "", deleted=True)),
        (github_push(before=NONE), RefChange(RefKind.BRANCH, "main", "", AFTER)),
        (github_push(forced=True), RefChange(RefKind.BRANCH, "main", BEFORE, AFTER, forced=True)),
        (github_push("refs/tags/v1"), RefChange(RefKind.TAG, "v1", BEFORE, AFTER)),
        (gitea_push(f"refs/heads/{SLASHES}"), RefChange(RefKind.BRANCH, SLASHES, BEFORE, AFTER)),
        (gitea_push(after=NONE), RefChange(RefKind.BRANCH, "main", BEFORE, "", deleted=True)),
        (gitlab_push(f"refs/heads/{SLASHES}"), RefChange(RefKind.BRANCH, SLASHES, BEFORE, AFTER)),
        (gitlab_push(after=NONE), RefChange(RefKind.BRANCH, "main", BEFORE, "", deleted=True)),
        (gitlab_push("refs/tags/v1"), RefChange(RefKind.TAG, "v1", BEFORE, AFTER)),
        (bitbucket_cloud_push(cloud_change(SLASHES)), RefChange(RefKind.BRANCH, SLASHES, BEFORE, AFTER)),
        (bitbucket_cloud_push(cloud_change(deleted=True)), RefChange(RefKind.BRANCH, "main", BEFORE, "", deleted=True)),
        (bitbucket_cloud_push(cloud_change(created=True)), RefChange(RefKind.BRANCH, "main", "", AFTER)),
        (
            bitbucket_cloud_push(cloud_change(forced=True)),
            RefChange(RefKind.BRANCH, "main", BEFORE, AFTER, forced=True),
        ),
        (bitbucket_cloud_push(cloud_change("v1", "tag")), RefChange(RefKind.TAG, "v1", BEFORE, AFTER)),
        (
            bitbucket_data_center_push(data_center_change(f"refs/heads/{SLASHES}")),
            RefChange(RefKind.BRANCH, SLASHES, BEFORE, AFTER),
        ),
        (
            bitbucket_data_center_push(data_center_change(after=NONE)),
            RefChange(RefKind.BRANCH, "main", BEFORE, "", deleted=True),
        ),
        (
            bitbucket_data_center_push(data_center_change("refs/tags/v1")),
            RefChange(RefKind.TAG, "v1", BEFORE, AFTER),
        ),
        (generic_push(f"refs/heads/{SLASHES}"), RefChange(RefKind.BRANCH, SLASHES, BEFORE, AFTER)),
        (generic_push(after=NONE), RefChange(RefKind.BRANCH, "main", BEFORE, "", deleted=True)),
    ],
)
def test_what_moved_is_told_alike_by_all_forges(sample: Sample, expected: RefChange) -> None:
    push = outcome_of(sample.forge, sample.delivery())

    assert isinstance(push, Push)
    assert push.changes == (expected,)


@pytest.mark.parametrize(
    "sample",
    [
        bitbucket_cloud_push(cloud_change("old", deleted=True), cloud_change("main"), cloud_change("v1", "tag")),
        bitbucket_data_center_push(
            data_center_change("refs/heads/old", after=NONE),
            data_center_change(),
            data_center_change("refs/tags/v1"),
        ),
    ],
    ids=["cloud", "data center"],
)
def test_one_push_may_move_several_refs(sample: Sample) -> None:
    push = outcome_of("bitbucket", sample.delivery())

    assert isinstance(push, Push)
    assert [(change.name, change.deleted) for change in push.changes] == [("old", True), ("main", False), ("v1", False)]


@pytest.mark.parametrize("sample", [bitbucket_cloud_push(), bitbucket_data_center_push()], ids=["cloud", "data center"])
def test_a_push_that_does_not_say_what_moved_is_a_push(sample: Sample) -> None:
    document = {**sample.document, "changes": [], "push": {"changes": []}}

    push = outcome_of("bitbucket", replace(sample, document=document).delivery())

    assert isinstance(push, Push)
    assert push.changes == ()


def test_without_addresses_a_repository_is_known_by_its_name() -> None:
    sample = bitbucket_data_center_push()
    document = json.loads(sample.body)
    del document["repository"]["links"]

    push = outcome_of("bitbucket", replace(sample, document=document).delivery())

    assert isinstance(push, Push)
    assert push.repositories == ("scm/FLEET/config", "FLEET/config")
