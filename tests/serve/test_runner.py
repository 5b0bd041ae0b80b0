"""What one process makes of pushes, commits and failures, in the sandbox on virtual time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gitops.control.control import Hold
from gitops.control.store import change_control
from gitops.errors import CredentialsError
from gitops.kube.transport import Request
from gitops.observer import Observer, Observers, Run
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.rollout.rollout import Rollout, RunOutcome
from gitops.sandbox import RequestFault
from gitops.serve.board.views import TROUBLE
from gitops.serve.dispatch import OVERTAKEN
from gitops.world import World
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import SandboxFleet
from tests.serve.day import Living


@pytest.fixture
def living(tmp_path: Path) -> Living:
    return Living(SandboxFleet(tmp_path))


def record(living: Living, overlay: str = "dev") -> dict[str, Any]:
    document = living.last.document(overlay)
    assert document is not None
    assert document["record"] is not None, document
    found: dict[str, Any] = document["record"]
    return found


def failing(living: Living) -> list[str]:
    return [check.name for check in living.health.ready() if not check.ok and check.name != "listening"]


def test_it_runs_at_the_start_and_after_a_push_with_what_git_holds_then(living: Living) -> None:
    living.live(minutes=30)
    assert (record(living)["outcome"], record(living)["trigger"]) == ("Converged", "schedule")

    living.fleet.repository.policy(**balloons("2"))
    revision = living.fleet.repository.commit()
    living.live(minutes=30)
    assert record(living)["revision"] != revision

    living.pushed()
    living.live(minutes=30)

    assert (record(living)["revision"], record(living)["trigger"]) == (revision, "push")
    assert living.fleet.policies("three")["default"]["spec"]["reservedResources"]["cpu"] == "2"


def test_an_overlay_that_is_invalid_does_not_stop_the_others_and_is_told(living: Living) -> None:
    broken: list[tuple[str, str]] = []
    living.runner = replace(living.runner, not_begun=lambda name, revision, *_: broken.append((name, revision)))
    living.fleet.repository.write("overlays/broken/overlay.yaml", {"kind": "Overlay"})
    revision = living.fleet.repository.commit()

    living.live(hours=2)

    assert record(living)["outcome"] == "Converged"
    document = living.last.document("broken")
    assert document is not None
    assert "overlays/broken/overlay.yaml" in document["error"]
    assert broken == [("broken", revision)], "nothing but another push can mend it"


def test_overlays_appear_and_stop_with_the_commit(living: Living) -> None:
    living.live(minutes=30)
    overlay = living.fleet.repository.overlay
    living.fleet.repository.write("overlays/new/overlay.yaml", {**overlay, "metadata": {"name": "new"}})
    living.fleet.repository.commit()
    living.pushed()
    living.live(minutes=30)
    assert living.last.names() == ("dev", "new")

    shutil.rmtree(living.fleet.repository.path / "overlays/new")
    living.fleet.repository.commit()
    living.pushed()
    living.live(minutes=30)

    assert living.last.names() == ("dev",)


def test_a_run_whose_overlay_git_drops_meanwhile_ends_and_is_recorded(living: Living) -> None:
    git = living.fleet.repository.git

    def drop(_: Run, rollout: Rollout) -> None:
        if any(track.writes for track in rollout.tracks.values()):
            living.told.moving = None
            git("rm", "--quiet", "-r", "overlays/dev")
            git("commit", "--quiet", "--message", "Nobody needs dev")
            living.pushed()
            living.live_until(living.clock.now() + timedelta(seconds=10), runs=False)

    living.told.moving = drop
    living.live(minutes=30)

    (record,) = living.told.ended_records
    assert (record.result.message, record.result.writes) == (OVERTAKEN, 1)
    stored = living.fleet.client.get("/api/v1/namespaces/garden-dev/configmaps/shoot-gitops-dev")
    assert OVERTAKEN in stored["data"]["record"]


def counted(living: Living, name: str, **labels: str) -> float | None:
    return living.runner.display.metrics.registry.get_sample_value(name, labels)


def test_whoever_watches_hears_why_a_run_did_not_begin(living: Living) -> None:
    def closed(*_: object) -> NoReturn:
        raise CredentialsError("kubeconfig: the token has expired")

    living.runner = replace(living.runner, world=closed)
    living.live(minutes=3)

    view = living.board.overlay("dev")
    assert view is not None
    assert view.trouble is not None
    assert (view.state, view.trouble.message) == (TROUBLE, "kubeconfig: the token has expired")
    assert view.trouble.revision == living.fleet.repository.git("rev-parse", "HEAD")
    failures = counted(living, "gitops_runs_total", overlay="dev", trigger="schedule", outcome="Error")
    assert failures == view.trouble.times
    assert counted(living, "gitops_run_duration_seconds_count", overlay="dev") is None


def test_a_commit_that_is_invalid_is_counted_as_a_run_that_could_not_go_on(living: Living) -> None:
    living.live(minutes=30)
    living.fleet.repository.overlay["spec"]["waves"] = "none"
    living.fleet.repository.commit()
    living.pushed()
    living.live(minutes=30)

    assert counted(living, "gitops_runs_total", overlay="dev", trigger="push", outcome="Error") == 1


def test_a_bug_in_the_midst_of_a_run_leaves_nobody_believing_that_it_goes_on(living: Living) -> None:
    def broken(*_: object) -> NoReturn:
        raise KeyError("a value of somebody's")

    living.told.moving = broken
    living.live(minutes=1)

    view = living.board.overlay("dev")
    assert view is not None
    assert view.trouble is not None
    assert (view.run, view.trouble.message) == (None, "KeyError: this is a bug, and its traceback is in the log")
    assert counted(living, "gitops_run_under_way", overlay="dev") == 0
    assert living.told.outcomes["GitopsError"] == view.trouble.times


def test_the_dashboard_tells_nobody_to_approve_a_plan_that_a_run_has_made_another(living: Living) -> None:
    living.fleet.repository.overlay["spec"]["waves"][-1]["approval"] = "Required"
    living.fleet.repository.commit()
    living.live(minutes=30)
    assert record(living)["outcome"] == "Waiting"
    assert record(living)["writes"] > 0

    def approval() -> str:
        view = living.board.overlay("dev")
        assert view is not None
        return next(notice for notice in view.notices if "approve" in notice)

    assert record(living)["digest"] not in approval()
    assert "with the digest that `gitops plan dev` shows" in approval()

    living.pushed()
    living.live(minutes=30)
    assert record(living)["writes"] == 0
    assert f"`gitops approve dev --digest {record(living)['digest']}`" in approval()


def test_a_newer_commit_overtakes_a_run_that_waits(living: Living) -> None:
    """A shoot is silent, and the run would wait for it for hours; what is pushed meanwhile takes it out of the wave."""
    fleet, repository = living.fleet, living.fleet.repository
    repository.overlay["spec"]["gate"] = {"timeout": "6h", "quarantineAfter": "5h"}
    living.live(minutes=30)
    fleet.landscape.faults.requests.append(RequestFault("Reset", {"cluster": fleet.target("one")}))
    repository.policy(**balloons("2"))
    stuck = repository.commit()
    living.pushed()

    def fix() -> None:
        repository.remove("clusters/one.yaml")
        repository.commit()
        living.pushed()
        assert living.runner.look(), "the scout has its own thread"

    begun = living.clock.now()
    living.clock.at(begun + timedelta(minutes=10), fix)
    living.live(minutes=15)

    *_, overtaken, finished = living.told.ended_records
    assert (overtaken.revision, overtaken.result.message) == (stuck, OVERTAKEN)
    assert overtaken.finished - begun < timedelta(minutes=11)
    assert finished.result.outcome is RunOutcome.CONVERGED
    assert fleet.policies("three")["default"]["spec"]["reservedResources"]["cpu"] == "2"


def test_a_newer_commit_that_nobody_tells_of_is_found_before_the_first_write(living: Living) -> None:
    repository = living.fleet.repository
    living.live(minutes=30)
    repository.policy(**balloons("2"))
    older = repository.commit()
    newer: list[str] = []

    class Pusher(Observer):
        """Pushes while a run plans."""

        def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
            del planned, outlook
            if run.revision == older and not newer:
                repository.policy(**balloons("3"))
                newer.append(repository.commit())

    living.runner = replace(living.runner, observers=Observers(living.told, Pusher()))
    living.pushed()
    living.live(minutes=30)

    *_, overtaken, finished = living.told.ended_records
    assert (overtaken.revision, overtaken.result.message, overtaken.result.writes) == (older, OVERTAKEN, 0)
    assert (finished.revision, finished.result.outcome) == (newer[0], RunOutcome.CONVERGED)


def test_a_wish_to_end_ends_a_rollout_between_two_writes_and_is_recorded(living: Living) -> None:
    writes: list[int] = []

    def stop(_: Run, rollout: Rollout) -> None:
        written = sum(shoot.writes for wave in rollout.result().waves for shoot in wave.shoots)
        if written and not writes:
            writes.append(written)
            living.dispatch.stop("the process ends")

    living.told.moving = stop
    living.live(minutes=30)
    stored = living.fleet.client.get("/api/v1/namespaces/garden-dev/configmaps/shoot-gitops-dev")

    assert writes == [1]
    assert (record(living)["outcome"], record(living)["message"]) == ("Waiting", "the process ends")
    assert record(living)["writes"] == 1
    assert '"the process ends"' in stored["data"]["record"]


def test_a_garden_that_is_silent_is_tried_again_and_says_so_meanwhile(living: Living) -> None:
    broken: set[tuple[str, str]] = set()
    living.runner = replace(living.runner, not_begun=lambda name, _, error, __: broken.add((name, str(error)[:3])))
    outage = RequestFault("Reset", {"cluster": "garden"})
    living.fleet.landscape.faults.requests.append(outage)
    living.live(minutes=3)
    assert failing(living) == ["garden"]
    assert broken == {("dev", "GET")}
    document = living.last.document("dev")
    assert document is not None
    assert document["error"].startswith("GET ")
    labels = {"overlay": "dev", "trigger": "schedule", "outcome": "Error"}
    assert living.runner.display.metrics.registry.get_sample_value("gitops_runs_total", labels)

    living.fleet.landscape.faults.requests.remove(outage)
    living.live(minutes=20)

    assert failing(living) == []
    assert record(living)["outcome"] == "Converged"


def test_a_bug_is_a_failure_that_is_told_and_the_next_run_goes_on(living: Living) -> None:
    bugs = [ZeroDivisionError()]

    def stumble(request: Request) -> None:
        if bugs and "/shoots" in request.path:
            raise bugs.pop()

    @contextmanager
    def world(*_: object) -> Iterator[World]:
        with living.fleet.world(Requests(before=stumble)) as world:
            yield world

    living.runner = replace(living.runner, world=world)
    living.live(minutes=30)

    assert living.told.outcomes == {"GitopsError": 1, "Converged": 1}


def test_a_repository_that_vanished_is_tried_again_and_says_so_meanwhile(living: Living) -> None:
    told: list[tuple[str, str]] = []
    living.runner = replace(living.runner, not_begun=lambda name, revision, *_: told.append((name, revision)))
    living.live(minutes=30)
    path = living.fleet.repository.path
    away = path.rename(path.with_name("away"))
    living.pushed()
    living.live(minutes=1)
    assert failing(living) == ["repository"]
    assert told == [], "a server that starts anew is nobody's business"
    living.live(minutes=9)
    assert set(told) == {("dev", "")}
    document = living.last.document("dev")
    assert document is not None
    assert "does not exist" in document["error"]
    trouble = living.board.repository.trouble
    assert trouble is not None
    assert trouble.times > 1
    assert str(path) in trouble.message

    away.rename(path)
    living.live(minutes=20)

    assert failing(living) == []
    assert living.board.repository.trouble is None
    assert record(living)["outcome"] == "Converged"


def test_the_schedule_repairs_what_somebody_changed(tmp_path: Path) -> None:
    living = Living(SandboxFleet(tmp_path), cron="0 * * * *")
    living.live(minutes=30)
    living.fleet.patch_shoot("two", {"spec": {"extensions": []}})

    living.live(hours=1, minutes=30)

    assert living.fleet.extensions("two")[0]
    assert living.told.triggers == {"schedule": living.told.triggers.total()}


def test_a_window_that_shoots_wait_for_starts_a_run_when_it_opens(tmp_path: Path) -> None:
    """Nobody pushes, and there is no schedule."""
    living = Living(SandboxFleet(tmp_path))
    fleet = living.fleet
    opening = (fleet.clock.now() + timedelta(hours=7)).replace(minute=0, second=0)
    window = {"schedule": f"0 {opening.hour} * * *", "duration": "1h", "zone": "UTC"}
    fleet.repository.overlay["spec"]["waves"][1]["windows"] = [window]
    fleet.repository.commit()

    living.live(hours=5)
    assert record(living)["outcome"] == "Waiting"
    assert living.told.triggers.total() == 1

    living.live(hours=3)
    assert record(living)["outcome"] == "Converged"
    assert living.told.triggers == {"schedule": 2}


def test_a_rollback_is_not_undone_by_the_next_scheduled_run(tmp_path: Path) -> None:
    living = Living(SandboxFleet(tmp_path), cron="0 * * * *")
    fleet = living.fleet
    living.live(minutes=30)
    good = fleet.repository.git("rev-parse", "HEAD")
    fleet.repository.policy(**balloons("2"))
    bad = fleet.repository.commit()
    hold = Hold(bad, good, "jane", living.clock.now())
    with fleet.world(Requests()) as world:
        change_control(world.garden, fleet.composed().overlay, lambda control: control.held(hold))

    living.live(hours=2)
    assert (record(living)["revision"], record(living)["outcome"]) == (good, "Converged")

    fleet.repository.policy(**balloons("3"))
    later = fleet.repository.commit()
    living.live(hours=2)

    assert record(living)["revision"] == later
