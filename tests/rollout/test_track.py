"""Where one shoot stands: since when it has been well."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitops.gardener.shoot_record import timestamp
from gitops.ownership import FIELD_MANAGER
from gitops.plan.observed import Observed, Unobserved
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase, Track
from tests.plan.fleet import NOON, core, declared, inside, live_shoot, policy

NOW = NOON + timedelta(hours=5)
"""By our own clock, which is not the servers'."""
SHOOT = declared(policy())


def ago(minutes: float) -> str:
    return timestamp(NOON - timedelta(minutes=minutes))


def entry(manager: str, time: str | None) -> Any:
    return {"manager": manager, "operation": "Apply", **({"time": time} if time else {})}


def written(manifest: Any, *entries: Any, **status: Any) -> Any:
    return {**manifest, "metadata": {**manifest["metadata"], "managedFields": list(entries)}, "status": status}


def well_for(live: Any, *objects: Any, **track: Any) -> timedelta:
    observed = Observed(live, NOON, inside(objects) if objects else Unobserved("nothing is declared inside"))
    settled = Track(SHOOT, observed, NOW, **track).settle(ShootOutcome.CONVERGED, "", NOW)
    assert settled.current_since is not None
    return NOW - settled.current_since


OURS, THEIRS = entry(FIELD_MANAGER, ago(20)), entry("gardenlet", ago(1))


@pytest.mark.parametrize(
    ("live", "objects", "minutes"),
    [
        pytest.param(written(live_shoot(SHOOT), OURS), [], 20, id="since we wrote the Shoot"),
        pytest.param(written(live_shoot(SHOOT), OURS, THEIRS), [], 20, id="and not since somebody else did"),
        pytest.param(
            written(live_shoot(SHOOT), OURS),
            [written(core("ConfigMap", "c"), entry(FIELD_MANAGER, ago(5)))],
            5,
            id="since we wrote an object",
        ),
        pytest.param(
            written(live_shoot(SHOOT), OURS),
            [written(policy(), entry(FIELD_MANAGER, ago(5)), nodes={"a": {"timestamp": ago(3)}, "b": {}})],
            3,
            id="since a node took a policy",
        ),
        pytest.param(
            written(live_shoot(SHOOT), OURS),
            [written(core("ConfigMap", "c"), nodes={"a": {"timestamp": ago(3)}})],
            20,
            id="only a policy has nodes that answer",
        ),
        pytest.param(written(live_shoot(SHOOT), entry(FIELD_MANAGER, ago(-5))), [], 0, id="never in the future"),
    ],
)
def test_a_shoot_with_nothing_to_do_has_been_well_for_as_long_as_the_servers_say(
    live: Any, objects: list[Any], minutes: float
) -> None:
    assert well_for(live, *objects) == timedelta(minutes=minutes)


@pytest.mark.parametrize("entries", [[], [entry(FIELD_MANAGER, None)]], ids=["never", "at an unknown time"])
def test_a_shoot_that_we_never_wrote_has_always_been_well(entries: list[Any]) -> None:
    assert well_for(written(live_shoot(SHOOT), *entries)) > timedelta(days=365)


def test_a_shoot_that_this_run_worked_on_is_well_from_now_on() -> None:
    assert well_for(written(live_shoot(SHOOT), OURS), started=True) == timedelta(0)


def test_a_shoot_that_is_looked_at_again_stays_well_since_then() -> None:
    since = NOW - timedelta(minutes=7)

    assert well_for(live_shoot(SHOOT), started=True, current_since=since) == timedelta(minutes=7)


def test_a_shoot_that_did_not_converge_is_not_well() -> None:
    track = Track(SHOOT, Observed(live_shoot(SHOOT), NOON, inside()), NOW, current_since=NOW)

    settled = track.settle(ShootOutcome.DEFERRED, "it is hibernated", NOW)

    assert (settled.current_since, settled.phase, settled.message) == (None, Phase.SETTLED, "it is hibernated")


def test_looking_from_the_start_gives_up_the_place_in_flight() -> None:
    track = Track(SHOOT, Observed(live_shoot(SHOOT), NOON, inside()), NOON, started=True, written=("a",) * 3)

    again = track.again(NOW)

    assert (again.started, again.phase, again.look_at, again.written) == (False, Phase.WAITING, NOW, ())
