from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitops.trigger.push import Push, Refusal, Refused
from gitops.trigger.receiving import FORGES, receive
from gitops.trigger.replay import LIMIT, WINDOW, ReplayWindow
from gitops.trigger.webhook.signatures import TOLERANCE
from tests.trigger.samples import NOW, SAMPLES, SECRETS, Sample, github_push


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_what_was_accepted_is_not_accepted_again(sample: Sample) -> None:
    seen = ReplayWindow()

    assert isinstance(receive(FORGES[sample.forge], sample.delivery(), SECRETS, seen), Push)
    assert receive(FORGES[sample.forge], sample.delivery(), SECRETS, seen) == Refused(Refusal.REPLAY)


def test_another_name_for_the_same_body_is_a_replay_as_names_are_not_signed() -> None:
    seen, sample = ReplayWindow(), github_push()
    receive(FORGES["github"], sample.delivery(), SECRETS, seen)

    renamed = sample.delivery(headers={**sample.signed(), "X-GitHub-Delivery": "another"})

    assert receive(FORGES["github"], renamed, SECRETS, seen) == Refused(Refusal.REPLAY)


@pytest.mark.parametrize("name", ["generic", "gitlab, token", "gitlab, signing token"])
def test_a_branch_that_goes_to_and_fro_is_told_each_time(name: str) -> None:
    seen, sample = ReplayWindow(), SAMPLES[name]
    forge = FORGES[sample.forge]
    again = replace(sample, sent=NOW + timedelta(seconds=1), headers=_named_anew(sample.headers))

    first, second = (receive(forge, told.delivery(), SECRETS, seen) for told in (sample, again))

    assert sample.body == again.body
    assert isinstance(first, Push)
    assert isinstance(second, Push)


def _named_anew(headers: dict[str, str]) -> dict[str, str]:
    return {key: "another" if key.lower().endswith(("uuid", "webhook-id")) else value for key, value in headers.items()}


def test_what_was_refused_may_be_delivered_again() -> None:
    seen, sample = ReplayWindow(), github_push()
    receive(FORGES["github"], sample.delivery(), ("a secret of before",), seen)

    assert isinstance(receive(FORGES["github"], sample.delivery(), SECRETS, seen), Push)


def test_the_window_outlasts_every_time_that_a_signature_is_accepted() -> None:
    assert WINDOW > 2 * TOLERANCE


def test_it_forgets_with_time() -> None:
    seen = ReplayWindow()
    seen.first_time("a", b"a", NOW)

    assert not seen.first_time("a", b"b", NOW + WINDOW - timedelta(seconds=1))
    assert seen.first_time("a", b"a", NOW + WINDOW)


def test_it_never_holds_more_than_its_limit() -> None:
    seen = ReplayWindow()
    for number in range(LIMIT + 100):
        seen.first_time(f"name {number}", b"body %d" % number, NOW)

    assert len(seen) == 2 * LIMIT
    assert not seen.first_time("", b"body %d" % (LIMIT + 99), NOW)
