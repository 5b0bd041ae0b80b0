from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, FieldChange, Plan, ShootPlan, WavePlan
from gitops.report.plan_markdown import LIMIT, code, plan_markdown, prose
from tests.report.approval import approve
from tests.report.plans import DIGEST, PLANS, TEXTS, big_plan, enabling, example_plan, policy_ref

GITHUB = MarkdownIt("commonmark").enable("table").enable("strikethrough")
TAGS = {"p", "strong", "code", "h3", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre"}


def test_a_plan_is_a_comment_as_approved() -> None:
    approve("plan.md", plan_markdown(example_plan(), DIGEST))


@given(text=TEXTS, put=st.sampled_from([prose, code]))
def test_a_text_from_outside_renders_as_itself(text: str, put: Callable[[str], str]) -> None:
    rendered = GITHUB.renderInline(f"before {put(text)} after")

    shown = html.unescape(re.sub(r"</?code>", "", rendered)).replace("\u200b", "")
    assert "<" not in re.sub(r"</?code>", "", rendered)
    assert shown.split() == f"before {_visible(text)} after".split()


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@given(plan=PLANS)
def test_no_value_adds_markup(plan: Plan) -> None:
    rendered = GITHUB.render(plan_markdown(plan, DIGEST))

    assert {tag.lower() for tag in re.findall(r"<\s*/?\s*([a-zA-Z]+[0-9]?)", rendered)} <= TAGS | {"blockquote"}
    assert rendered.count("<details>") == rendered.count("</details>")


@given(plan=PLANS)
def test_nobody_is_mentioned(plan: Plan) -> None:
    rendered = GITHUB.render(plan_markdown(plan, DIGEST))
    outside_code = re.sub(r"<(code|pre)[^>]*>.*?</\1>", "", rendered, flags=re.DOTALL)

    assert not re.search(r"[@#](?!\u200b)", html.unescape(outside_code))


@given(plan=PLANS, limit=st.integers(0, 5000))
def test_a_comment_is_never_longer_than_allowed(plan: Plan, limit: int) -> None:
    assert len(plan_markdown(plan, DIGEST, limit)) <= limit


def test_what_has_no_room_is_counted() -> None:
    shoots = []
    for number in range(400):
        field = FieldChange(("spec", "x"), ABSENT, f"value of {number}", "")
        target = f"garden-a/s-{number:03}"
        shoots.append(ShootPlan(target, (Change(policy_ref(target), Action.CONFIGURED, (field,)),)))
    text = plan_markdown(replace(example_plan(), waves=(WavePlan("fleet", tuple(shoots)),)), DIGEST)

    shown = text.count("<details>")
    assert len(text) <= LIMIT
    assert 50 < shown < 400
    assert f"**{400 - shown} shoots left out**" in text
    assert "gitops plan dev" in text


def test_a_group_that_has_no_room_counts_with_all_its_shoots() -> None:
    shoots = tuple(ShootPlan(f"a/s-{n}", (enabling(f"a/s-{n}"),)) for n in range(90))

    text = plan_markdown(replace(example_plan(), waves=(WavePlan("fleet", shoots),), warnings=()), DIGEST, 900)

    assert "**90 shoots left out**" in text


@pytest.mark.parametrize("limit", range(1500, 6000, 150))
def test_details_never_take_the_room_of_the_line_that_counts_them(limit: int) -> None:
    text = plan_markdown(example_plan(), DIGEST, limit)

    assert text.startswith("### Plan for ")
    assert text.rstrip().endswith(("</details>", "shows everything.", "</code>"))


def test_shoots_that_change_alike_share_their_details() -> None:
    shoots = tuple(ShootPlan(f"a/s-{n}", (enabling(f"a/s-{n}"),)) for n in range(90))
    text = plan_markdown(replace(example_plan(), waves=(WavePlan("fleet", shoots),)), DIGEST)

    assert text.count("<details>") == 1
    assert "and 89 more shoots" in text
    assert "and 39 more" in text


@pytest.mark.parametrize("ticks", ["```", "`````"])
def test_a_fence_is_longer_than_any_in_it(ticks: str) -> None:
    field = FieldChange(("data", "readme"), f"a\n{ticks}\nb", f"a\n{ticks}\nc", "")
    change = Change(policy_ref("a/s"), Action.CONFIGURED, (field,))
    text = plan_markdown(replace(example_plan(), waves=(WavePlan("w", (ShootPlan("a/s", (change,)),)),)), DIGEST)

    assert f"{ticks}`diff\n" in text
    assert text.rstrip().endswith("</details>")


def test_a_plan_of_5000_shoots_is_told_briefly() -> None:
    text = plan_markdown(big_plan(5000), DIGEST)

    assert len(text) < 20_000
