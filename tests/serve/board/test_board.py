from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from starlette.applications import Starlette

from gitops.errors import GitopsError, Unreachable
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.manifest import GARDEN
from gitops.observer import Run
from gitops.plan.changes import Action
from gitops.plan.planning import make_plan
from gitops.record.record import record_document
from gitops.record.store import Stored
from gitops.report.control import Controlled
from gitops.report.standing import Standing
from gitops.rollout.admission import Held, HeldBy
from gitops.rollout.rollout import Rollout
from gitops.rollout.step import ShootOutcome
from gitops.serve.board import Board, Everybody, routes
from gitops.serve.board.stored import HISTORY
from gitops.serve.board.views import NEVER, TROUBLE, OverlayView
from gitops.serve.progress import SOAKING, UNDER_WAY
from tests.report.plans import REVISION
from tests.report.rollouts import NOON, operation
from tests.report.test_garden_wave import record as garden_record
from tests.serve.asking import ask
from tests.serve.board.demo import pinned_outlook
from tests.serve.fleets import Fleet, StoppedClock, suspended

FAILED = operation("Failed", description="no machines left")


def a_board() -> Board:
    """A board whose views are never shared."""
    ticks = iter(range(10**9))
    return Board(StoppedClock(), monotonic=lambda: float(next(ticks)))


def shown(board: Board, name: str = "dev") -> OverlayView:
    view = board.overlay(name)
    assert view is not None
    return view


def states(view: OverlayView) -> dict[str, list[str]]:
    return {wave.name: [shoot.state for shoot in wave.shoots] for wave in view.waves}


def test_nothing_is_known_of_an_overlay_that_nobody_spoke_of() -> None:
    assert a_board().overlay("dev") is None
    assert a_board().fleet() == ()


def test_a_run_that_converged_is_what_there_is_to_see() -> None:
    board = a_board()
    record = Fleet("dev", {"canary": 1, "fleet": 3}).rollout(board)

    view = shown(board)
    assert (view.state, view.run) == ("Converged", None)
    assert view.counts == {"Converged": 4}
    assert view.last is not None
    assert (view.last.writes, view.last.trigger, view.last.revision) == (4, "push", REVISION)
    assert [run["outcome"] for run in view.history] == ["Converged"]
    assert view.plan is not None
    assert view.plan.digest == record.digest


def test_while_a_run_goes_on_every_wave_is_where_it_is() -> None:
    board = a_board()
    with Fleet("dev", {"canary": 1, "fleet": 3, "rest": 2}, at_once=2).under_way(board, 11):
        view = shown(board)

    assert view.state == UNDER_WAY
    assert [(wave.name, wave.state) for wave in view.waves] == [
        ("canary", "Passed"),
        ("fleet", UNDER_WAY),
        ("rest", "NotStarted"),
    ]
    assert states(view)["fleet"] == [UNDER_WAY, UNDER_WAY, "NotStarted"]
    assert view.shoots["garden-local/fleet-00"][1].message.startswith("Reconcile is Processing")


def test_a_wave_that_soaks_says_until_when() -> None:
    board = a_board()
    seen: list[OverlayView] = []
    fleet = Fleet("dev", {"canary": 1, "fleet": 1}, soak=timedelta(minutes=10))

    def moved(rollout: Rollout) -> None:
        board.moved(fleet.run, rollout)
        seen.append(shown(board))

    fleet.plan(board)
    fleet.landscape.run(fleet.landscape.rollout(), moved)

    soaking = [wave for view in seen for wave in view.waves if wave.state == SOAKING]
    assert {wave.name for wave in soaking} == {"canary"}
    assert all(wave.soaking_until is not None and wave.soaking_until > NOON for wave in soaking)
    canary = [view.shoots["garden-local/canary"][1] for view in seen]
    assert not [state for state in canary if state.writes and state.state == "NotStarted"], "it is looked at once more"


def test_a_view_never_changes() -> None:
    board = a_board()
    fleet = Fleet("dev", {"all": 3})
    with fleet.under_way(board, 5):
        before = shown(board)
        kept = states(before)
        board.asked(suspended("dev"))

    assert states(before) == kept
    assert before.notices == ()
    assert shown(board).version > before.version


def test_one_view_serves_all_who_ask_within_a_moment() -> None:
    now = 0.0
    board = Board(StoppedClock(), monotonic=lambda: now)
    fleet = Fleet("dev", {"all": 3})
    with fleet.under_way(board, 4):
        first = shown(board)
        rollout = fleet.landscape.rollout()
        board.moved(fleet.run, rollout)
        assert shown(board) is first
        now = 1.0
        assert shown(board).version > first.version


def test_before_the_first_plan_there_is_only_that_a_run_looks() -> None:
    board = a_board()
    fleet = Fleet("dev", {"all": 3})
    board.began(fleet.run, fleet.desired)

    view = shown(board)
    assert (view.state, view.plan, view.waves) == (UNDER_WAY, None, ())
    assert view.labels["garden-local/all-00"] == {"wave": "all"}
    assert board.explanation("dev", "garden-local/all-00") is None


def test_a_run_that_could_not_go_on_leaves_shoots_as_they_were_and_says_why_once() -> None:
    board = a_board()
    fleet = Fleet("dev", {"all": 3})
    fleet.rollout(board)
    for _ in range(3):
        fleet.fail(board, "wrong garden")

    view = shown(board)
    assert view.state == TROUBLE
    assert view.trouble is not None
    assert (view.trouble.message, view.trouble.times) == ("wrong garden", 3)
    assert view.counts == {"Converged": 3}

    fleet.fail(board, "another reason")
    assert shown(board).trouble == replace(view.trouble, message="another reason", times=1)
    Fleet("dev", {"all": 3}, lambda *_: False).rollout(board)
    assert shown(board).trouble is None


def test_a_rollout_that_was_broken_off_is_shown_as_far_as_it_came() -> None:
    board = a_board()
    fleet = Fleet("dev", {"canary": 1, "fleet": 3}, at_once=2)
    with fleet.under_way(board, 8):
        board.failed(fleet.run, GitopsError("the record could not be written"))

    view = shown(board)
    assert view.state == TROUBLE
    assert states(view) == {"canary": ["Converged"], "fleet": ["Waiting", "Waiting", "NotStarted"]}


def test_a_run_that_cannot_begin_leaves_the_one_under_way_alone() -> None:
    board = a_board()
    with Fleet("dev", {"canary": 1, "fleet": 3}, at_once=2).under_way(board, 8):
        board.failed_before("dev", REVISION, ValueError("no such key"))

    view = shown(board)
    assert view.state == UNDER_WAY
    assert view.counts[UNDER_WAY] == 2
    assert view.trouble is not None


def test_runs_that_tell_nothing_new_are_not_history() -> None:
    board = a_board()
    for _ in range(5):
        Fleet("dev", {"all": 3}, lambda *_: False).rollout(board)

    assert len(shown(board).history) == 1


def test_history_is_bounded() -> None:
    board = a_board()
    for _ in range(HISTORY + 5):
        Fleet("dev", {"all": 1}).rollout(board)
    for number in range(HISTORY + 5):
        board.committed("dev", f"{number:040}", "x" * 10_000)

    view = shown(board)
    assert len(view.history) == HISTORY
    assert len(view.commits) == HISTORY
    assert max(len(commit.subject) for commit in view.commits.values()) == 500


def test_a_process_begins_with_what_the_garden_remembers() -> None:
    record = Fleet("dev", {"canary": 1, "fleet": 3}).rollout(Board())
    document = json.loads(json.dumps(record_document(record)))
    board = a_board()

    board.remember("dev", Stored(document, (document, document)))

    view = shown(board)
    assert view.state == "Converged"
    assert view.counts == {"Converged": 4}
    assert len(view.history) == 2
    assert view.last is not None
    assert view.last.finished == record.finished


def test_registrations_of_extensions_come_before_the_waves() -> None:
    document = record_document(garden_record(ShootOutcome.FAILED, message="no such chart"))
    board = a_board()

    board.remember("dev", Stored(document, ()))

    view = shown(board)
    assert view.garden is not None
    assert (view.garden.state, view.garden.message, view.garden.writes) == ("Stopped", "no such chart", 1)
    assert [(seed.seed, seed.status) for seed in view.garden.seeds] == [("a", "Current"), ("b", "InProgress")]
    assert [wave.name for wave in view.waves] == ["canary"]
    page = ask(Starlette(routes=routes(board, Everybody())), "/").text
    assert "nri on b: InProgress" in page
    assert "condition Healthy is False" in page


def test_a_record_that_was_too_long_leaves_out_what_converged() -> None:
    document = record_document(garden_record(ShootOutcome.CONVERGED))
    for wave in document["waves"]:
        wave |= {"shoots": [], "abridged": True}
    board = a_board()

    board.remember("dev", Stored(document, ()))

    assert [(wave.name, wave.unlisted) for wave in shown(board).waves] == [("canary", True)]
    assert shown(board).garden is not None
    page = ask(Starlette(routes=routes(board, Everybody())), "/overlays/dev").text
    assert "Converged shoots are left out of the record" in page


def test_a_suspended_run_says_so_and_leaves_shoots_where_they_are() -> None:
    board = Board(StoppedClock())
    fleet = Fleet("dev", {"canary": 1, "rest": 2})
    fleet.rollout(board)
    before = board.overlay("dev")

    fleet.suspended(board, "the overlay is suspended by ada")

    view = board.overlay("dev")
    assert view is not None
    assert before is not None
    assert (view.waves, view.known, view.history) == (before.waves, before.known, before.history)
    assert view.last is not None
    assert (view.run, view.state, view.last.message) == (None, "Waiting", "the overlay is suspended by ada")


def test_what_a_shoot_waited_for_is_over_once_it_has_converged() -> None:
    board = a_board()
    fleet = Fleet("dev", {"all": 1})
    fleet.rollout(board)
    held = {"garden-local/all": Held(HeldBy.WINDOW, "waits", NOON)}
    board.asked(Controlled("dev", "", None, None, held))

    explained = board.explanation("dev", next(iter(fleet.desired.shoots)))

    assert explained is not None
    assert explained.control is not None
    assert explained.control.held == {}


def nowhere() -> Cluster:
    def silent(request: Request) -> Response:
        del request
        raise Unreachable("nobody is asked")

    return Cluster(silent, target=GARDEN)


def test_a_run_that_waits_for_the_lease_says_who_holds_it_until_it_has_it() -> None:
    board = a_board()
    fleet = Fleet("dev", {"all": 1})
    fleet.plan(board)
    app = Starlette(routes=routes(board, Everybody()))

    board.waiting(fleet.run, "cron-1 <i>")
    waiting = ask(app, "/").text
    board.held(fleet.run, nowhere())
    going = ask(app, "/").text

    assert "waiting for another run to give up the lease: cron-1 &lt;i&gt;" in waiting
    assert "lease" not in going


def test_what_kept_a_run_from_beginning_is_trouble_too() -> None:
    board = a_board()
    board.failed_before("dev", REVISION, ValueError("overlays/dev/overlay.yaml:3: no such key"))

    view = shown(board)
    assert view.state == TROUBLE
    assert view.trouble is not None
    assert view.trouble.message == "overlays/dev/overlay.yaml:3: no such key"


@pytest.mark.parametrize("path", ["/", "/overlays/dev", "/overlays/dev/plan"])
def test_every_page_says_that_nothing_newer_is_known_while_the_repository_cannot_be_read(path: str) -> None:
    board = a_board()
    Fleet("dev", {"all": 1}).rollout(board)
    app = Starlette(routes=routes(board, Everybody()))
    versions = [board.shown_version("dev")]

    for _ in range(2):
        board.unread(GitopsError("git.example does not answer"))
    versions.append(board.shown_version("dev"))
    page = ask(app, path).text
    board.unread(None)
    versions.append(board.shown_version("dev"))

    assert "git.example does not answer" in page
    assert "2 tries failed" in page
    assert f'data-version="{versions[1]}"' in page
    assert "git.example" not in ask(app, path).text
    assert versions == sorted(set(versions))


def test_what_the_process_says_is_shown() -> None:
    board = a_board()
    board.scheduled("dev", NOON + timedelta(minutes=12))
    board.queued("dev", ("push", "schedule"))
    board.asked(suspended("dev"))
    board.committed("dev", REVISION, "Grow it", "Ada")
    Fleet("dev", {"all": 1}).rollout(board)

    page = ask(Starlette(routes=routes(board, Everybody())), "/").text

    for text in ("in 12 min", "asked for by push, schedule", "Suspended by ada since", "Grow it", "by Ada"):
        assert text in page
    board.scheduled("dev", None)
    board.queued("dev", ())
    assert "Queued" not in ask(Starlette(routes=routes(board, Everybody())), "/").text


def test_what_the_garden_remembers_comes_too_late_after_a_run() -> None:
    record = Fleet("dev", {"canary": 9}).rollout(Board())
    board = a_board()
    Fleet("dev", {"all": 1}).rollout(board)

    board.remember("dev", Stored(record_document(record), ()))
    board.remember("prod", None)

    assert list(states(shown(board))) == ["all"]
    assert shown(board, "prod").state == NEVER


def test_a_converged_shoot_is_explained_by_its_open_gates() -> None:
    board = a_board()
    Fleet("dev", {"all": 2}).rollout(board)

    found = board.explanation("dev", "garden-local/all-00")

    assert found is not None
    assert found.status.standing is Standing.CURRENT
    assert {change.action for change in found.changes} == {Action.UNCHANGED}
    assert [verdict.open for _, verdict in found.gates] == [True]


def test_a_failed_shoot_keeps_what_was_to_be_changed() -> None:
    board = a_board()
    fleet = Fleet("dev", {"canary": 1, "fleet": 2})
    fleet.refuse("garden-local/canary", "denied")
    fleet.rollout(board)

    canary, later = (board.explanation("dev", f"garden-local/{name}") for name in ("canary", "fleet-01"))

    assert canary is not None
    assert (canary.status.standing, canary.status.message) == (Standing.FAILED, "denied")
    assert [change.action for change in canary.changes] == [Action.CONFIGURED]
    assert later is not None
    assert (later.status.standing, later.status.message) == (Standing.PENDING, "its wave has not begun")


def test_in_the_midst_of_a_run_each_shoot_is_explained_by_where_it_is() -> None:
    board = a_board()
    with Fleet("dev", {"canary": 1, "fleet": 2, "rest": 1}).under_way(board, 8):
        found = {
            name: board.explanation("dev", f"garden-local/{name}")
            for name in ("canary", "fleet-00", "fleet-01", "rest")
        }

    standings = {name: explanation.status.standing for name, explanation in found.items() if explanation}
    assert standings == {
        "canary": Standing.CURRENT,
        "fleet-00": Standing.IN_PROGRESS,
        "fleet-01": Standing.PENDING,
        "rest": Standing.PENDING,
    }


def test_after_a_run_nothing_is_kept_that_was_observed() -> None:
    board = a_board()
    fleet = Fleet("dev", {"all": 1})
    for shoot in fleet.landscape.shoots.values():
        shoot["spec"]["unmasked"] = "s3cr3t"
    fleet.rollout(board)

    assert "s3cr3t" not in repr(board.__dict__)


@pytest.mark.parametrize("room", [0, 9999], ids=["too little", "enough"])
def test_placement_is_kept_as_far_as_there_is_room(room: int) -> None:
    desired, outlook = pinned_outlook("dev")
    board = Board(StoppedClock(), containers=room)
    run = Run("run", "dev", REVISION, "push", NOON)
    board.began(run, desired)
    board.planned(run, make_plan(desired, outlook.shoots), outlook)
    board.failed(run, GitopsError("that is all"))

    found = board.explanation("dev", "garden-local/pinned")

    assert found is not None
    assert found.placement is not None
    assert (found.placement.verification is not None) == bool(room)
    assert ("`gitops verify` shows them" in found.placement.unobserved) != bool(room)


def test_an_overlay_that_is_gone_is_forgotten() -> None:
    board = a_board()
    Fleet("dev", {"all": 1}).rollout(board)
    Fleet("prod", {"all": 1}).rollout(board)
    version = board.version()

    board.keep(["prod"])

    assert [view.name for view in board.fleet()] == ["prod"]
    assert board.version() > version
    assert board.version("dev") == 0


def test_a_run_of_before_does_not_disturb_the_present_one() -> None:
    board = a_board()
    old, new = Fleet("dev", {"old": 2}), Fleet("dev", {"new": 3})
    old.run = replace(old.run, id="old")
    planned = make_plan(old.desired, old.outlook().shoots)
    new.plan(board)

    board.planned(old.run, planned, old.outlook())

    assert shown(board).plan is not None
    assert [wave.name for wave in shown(board).plan.plan.waves] == ["new"]  # type: ignore[union-attr]


def test_views_may_be_asked_for_while_a_rollout_moves() -> None:
    board = a_board()
    fleet = Fleet("dev", {"canary": 5, "fleet": 60}, at_once=20)
    ended = threading.Event()
    seen: list[int] = []
    errors: list[Exception] = []

    def read() -> None:
        while not ended.is_set():
            try:
                seen.extend(sum(view.counts.values()) for view in board.fleet())
            except Exception as error:  # noqa: BLE001 - told below
                errors.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        fleet.rollout(board)
    finally:
        ended.set()
        for reader in readers:
            reader.join()

    assert not errors
    assert set(seen) <= {0, 65}
