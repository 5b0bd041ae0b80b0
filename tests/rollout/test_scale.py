"""Thousands of shoots on virtual time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitops.desired.overlay import Unit
from gitops.rollout.rollout import RunOutcome
from tests.plan.fleet import overlay, wave
from tests.rollout.runs import at_once, done, fleet, run, world_of


@pytest.mark.timeout(1200)  # under coverage, on a machine that has other things to do
def test_five_thousand_shoots_are_rolled_out() -> None:
    share = at_once(25, Unit.PERCENT)
    by = overlay(wave("canary"), wave("early", max_concurrent=share), wave("fleet", max_concurrent=share))
    world = world_of(fleet({"canary": 1, "early": 499, "fleet": 4500}, by))

    result = run(world, poll=timedelta(seconds=20))

    assert result.outcome is RunOutcome.CONVERGED
    assert result.writes == 10_000
    assert all(done(world, name) for name in world.desired.shoots)
