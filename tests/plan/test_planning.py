"""One run's plan: shoots in waves, and what forbids the run."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.errors import Refused, Unreachable, Violation
from gitops.manifest import Manifest
from gitops.ownership.field_record import RECORD_ANNOTATION
from gitops.ownership.owners import Tool
from gitops.plan.changes import Action, Cost
from gitops.plan.document import digest, plan_document
from gitops.plan.observed import Inside, Observed, Unobserved
from gitops.plan.planning import Planned, kinds_inside, make_plan, plan_shoot
from tests.plan.fleet import (
    COMPLETE,
    NOON,
    core,
    declared,
    desired,
    inside,
    live_objects,
    live_shoot,
    observed,
    overlay,
    policy,
    wave,
)

OVERLAY = overlay()


def actions(planned: Planned) -> list[Action]:
    return [change.action for change in planned.plan.changes()]


def test_a_fleet_in_sync_has_nothing_pending() -> None:
    shoot = declared(policy())
    seen = observed(live_shoot(shoot), inside(live_objects(policy())))

    planned = make_plan(desired(shoot), {shoot.target: seen})

    assert actions(planned) == [Action.UNCHANGED, Action.UNCHANGED]
    assert not planned.plan.pending
    assert planned.problems == ()
    planned.require_permission()


def test_shoots_stand_in_their_waves_in_the_order_of_their_names() -> None:
    by = overlay(wave("canary"), wave("fleet"))
    shoots = [
        declared(name=name, in_wave=in_wave) for name, in_wave in (("c", "fleet"), ("b", "canary"), ("a", "fleet"))
    ]

    planned = make_plan(desired(*shoots, by=by), {s.target: observed(live_shoot(s)) for s in shoots})

    assert [(w.name, [shoot.shoot for shoot in w.shoots]) for w in planned.plan.waves] == [
        ("canary", ["garden-local/b"]),
        ("fleet", ["garden-local/a", "garden-local/c"]),
    ]


def test_what_is_inside_an_absent_shoot_is_deferred() -> None:
    creatable, partial = declared(policy(), name="a", spec=COMPLETE), declared(policy(), name="b")
    nothing = {
        shoot.target: Observed(None, NOON, Unobserved("it does not exist yet")) for shoot in (creatable, partial)
    }

    planned = make_plan(desired(creatable, partial), nothing)

    assert actions(planned) == [Action.CREATED, Action.DEFERRED, Action.SKIPPED, Action.DEFERRED]
    assert [change.reason for change in planned.plan.changes()][1::2] == [
        "it does not exist yet",
        "the shoot does not exist",
    ]


@pytest.mark.parametrize(
    ("within", "reason"),
    [
        pytest.param(Unobserved("the shoot is hibernated"), "the shoot is hibernated", id="hibernated"),
        pytest.param(Unreachable("no route"), "unreachable: no route", id="unreachable"),
    ],
)
def test_what_cannot_be_seen_is_deferred_with_the_reason(within: Any, reason: str) -> None:
    shoot = declared(policy())

    planned = make_plan(desired(shoot), {shoot.target: observed(live_shoot(shoot), within)})

    assert actions(planned) == [Action.UNCHANGED, Action.DEFERRED]
    assert planned.plan.changes()[1].reason == reason
    assert not planned.plan.pending


def test_a_shoot_with_nothing_inside_needs_no_look_inside() -> None:
    shoot = declared()

    planned = make_plan(desired(shoot), {shoot.target: observed(live_shoot(shoot), Unobserved("why should we"))})

    assert actions(planned) == [Action.UNCHANGED]


def test_what_an_earlier_run_may_have_left_inside_is_looked_for() -> None:
    before, now = declared(policy()), declared()

    assert kinds_inside(now, live_shoot(before)) == (("config.nri/v1alpha1", "BalloonsPolicy"),)
    assert kinds_inside(now, None) == ()


def test_a_shoot_of_another_tool_forbids_the_run() -> None:
    shoot = declared()
    live = live_shoot(shoot)
    live["metadata"]["labels"] = {"kustomize.toolkit.fluxcd.io/name": "shoots"}

    planned = make_plan(desired(shoot), {shoot.target: observed(live)})

    assert [(problem.file, problem.rule) for problem in planned.problems] == [("clusters/one.yaml", "foreign-owner")]
    with pytest.raises(Refused, match=r"clusters/one.yaml:1: Shoot garden-local/one: .*Flux"):
        planned.require_permission()


def test_a_shoot_of_a_tool_that_the_overlay_adopts_from_is_written() -> None:
    shoot = declared()
    live = live_shoot(shoot)
    live["metadata"]["labels"] = {"kustomize.toolkit.fluxcd.io/name": "shoots"}

    _, problems = plan_shoot(shoot, overlay(adopt=frozenset({Tool.FLUX})), observed(live))

    assert problems == ()


def test_an_unreadable_record_is_refused() -> None:
    shoot = declared()
    live = live_shoot(shoot)
    live["metadata"]["annotations"][RECORD_ANNOTATION] = "{"

    with pytest.raises(Refused, match=r"cannot be read"):
        make_plan(desired(shoot), {shoot.target: observed(live)})


def stale(count: int) -> list[Manifest]:
    return live_objects(*(core("ConfigMap", f"old-{number}") for number in range(count)))


@pytest.mark.parametrize(("count", "allowed"), [(3, True), (4, False)], ids=["within", "over"])
def test_a_run_deletes_no_more_than_its_budget(count: int, *, allowed: bool) -> None:
    shoot = declared(policy())
    by = overlay(max_deletions=3)
    seen = observed(live_shoot(shoot), inside([*live_objects(policy()), *stale(count)]))

    planned = make_plan(desired(shoot, by=by), {shoot.target: seen})

    assert planned.plan.summary()["pruned"] == count
    assert [problem.rule for problem in planned.problems] == ([] if allowed else ["deletion-budget"])


def test_the_budget_is_for_the_run_and_not_for_a_shoot() -> None:
    shoots = [declared(policy(), name=name) for name in ("a", "b")]
    seen = {
        shoot.target: observed(live_shoot(shoot), inside([*live_objects(policy()), *stale(2)], name=name))
        for shoot, name in zip(shoots, "ab", strict=True)
    }

    planned = make_plan(desired(*shoots, by=overlay(max_deletions=3)), seen)

    assert [problem.rule for problem in planned.problems] == ["deletion-budget"]
    assert "deletes 4 objects and the budget is 3" in planned.problems[0].message


def test_an_overlay_that_declares_nothing_inside_any_shoot_prunes_nothing() -> None:
    shoot = declared()
    before = live_shoot(declared(policy()))

    planned = make_plan(desired(shoot, by=overlay(max_deletions=0)), {shoot.target: observed(before, inside(stale(2)))})

    assert planned.plan.summary()["pruned"] == 0
    skipped = [change for change in planned.plan.changes() if change.action is Action.SKIPPED]
    assert len(skipped) == 2
    assert "which may be a mistake" in skipped[0].reason
    assert planned.problems == ()


def test_one_shoot_that_declares_nothing_is_pruned_where_others_declare_something() -> None:
    empty, full = declared(name="a"), declared(policy(), name="b")
    seen = {
        empty.target: observed(live_shoot(declared(policy(), name="a")), inside(stale(1), name="a")),
        full.target: observed(live_shoot(full), inside(live_objects(policy()), name="b")),
    }

    assert make_plan(desired(empty, full), seen).plan.summary()["pruned"] == 1


def notes(names: list[str], nodes: list[Manifest]) -> tuple[str, ...]:
    objects = [policy(name) for name in names] or [core("ConfigMap", "c")]
    shoot = declared(*objects)
    within = Inside({}, tuple(nodes), frozenset())
    return plan_shoot(shoot, OVERLAY, observed(live_shoot(shoot), within))[0].notes


def node(name: str, **labels: str) -> Manifest:
    return {"metadata": {"name": name, "labels": {f"config.nri/{key}": value for key, value in labels.items()}}}


def test_nodes_that_would_have_no_configuration_are_noted() -> None:
    nodes = [node("n1"), node("n2", group="gold"), node("n3", group="silver")]

    assert notes(["default", "group.gold"], nodes) == ("1 of 3 nodes would have no configuration, among them n3",)
    assert notes(["default", "group.gold", "group.silver"], nodes) == ()
    assert notes([], nodes) == ()


def scene() -> tuple[Any, dict[str, Observed]]:
    """A bit of everything."""
    shoots = [
        declared(policy(pinCPU=True, pinMemory=False), core("ConfigMap", "c", data={"a": "1", "b": "2"}), name=name)
        for name in ("a", "b")
    ] + [declared(name="c", spec={**COMPLETE, "purpose": "x"})]
    live = live_shoot(shoots[0], spec={"region": "x", "extensions": [{"type": "nri", "disabled": True}]})
    seen = {
        shoots[0].target: observed(
            live, inside([*live_objects(policy(pinCPU=False, other=1)), *stale(3)], name="a", nodes=2)
        ),
        shoots[1].target: observed(live_shoot(shoots[1]), Unreachable("no route")),
        shoots[2].target: Observed(None, NOON, Unobserved("it does not exist yet")),
    }
    return desired(*shoots), seen


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same JSON with its maps in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(element, chance) for element in value] if isinstance(value, list) else value


def turned(seen: Observed, chance: random.Random) -> Observed:
    within = seen.inside
    if isinstance(within, Inside):
        within = Inside(shuffled(dict(within.objects), chance), within.nodes, within.unserved, within.dry_runs)
    return Observed(shuffled(seen.shoot, chance), seen.server_time, within)


@given(st.randoms(use_true_random=False))
def test_the_same_world_gives_the_same_digest_in_whatever_order_it_is_read(chance: random.Random) -> None:
    wanted, seen = scene()
    again = {target: turned(seen[target], chance) for target in shuffled(dict(seen), chance)}

    first, second = make_plan(wanted, seen).plan, make_plan(wanted, again).plan

    assert digest(second) == digest(first)
    assert plan_document(second) == plan_document(first)


def test_everything_in_the_scene_is_counted() -> None:
    planned = make_plan(*scene())

    assert planned.plan.summary() == {
        "created": 2,
        "configured": 2,
        "pruned": 3,
        "unchanged": 1,
        "deferred": 2,
        "skipped": 0,
    }
    assert planned.plan.pending
    assert {change.cost for change in planned.plan.changes()} == {Cost.NONE, Cost.PINNING}


def test_every_problem_is_told() -> None:
    planned = Planned(
        make_plan(*scene()).plan,
        (Violation("a.yaml", 1, "x", "one", "first"), Violation("b.yaml", 2, "y", "two", "second")),
    )

    with pytest.raises(Refused, match=r"(?s)first.*second"):
        planned.require_permission()
