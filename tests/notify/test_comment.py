"""One comment per overlay, whatever else is said on the pull request."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gitops.notify.comment import Published, mark, marked, publish
from gitops.notify.web import Undelivered
from gitops.plan.changes import Plan
from gitops.report.plan_comment import fenced, plan_comment, refusal_comment
from tests.notify.conftest import Client
from tests.notify.stub_forge import ME, Fault, StubForge
from tests.report.plans import DIGEST, PLANS, example_plan

PULL = 7
MARKDOWN = MarkdownIt("commonmark")


def test_a_comment_is_made_once_and_then_changed(forge: StubForge, client: Client, kind: str) -> None:
    forge.comment(PULL, "looks good", "jo")
    texts = [marked("dev", text) for text in ("one", "one", "two", "three")]

    done = [publish(client(kind), PULL, "dev", text) for text in texts]

    assert done == [Published.CREATED, Published.UNCHANGED, Published.UPDATED, Published.UPDATED]
    assert [comment["text"] for comment in forge.comments[PULL]] == ["looks good", texts[-1]]


def test_each_overlay_has_its_own(forge: StubForge, client: Client, kind: str) -> None:
    for overlay in ("dev", "dev-2", "prod"):
        publish(client(kind), PULL, overlay, marked(overlay, f"plan of {overlay}"))
    publish(client(kind), PULL, "dev", marked("dev", "another"))

    texts = [comment["text"].splitlines()[-1] for comment in forge.comments[PULL]]
    assert texts == ["another", "plan of dev-2", "plan of prod"]


def test_it_is_found_among_hundreds(forge: StubForge, client: Client, kind: str) -> None:
    for number in range(150):
        forge.comment(PULL, f"comment {number}", "jo")
    publish(client(kind), PULL, "dev", marked("dev", "one"))
    for number in range(150):
        forge.comment(PULL, f"comment {number}", "jo")

    assert publish(client(kind), PULL, "dev", marked("dev", "two")) is Published.UPDATED
    assert len(forge.comments[PULL]) == 301


def test_somebody_elses_comment_with_our_mark_is_not_ours(forge: StubForge, client: Client, kind: str) -> None:
    """Else they could have us put the plan into a comment whose text they may change afterwards."""
    forge.comment(PULL, marked("dev", "trust me, it is harmless"), "mallory")

    assert publish(client(kind), PULL, "dev", marked("dev", "the plan")) is Published.CREATED
    assert publish(client(kind), PULL, "dev", marked("dev", "the next plan")) is Published.UPDATED
    assert [comment["author"] for comment in forge.comments[PULL]] == ["mallory", ME]
    assert "trust me" in forge.comments[PULL][0]["text"]


@pytest.mark.parametrize("kind", ["github", "bitbucket"])
def test_a_token_that_is_no_users_knows_its_comment_by_being_a_bot(forge: StubForge, client: Client, kind: str) -> None:
    forge.me = ""
    forge.comment(PULL, marked("dev", "trust me"), "mallory")
    publish(client(kind), PULL, "dev", marked("dev", "one"))

    assert publish(client(kind), PULL, "dev", marked("dev", "two")) is Published.UPDATED
    assert len(forge.comments[PULL]) == 2


def test_a_mark_inside_a_sentence_is_none(forge: StubForge, client: Client) -> None:
    forge.comment(PULL, f"what is `{mark('dev')}`?", ME)

    assert publish(client("github"), PULL, "dev", marked("dev", "one")) is Published.CREATED


def test_line_ends_of_a_forge_are_no_change(forge: StubForge, client: Client) -> None:
    publish(client("gitlab"), PULL, "dev", marked("dev", "one\n\ntwo\n"))
    comment = forge.comments[PULL][0]
    comment["text"] = comment["text"].replace("\n", "\r\n").rstrip()

    assert publish(client("gitlab"), PULL, "dev", marked("dev", "one\n\ntwo\n")) is Published.UNCHANGED


def test_a_lost_answer_makes_no_second_comment(forge: StubForge, client: Client) -> None:
    forge.faults.append(Fault(reset=True, done=True, method="POST"))
    with pytest.raises(Undelivered):
        publish(client("gitea"), PULL, "dev", marked("dev", "one"))

    assert publish(client("gitea"), PULL, "dev", marked("dev", "one")) is Published.UNCHANGED
    assert len(forge.comments[PULL]) == 1


@pytest.mark.parametrize("overlay", ["dev", "a b", "x) <b>", "öko", "a\nb", "--"])
def test_nobody_sees_the_mark(overlay: str) -> None:
    assert MARKDOWN.render(marked(overlay, "# Plan")) == "<h1>Plan</h1>\n"
    assert mark(overlay).isascii()
    assert "\n" not in mark(overlay)


@settings(deadline=None, max_examples=60)
@given(plan=PLANS)
def test_without_html_nothing_of_a_plan_is_markup(plan: Plan) -> None:
    rendered = MARKDOWN.render(plan_comment(plan, DIGEST, limit=32_768, html=False))

    assert re.fullmatch(r"<pre><code>[^<]*</code></pre>\n", rendered)


def test_with_html_details_are_folded() -> None:
    assert "<details>" in plan_comment(example_plan(), DIGEST, limit=65_536, html=True)
    assert "<details>" not in plan_comment(example_plan(), DIGEST, limit=32_768, html=False)


@settings(deadline=None, max_examples=60)
@given(lines=st.lists(st.text(st.sampled_from("ab`<@\u202e "), max_size=30), max_size=40), limit=st.integers(120, 1500))
def test_a_block_is_never_longer_than_allowed_and_says_what_it_leaves_out(lines: list[str], limit: int) -> None:
    text = fenced("\n".join(lines), limit)

    assert len(text) <= limit
    shown = MARKDOWN.render(text)
    assert shown.startswith("<pre><code>")
    total = len("\n".join(lines).rstrip("\n").split("\n"))
    left = int(found[1]) if (found := re.search(r"(\d+) more lines? left out", text)) else 0
    assert text.count("\n") - (4 if left else 2) + left >= total - 1


def test_a_refusal_is_told_in_the_words_of_the_terminal() -> None:
    text = refusal_comment("dev", "overlays/dev/overlay.yaml:3: no <script>\n```\n@team", 5000)
    rendered = MARKDOWN.render(text)

    assert rendered.startswith("<h3>No plan</h3>\n<pre><code>Overlay dev cannot be rolled out")
    assert "&lt;script&gt;" in rendered
    assert rendered.endswith("@team\n</code></pre>\n")
