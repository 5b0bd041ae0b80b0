"""What an approval covers: exactly what the approver could see."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitops.control.control import NOTHING_ASKED, Control
from gitops.desired.compose import Desired, DesiredShoot
from gitops.desired.overlay import ApprovalRule, Overlay
from gitops.errors import Unreachable
from gitops.manifest import Manifest
from gitops.nri.prerequisites.wanted import Demand, Prerequisites
from gitops.plan.observed import NO_REGISTRATIONS, Inside, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.plan.planning import make_plan
from gitops.rollout.approval import approval_of, approved, is_covered, sights
from tests.plan.fleet import (
    REVISION,
    TARGET,
    core,
    declared,
    desired,
    dry_run,
    inside,
    live_objects,
    live_shoot,
    observed,
    overlay,
    policy,
    ref,
    wave,
)

THEN = datetime(2026, 11, 30, 10, tzinfo=UTC)
KIND = ("config.nri/v1alpha1", "BalloonsPolicy")
ASKING = overlay(wave("all", approval=ApprovalRule.REQUIRED))


def outlook(shoot: DesiredShoot, seen: Observed, by: Overlay = ASKING, revision: str = REVISION) -> Outlook:
    wanted = replace(desired(shoot, by=by), revision=revision)
    return Outlook(wanted, {shoot.target: seen}, NO_REGISTRATIONS)


def agreed(seen: Outlook, control: Control = NOTHING_ASKED) -> Control:
    """What has been asked when somebody has approved of what is seen."""
    plan = make_plan(seen.desired, seen.shoots).plan
    return approved(control, approval_of(plan, "sha256:…", seen, "jane", THEN), seen)


def covered(control: Control, seen: Outlook, *, nodes: bool = False) -> bool:
    plan = make_plan(seen.desired, seen.shoots).plan
    (sight,) = sights(plan, seen)
    return is_covered(sight.asks(nodes=nodes), TARGET, control)


def holding(*objects: Manifest, **more: Any) -> Inside:
    """A shoot that holds these, and was asked what the declared policy would make of them."""
    there = live_objects(*objects)
    found = inside(there, **more)
    runs = {} if KIND in found.unserved else {ref(policy()): dry_run(there[0] if there else None, policy())}
    return replace(found, dry_runs=runs)


WITH_POLICY = declared(policy())
LIVE = live_shoot(WITH_POLICY)
BARE = {**LIVE, "spec": {}}
OTHER = policy(pinCPU=False)
THIRD = policy(pinCPU=False, pinMemory=True)


@pytest.mark.parametrize(
    ("approver_saw", "run_sees", "is_allowed"),
    [
        pytest.param(observed(LIVE, holding(OTHER)), observed(LIVE, holding(OTHER)), True, id="the-same-change"),
        pytest.param(observed(LIVE, holding(OTHER)), observed(LIVE, holding(THIRD)), False, id="other-live-values"),
        pytest.param(observed(LIVE, holding()), observed(LIVE, holding()), True, id="the-same-creation"),
        pytest.param(observed(LIVE, holding()), observed(LIVE, holding(OTHER)), False, id="created-by-somebody-else"),
        pytest.param(observed(LIVE, holding(OTHER)), observed(LIVE, holding()), False, id="deleted-by-somebody-else"),
        pytest.param(observed(BARE, holding(OTHER)), observed(LIVE, holding()), True, id="gone-with-the-extension"),
        pytest.param(observed(BARE, holding(OTHER)), observed(LIVE, holding(OTHER)), True, id="half-done"),
        pytest.param(
            observed(LIVE, holding(unserved=[KIND])), observed(LIVE, holding(OTHER)), True, id="not-served-then-there"
        ),
        pytest.param(
            observed(None, Unobserved("no shoot")), observed(LIVE, holding(OTHER)), True, id="no-shoot-then-there"
        ),
        pytest.param(
            observed(LIVE, Unreachable("no answer")), observed(LIVE, holding()), False, id="unreachable-then-there"
        ),
        pytest.param(
            observed(BARE, Unreachable("no answer")),
            observed(BARE, Unreachable("no answer")),
            True,
            id="the-shoot-alone",
        ),
        pytest.param(observed(LIVE, holding(policy())), observed(BARE, holding(policy())), False, id="shoot-changed"),
        pytest.param(
            observed(LIVE, holding(OTHER)),
            observed(LIVE, holding(OTHER, core("ConfigMap", "old"))),
            False,
            id="an-unseen-deletion",
        ),
        pytest.param(
            observed(LIVE, holding(OTHER, core("ConfigMap", "old"))),
            observed(LIVE, holding(OTHER, core("ConfigMap", "old"))),
            True,
            id="a-deletion-that-was-seen",
        ),
    ],
)
def test_a_shoot_is_written_as_far_as_the_approver_could_see(
    approver_saw: Observed, run_sees: Observed, *, is_allowed: bool
) -> None:
    control = agreed(outlook(WITH_POLICY, approver_saw))

    assert covered(control, outlook(WITH_POLICY, run_sees)) is is_allowed


def test_nothing_is_covered_before_anybody_approves() -> None:
    assert not covered(NOTHING_ASKED, outlook(WITH_POLICY, observed(LIVE, holding())))


def test_another_commit_that_declares_the_same_is_covered() -> None:
    seen = observed(LIVE, holding(OTHER))
    control = agreed(outlook(WITH_POLICY, seen))

    assert covered(control, outlook(WITH_POLICY, seen, revision="2" * 40))


def test_another_commit_that_declares_something_else_is_not_covered() -> None:
    control = agreed(outlook(WITH_POLICY, observed(LIVE, inside())))

    changed = declared(policy(pinCPU=True, pinMemory=False))
    assert not covered(control, outlook(changed, observed(live_shoot(changed), inside())))


def test_secret_values_are_bound_to_the_commit_as_nobody_can_tell_them_apart() -> None:
    secret = declared(core("Secret", "s", data={"password": "YQ=="}))
    seen = observed(live_shoot(secret), inside())
    control = agreed(outlook(secret, seen))

    assert covered(control, outlook(secret, seen))
    other = declared(core("Secret", "s", data={"password": "Yg=="}))
    assert not covered(control, outlook(other, observed(live_shoot(other), inside()), revision="2" * 40))
    assert not covered(control, outlook(secret, seen, revision="2" * 40))


def test_work_on_nodes_is_covered_by_an_approval_of_what_the_overlay_asks_of_nodes() -> None:
    repairing = replace(ASKING, prerequisites=Prerequisites(dbus=Demand.REPAIR))
    seen = observed(LIVE, holding(policy()))
    control = agreed(outlook(WITH_POLICY, seen, repairing))

    assert covered(control, outlook(WITH_POLICY, seen, repairing), nodes=True)
    more = replace(ASKING, prerequisites=Prerequisites(dbus=Demand.REPAIR, nri=Demand.REPAIR))
    assert not covered(control, outlook(WITH_POLICY, seen, more), nodes=True)
    assert not covered(NOTHING_ASKED, outlook(WITH_POLICY, seen, repairing), nodes=True)


def test_two_approvals_that_each_cover_a_half_cover_nothing() -> None:
    both = declared(policy("default"), policy("group.a"))
    halves = [declared(policy("default")), declared(policy("group.a"))]
    live = live_shoot(both)
    controls = [agreed(outlook(half, observed(live, inside()))) for half in halves]
    control = Control(approvals=tuple(approval for one in controls for approval in one.approvals))

    assert not covered(control, outlook(both, observed(live, inside())))


def test_a_new_approval_takes_the_place_of_earlier_ones() -> None:
    first = agreed(outlook(WITH_POLICY, observed(LIVE, holding(OTHER))))
    second = agreed(outlook(WITH_POLICY, observed(LIVE, holding(THIRD))), first)

    assert len(second.approvals) == 1
    assert not covered(second, outlook(WITH_POLICY, observed(LIVE, holding(OTHER))))


def test_what_a_new_approval_cannot_see_stays_approved() -> None:
    first = agreed(outlook(WITH_POLICY, observed(LIVE, holding(OTHER))))
    second = agreed(outlook(WITH_POLICY, observed(LIVE, Unreachable("no answer"))), first)

    assert covered(second, outlook(WITH_POLICY, observed(LIVE, holding(OTHER))))


def test_only_waves_that_ask_for_it_are_approved() -> None:
    free = outlook(WITH_POLICY, observed(LIVE, holding()), overlay(wave("all")))

    assert agreed(free).approvals == ()


def test_shoots_that_get_the_same_are_approved_by_the_same_names() -> None:
    shoots = [declared(policy(), name=name) for name in ("one", "two")]
    wanted: Desired = desired(*shoots, by=ASKING)
    seen = Outlook(
        wanted, {shoot.target: Observed(None, THEN, Unobserved("no shoot")) for shoot in shoots}, NO_REGISTRATIONS
    )

    (approval,) = agreed(seen).approvals
    assert len(set(approval.shoots.values())) == 1
