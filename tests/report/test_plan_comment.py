from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gitops.plan.changes import Plan
from gitops.report.plan_comment import fenced, plan_comment, problems_comment, refusal_comment
from tests.report.plans import DIGEST, PLANS, example_plan

MARKDOWN = MarkdownIt("commonmark")


@settings(max_examples=60)
@given(plan=PLANS)
def test_without_html_nothing_of_a_plan_is_markup(plan: Plan) -> None:
    rendered = MARKDOWN.render(plan_comment(plan, DIGEST, limit=32_768, html=False))

    assert re.fullmatch(r"<pre><code>[^<]*</code></pre>\n", rendered)


def test_with_html_details_are_folded() -> None:
    assert "<details>" in plan_comment(example_plan(), DIGEST, limit=65_536, html=True)
    assert "<details>" not in plan_comment(example_plan(), DIGEST, limit=32_768, html=False)


@settings(max_examples=60)
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


def test_no_line_of_a_block_is_a_command_to_a_bot() -> None:
    text = refusal_comment("dev", "test failed: no```\n/approve\n/merge", 5000)

    assert not [line for line in text.splitlines() if line.startswith("/")]
    assert " /approve\n /merge\n" in MARKDOWN.render(text)


def test_why_a_plan_would_be_refused_stands_below_it() -> None:
    rendered = MARKDOWN.render("text\n" + problems_comment("overlays/dev/overlay.yaml: `<b>` [deletion-budget]", 5000))

    assert rendered.startswith("<p>text</p>\n<h3>This plan would be refused</h3>\n<pre><code>")
    assert "<b>" not in rendered
