from __future__ import annotations

import re
from dataclasses import replace

import click
import pytest
from hypothesis import given

from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, FieldChange, Plan, ShootPlan, WavePlan
from gitops.plan.masking import MASK
from gitops.report.plan_text import plan_text
from gitops.report.style import PLAIN, Colour, Detail, Style
from tests.report.approval import approve
from tests.report.plans import DIGEST, PLANS, big_plan, enabling, example_plan, policy_ref, resizing, unchanged

COLOURED = Style(colour=Colour.ANSI)
EVERYTHING = Style(detail=Detail.EVERYTHING)


def one_wave(*shoots: ShootPlan) -> Plan:
    """A plan of one wave."""
    return replace(example_plan(), waves=(WavePlan("canary", shoots),), warnings=())


def field_of(live: object, desired: object, action: Action = Action.CONFIGURED) -> Plan:
    """A plan in which one field changes."""
    field = FieldChange(("spec", "value"), live, desired, "")
    return one_wave(ShootPlan("garden-a/s", (Change(policy_ref("garden-a/s"), action, (field,)),)))


@pytest.mark.parametrize(
    ("name", "style"), [("plan.txt", PLAIN), ("plan-everything.txt", EVERYTHING)], ids=["changes", "everything"]
)
def test_a_plan_reads_as_approved(name: str, style: Style) -> None:
    approve(name, plan_text(example_plan(), DIGEST, style))


def test_colours_only_repeat_what_the_plain_text_says() -> None:
    coloured = plan_text(example_plan(), DIGEST, COLOURED)

    assert coloured != click.unstyle(coloured)
    assert click.unstyle(coloured) == plan_text(example_plan(), DIGEST, PLAIN)


def test_the_totals_count_objects_by_action() -> None:
    *_, totals, identity = plan_text(example_plan(), DIGEST, PLAIN).splitlines()

    assert totals == "Plan: 1 to create, 26 to configure, 1 to prune; 13 unchanged, 1 deferred, 1 skipped."
    assert identity == "Revision 1a2b3c4d5e6f, digest sha256:0123456789ab."


def test_unchanged_shoots_are_one_line() -> None:
    text = plan_text(one_wave(*(unchanged(f"garden-a/s-{n}") for n in range(40))), DIGEST, PLAIN)

    assert "  = 40 shoots unchanged\n" in text
    assert "garden-a" not in text


def test_shoots_that_change_alike_are_told_once() -> None:
    plans = [ShootPlan(name, (enabling(name), resizing(name, n))) for n, name in enumerate(["a/x", "a/y", "b/z"], 2)]
    text = plan_text(one_wave(*plans), DIGEST, PLAIN)

    assert text.count("/spec/extensions/[type=cri-resmgr-extension]/disabled") == 1
    assert "same in 2 more shoots: a/y, b/z" in text
    assert "2 to 4 nodes will use it" in text


@pytest.mark.parametrize(
    "other",
    [
        replace(enabling("a/y"), fields=(replace(enabling("a/y").fields[0], live=None),)),
        replace(enabling("a/y"), fields=(replace(enabling("a/y").fields[0], manager="argocd"),)),
        replace(enabling("a/y"), reason="takes over from overlay old"),
        replace(enabling("a/y"), action=Action.DEFERRED),
    ],
    ids=["live value", "manager", "reason", "action"],
)
def test_shoots_that_change_otherwise_are_told_apart(other: Change) -> None:
    text = plan_text(one_wave(ShootPlan("a/x", (enabling("a/x"),)), ShootPlan("a/y", (other,))), DIGEST, PLAIN)

    assert "same in" not in text
    assert "\n  a/x\n" in text
    assert "\n  a/y\n" in text


def test_notes_are_told_of_each_shoot_of_a_group() -> None:
    plans = [ShootPlan(name, (enabling(name),), (f"note about {name}",)) for name in ("a/x", "a/y")]

    text = plan_text(one_wave(*plans), DIGEST, PLAIN)

    assert "Note: a/x: note about a/x" in text
    assert "Note: a/y: note about a/y" in text


@pytest.mark.parametrize(
    ("live", "desired", "shown"),
    [
        (True, False, "true → false"),
        ("true", True, '"true" → true'),
        (ABSENT, 3, "(absent) → 3"),
        (3, ABSENT, "3 → (absent)"),
        (None, "", 'null → ""'),
        ("a\nb", "a\nc", r'"a\nb" → "a\nc"'),
        ([1], [1, 2], "[1] → [1, 2]"),
        ("\x1b[2J", "\u202e", r'"\u001b[2J" → "\u202e"'),
        (MASK, MASK, '"(sensitive) before" → "(sensitive) after"'),
        (MASK, ABSENT, "(sensitive) → (absent)"),
    ],
    ids=["boolean", "text or boolean", "added", "removed", "null", "lines", "list", "control", "masked", "unmasking"],
)
def test_a_short_field_is_one_line(live: object, desired: object, shown: str) -> None:
    assert f"        /spec/value  {shown}\n" in plan_text(field_of(live, desired), DIGEST, PLAIN)


def test_a_created_object_shows_what_it_will_hold_only() -> None:
    text = plan_text(field_of(ABSENT, 3, Action.CREATED), DIGEST, PLAIN)

    assert "        /spec/value  3\n" in text


def creating(shoot: str, *, name: str = "default", cpus: int = 4) -> Change:
    """A policy that is not there yet."""
    spec = {"balloonTypes": [{"name": f"a-balloon-with-a-long-name-{n}", "minCPUs": cpus} for n in range(5)]}
    return Change(policy_ref(shoot, name), Action.CREATED, (FieldChange(("spec",), ABSENT, spec, ""),))


def test_of_what_a_created_object_holds_only_the_size_is_told_unless_asked_for() -> None:
    plan = one_wave(ShootPlan("a/x", (creating("a/x"),)))

    assert "        /spec  11 lines\n\nWhat new objects hold is shown by" in plan_text(plan, DIGEST, PLAIN)
    assert "a-balloon" not in plan_text(plan, DIGEST, PLAIN)
    assert "+ balloonTypes:\n" in plan_text(plan, DIGEST, EVERYTHING)
    assert "is shown by" not in plan_text(plan, DIGEST, EVERYTHING)


def test_the_same_creation_in_shoots_that_differ_otherwise_is_told_once() -> None:
    plans = [
        ShootPlan("a/x", (creating("a/x"),)),
        ShootPlan("a/y", (creating("a/y"), enabling("a/y"))),
        ShootPlan("a/z", (creating("a/z", cpus=2), resizing("a/z"))),
    ]
    text = plan_text(one_wave(*plans), DIGEST, PLAIN)

    assert text.count("/spec  11 lines") == 2
    assert text.count("        the same as in a/x\n") == 1
    assert "the same as in" not in plan_text(one_wave(*plans), DIGEST, EVERYTHING)


def test_a_long_difference_that_was_told_is_referred_to_and_a_short_one_repeated() -> None:
    plans = [
        ShootPlan("a/x", (enabling("a/x"), resizing("a/x"))),
        ShootPlan("a/y", (enabling("a/y"), resizing("a/y"), creating("a/y"))),
    ]
    text = plan_text(one_wave(*plans), DIGEST, PLAIN)

    assert text.count("/spec/balloonTypes") == 1
    assert text.count("true → false") == 2
    assert text.count("the same as in a/x") == 1


def test_what_was_told_of_one_wave_is_told_again_of_the_next() -> None:
    waves = (
        WavePlan("canary", (ShootPlan("a/x", (creating("a/x"),)),)),
        WavePlan("fleet", (ShootPlan("a/y", (creating("a/y"),)),)),
    )

    assert plan_text(replace(example_plan(), waves=waves), DIGEST, PLAIN).count("/spec  11 lines") == 2


def test_a_long_text_is_cut_and_its_size_told() -> None:
    text = plan_text(field_of("short", "y" * 500), DIGEST, PLAIN)

    assert '\n            "short"\n' in text
    assert "… (500 characters)\n" in text
    assert max(map(len, text.splitlines())) <= PLAIN.width
    assert "y" * 500 in plan_text(field_of("short", "y" * 500), DIGEST, EVERYTHING)


def test_a_big_difference_is_cut_with_a_hint() -> None:
    plan = field_of([f"item {n}" for n in range(50)], [f"entry {n}" for n in range(50)])

    assert "… 84 more lines; `gitops diff` shows all" in plan_text(plan, DIGEST, PLAIN)
    assert "more lines" not in plan_text(plan, DIGEST, EVERYTHING)


def test_a_difference_too_big_to_find_is_counted() -> None:
    plan = field_of([str(n) for n in range(3000)], [f"{n}!" for n in range(3000)])

    assert "- (3000 lines, too many to compare here)" in plan_text(plan, DIGEST, PLAIN)


def test_ignored_differences_of_an_unchanged_object_are_told() -> None:
    ignored = FieldChange(("spec", "x"), 1, 2, "somebody", "", "ignored by the overlay")
    plan = one_wave(ShootPlan("a/x", (Change(policy_ref("a/x"), Action.UNCHANGED, (ignored,)),)))

    text = plan_text(plan, DIGEST, PLAIN)

    assert "= unchanged   BalloonsPolicy kube-system/default" in text
    assert "/spec/x  1 → 2  (kept, ignored by the overlay; by somebody)" in text


def test_ignored_differences_are_faint() -> None:
    coloured = plan_text(example_plan(), DIGEST, COLOURED).splitlines()

    [ignored] = [line for line in coloured if "kept, ignored by the overlay" in line]
    assert ignored.startswith("\x1b[2m")


def test_a_note_about_an_unchanged_shoot_is_told() -> None:
    plan = one_wave(replace(unchanged("a/x"), notes=("6 of 6 nodes would have no configuration",)))

    assert "    Note: 6 of 6 nodes would have no configuration\n" in plan_text(plan, DIGEST, PLAIN)


def test_a_structure_that_becomes_a_plain_value_is_a_block() -> None:
    text = plan_text(field_of({f"key-{n}": "value" for n in range(9)}, 3), DIGEST, PLAIN)

    assert "          - key-8: value\n          + 3\n\n" in text


def test_a_text_that_ends_in_empty_lines_is_shown_without_the_end_mark_of_yaml() -> None:
    text = plan_text(field_of("a\n\n", "b\n" * 60 + "\n"), DIGEST, EVERYTHING)

    assert "+   b\n" in text
    assert "..." not in text


@given(plan=PLANS)
def test_no_value_steers_a_terminal_or_passes_for_a_line(plan: Plan) -> None:
    for style in (PLAIN, EVERYTHING, Style(width=10)):
        text = plan_text(plan, DIGEST, style)
        lines = text.split("\n")
        assert all(line.isprintable() for line in lines)
        assert [line for line in lines if line.startswith("Plan: ")] == [lines[-3]]
        assert sum(line.startswith("Wave ") for line in lines) == len(plan.waves)
        text.encode()


@given(plan=PLANS)
def test_everything_has_a_line_for_every_object(plan: Plan) -> None:
    text = plan_text(replace(plan, waves=tuple(map(_told_apart, plan.waves))), DIGEST, EVERYTHING)

    heads = re.findall(r"^ {4}[-+~=!…] (?:created|configured|pruned|unchanged|deferred|skipped) ", text, re.MULTILINE)
    assert len(heads) == len(plan.changes())


def _told_apart(wave: WavePlan) -> WavePlan:
    """No two shoots of it change alike."""
    shoots = (
        replace(shoot, changes=tuple(replace(c, reason=f"x{n}") for c in shoot.changes))
        for n, shoot in enumerate(wave.shoots)
    )
    return replace(wave, shoots=tuple(shoots))


def test_a_plan_of_5000_shoots_is_told_in_a_few_lines() -> None:
    text = plan_text(big_plan(5000), DIGEST, PLAIN)

    assert len(text.splitlines()) < 50
