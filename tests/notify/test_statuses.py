"""What a forge shows beside a commit while it is carried out, and afterwards."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitops.errors import InvalidInput, LeaseHeld, LeaseLost, Rejected, Unreachable, Violation
from gitops.notify.forge import CommitStatus, ForgeClient, State
from gitops.notify.forges import FORGES
from gitops.notify.outbox import Outbox, Patience
from gitops.notify.secret import SecretFile
from gitops.notify.statuses import ForgeStatuses, StatusPost
from gitops.notify.web import Undelivered, Web
from tests.notify.conftest import REPOSITORIES, Client
from tests.notify.runs import BROKEN, WORKING, Runs
from tests.notify.stub_forge import Fault, StubForge, stub_forge
from tests.report.plans import REVISION

DRIFTED = {"garden-local/canary": WORKING, "garden-local/fleet-00": WORKING, "garden-local/fleet-01": WORKING}
LONG = 10.0
NEWER = "fedcba9876543210" * 2 + "fedcba98"


def said(runs: Runs, *, stop_after: int | None = None, repeat: int = 1) -> list[tuple[str, str, str]]:
    statuses: list[CommitStatus] = []
    runs.run(ForgeStatuses(statuses.append), stop_after=stop_after, repeat=repeat)
    return [(status.context, status.state.value, status.description) for status in statuses]


def test_a_rollout_is_told_wave_by_wave() -> None:
    assert said(Runs(DRIFTED)) == [
        ("gitops/dev", "pending", "Under way"),
        ("gitops/dev/canary", "pending", "Under way"),
        ("gitops/dev", "pending", "Under way in wave canary"),
        ("gitops/dev/canary", "success", "Passed, 1 shoot converged"),
        ("gitops/dev/fleet", "pending", "Under way"),
        ("gitops/dev", "pending", "Under way in wave fleet"),
        ("gitops/dev/fleet", "success", "Passed, 2 shoots converged"),
        ("gitops/dev", "success", "Converged, 3 shoots converged"),
    ]


def test_a_failure_is_told_where_it_happened_with_the_reason() -> None:
    told = said(Runs({**DRIFTED, "garden-local/canary": BROKEN}))

    assert told[-2][:2] == ("gitops/dev/canary", "failure")
    assert told[-2][2].startswith("Stopped, 0 of 1 shoot converged, 1 failed: garden-local/canary: ")
    assert "the machines are gone" in told[-2][2]
    assert told[-1][:2] == ("gitops/dev", "failure")
    assert told[-1][2].startswith("Stopped, 0 of 3 shoots converged, 1 failed, 2 not started: ")
    assert not [context for context, _, _ in told if context == "gitops/dev/fleet"]


def test_a_soak_is_told() -> None:
    told = said(Runs(DRIFTED, soak=timedelta(hours=1)))

    assert ("gitops/dev/canary", "pending", "Soaking until 13:00 UTC") in told
    assert told[-1][1] == "success"


def test_where_everything_is_as_declared_only_the_outcome_is_told() -> None:
    assert said(Runs()) == [
        ("gitops/dev/canary", "success", "Passed, 1 shoot converged"),
        ("gitops/dev/fleet", "success", "Passed, 2 shoots converged"),
        ("gitops/dev", "success", "Converged, 3 shoots converged"),
    ]


def test_hundreds_of_moves_are_few_statuses() -> None:
    sizes = {"canary": 5, "fleet": 300}
    runs = Runs({f"garden-local/fleet-{n:02}": WORKING for n in range(300)}, sizes=sizes)

    assert len(said(runs, repeat=3)) <= 8


def test_a_run_that_waits_is_pending() -> None:
    told = said(Runs(DRIFTED), stop_after=3)

    assert told[-1][1] == "pending"
    assert "the deadline of this run has come" in told[-1][2]


@pytest.mark.parametrize(
    ("error", "state", "text"),
    [
        (Unreachable("no answer", request="GET /x"), "error", "Failed: GET /x: no answer"),
        (InvalidInput([Violation("overlays/dev/overlay.yaml", 3, "", "r", "no")]), "failure", "Refused: overlays/dev"),
    ],
    ids=["the world", "the commit"],
)
def test_a_run_that_cannot_go_on_is_told(error: Unreachable | InvalidInput, state: str, text: str) -> None:
    statuses: list[CommitStatus] = []
    Runs().fail(ForgeStatuses(statuses.append), error)

    assert [(status.context, status.state.value) for status in statuses] == [("gitops/dev", state)]
    assert statuses[0].description.startswith(text)


def test_a_run_that_breaks_off_leaves_no_wave_pending() -> None:
    statuses: list[CommitStatus] = []
    Runs(DRIFTED).break_off(ForgeStatuses(statuses.append), Unreachable("no answer", request="GET /x"))

    assert ("gitops/dev/canary", State.PENDING) in [(status.context, status.state) for status in statuses]
    assert _last(statuses) == {"gitops/dev": State.ERROR, "gitops/dev/canary": State.ERROR}


@pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another process"])
def test_a_commit_that_another_overtook_is_not_pending_for_ever(*, restarted: bool) -> None:
    statuses: list[CommitStatus] = []
    runs, observer = Runs(DRIFTED), ForgeStatuses(statuses.append)
    runs.run(observer, stop_after=3)
    assert set(_last(statuses).values()) == {State.PENDING}

    _later(runs).run(ForgeStatuses(statuses.append) if restarted else observer)

    assert set(_last(statuses, NEWER).values()) == {State.SUCCESS}
    assert set(_last(statuses).values()) == {State.ERROR}
    assert {s.description for s in statuses if s.state is State.ERROR} == {
        f"Superseded: {NEWER[:12]} is rolled out instead"
    }


def test_a_commit_of_which_no_run_begins_lets_the_one_before_it_be_pending_until_the_next() -> None:
    statuses: list[CommitStatus] = []
    runs, observer = Runs(DRIFTED), ForgeStatuses(statuses.append)
    runs.suspended(observer)
    observer.not_begun("dev", "1" * 40, InvalidInput([Violation("f", 1, "", "r", "no")]))
    assert _last(statuses) == {"gitops/dev": State.PENDING}

    _later(runs).run(observer)

    assert _last(statuses) == {"gitops/dev": State.ERROR}


def test_where_another_run_was_at_work_nothing_stays_pending_after_the_next_commit() -> None:
    statuses: list[CommitStatus] = []
    runs, observer = Runs(DRIFTED), ForgeStatuses(statuses.append)
    runs.break_off(observer, LeaseLost("another run may be at work"))
    assert set(_last(statuses).values()) == {State.PENDING}

    _later(runs).run(observer)

    assert set(_last(statuses).values()) == {State.ERROR}


def test_a_suspension_takes_no_success_back_and_lets_a_new_commit_wait() -> None:
    statuses: list[CommitStatus] = []
    runs, observer = Runs(), ForgeStatuses(statuses.append)
    runs.run(observer)
    before = len(statuses)
    runs.suspended(observer)
    assert len(statuses) == before

    runs.push(NEWER)
    runs.suspended(observer)

    assert [(status.context, status.state.value, status.description) for status in statuses[before:]] == [
        ("gitops/dev", "pending", "Waiting: the overlay is suspended by ada")
    ]


def _later(before: Runs) -> Runs:
    """Runs of the next commit, which everything is as declared by."""
    runs = Runs()
    runs.before = before.before
    runs.push(NEWER)
    return runs


def _last(statuses: list[CommitStatus], revision: str = REVISION) -> dict[str, State]:
    return {status.context: status.state for status in statuses if status.revision == revision}


def test_a_plan_that_is_refused_is_told_and_never_pending() -> None:
    statuses: list[CommitStatus] = []
    Runs(DRIFTED).run(ForgeStatuses(statuses.append), problems=(Violation("f", 1, "", "budget", "too much"),))

    assert [(status.context, status.state) for status in statuses] == [("gitops/dev", State.FAILURE)]


@pytest.mark.parametrize("error", [LeaseHeld("another run is at work"), LeaseLost("another run may be at work")])
def test_where_another_run_is_at_work_that_one_tells(error: LeaseHeld | LeaseLost) -> None:
    statuses: list[CommitStatus] = []
    Runs().fail(ForgeStatuses(statuses.append), error)

    assert statuses == []


def test_statuses_lead_where_somebody_said() -> None:
    statuses: list[CommitStatus] = []
    Runs().run(ForgeStatuses(statuses.append, "https://gitops.acme.test/overlays/{overlay}"))

    assert {status.target_url for status in statuses} == {"https://gitops.acme.test/overlays/dev"}


def follow(client: Client, kind: str, told: list[str] | None = None) -> Outbox[CommitStatus]:
    patience = Patience(attempts=100, total=1e9, sleep=lambda _: None)
    post = StatusPost(client(kind))
    return Outbox("the forge", post, (told if told is not None else []).append, patience=patience)


def through(box: Outbox[CommitStatus], noted: list[CommitStatus] | None = None) -> ForgeStatuses:
    def put(status: CommitStatus) -> None:
        if noted is not None:
            noted.append(status)
        box.put((status.revision, status.context), status)

    return ForgeStatuses(put)


def test_every_forge_shows_how_it_ended(forge: StubForge, client: Client, kind: str) -> None:
    told: list[str] = []
    box = follow(client, kind, told)
    Runs(DRIFTED).run(through(box))
    box.close(LONG)

    success = client(kind).forge.word(State.SUCCESS)
    assert told == []
    assert forge.states(REVISION) == dict.fromkeys(("gitops/dev", "gitops/dev/canary", "gitops/dev/fleet"), success)
    shown = forge.newest(REVISION)["gitops/dev"]
    assert shown["description"] == "Converged, 3 shoots converged"
    assert REVISION in shown["link"]


def test_a_failure_arrives_on_a_bad_day_as_a_success_does(forge: StubForge, client: Client, kind: str) -> None:
    told: list[str] = []
    forge.faults += [
        Fault(500),
        Fault(429, {"Retry-After": "7"}),
        Fault(503, done=True),
        Fault(reset=True),
        Fault(502, method="POST"),
        Fault(reset=True, done=True, method="POST"),
    ]
    box = follow(client, kind, told)
    Runs({**DRIFTED, "garden-local/canary": BROKEN}).run(through(box))
    box.close(LONG)

    failed = client(kind).forge.word(State.FAILURE)
    assert told == []
    assert forge.faults == []
    assert forge.states(REVISION) == {"gitops/dev": failed, "gitops/dev/canary": failed}


def test_a_run_that_finds_nothing_new_tells_a_forge_nothing_new(forge: StubForge, client: Client, kind: str) -> None:
    runs = Runs(DRIFTED)
    box = follow(client, kind)
    runs.run(through(box))
    box.flush(LONG)
    before = len(forge.writes())
    for _ in range(5):
        runs.run(through(box))
    box.close(LONG)

    assert len(forge.writes()) == before


def test_another_process_asks_what_the_forge_holds(forge: StubForge, client: Client, kind: str) -> None:
    runs = Runs(DRIFTED)
    box = follow(client, kind)
    runs.run(through(box))
    box.close(LONG)
    before = len(forge.writes())

    for _ in range(3):
        again = follow(client, kind)
        runs.run(through(again))
        again.close(LONG)

    assert len(forge.writes()) == before


def test_of_hundreds_of_statuses_each_is_known(forge: StubForge, client: Client, kind: str) -> None:
    statuses = [CommitStatus(REVISION, f"gitops/o{number}", State.SUCCESS, "Converged") for number in range(120)]
    for process in (StatusPost(client(kind)), StatusPost(client(kind))):
        for status in statuses:
            process(status)

    assert len(forge.writes()) == len(statuses)


def waits(reason: str) -> CommitStatus:
    return CommitStatus(REVISION, "gitops/dev", State.PENDING, "Waiting, 0 of 3 shoots converged, 3 waiting", reason)


def test_another_reason_is_shown_and_another_number_is_not(forge: StubForge, client: Client) -> None:
    post = StatusPost(client("github"))
    for reason in ("needs approval", "the window opens in 12 min", "the window opens in 7 min"):
        post(waits(reason))

    told = [status["description"].rpartition(": ")[2] for status in forge.statuses[REVISION]]
    assert told == ["needs approval", "the window opens in 12 min"]


def test_reasons_that_change_for_ever_leave_room_for_the_outcome(forge: StubForge, client: Client) -> None:
    post = StatusPost(client("github"))
    for _ in range(600):
        post(waits("one reason"))
        post(waits("another"))
    post(CommitStatus(REVISION, "gitops/dev", State.SUCCESS, "Converged"))

    assert len(forge.writes()) < 60
    assert forge.states(REVISION) == {"gitops/dev": "success"}


def test_gitlab_is_not_asked_again_and_again_for_what_it_cannot_show(forge: StubForge, client: Client) -> None:
    post = StatusPost(client("gitlab"))
    for reason in ("needs approval", "out of its window", "out of its window"):
        post(waits(reason))

    assert len(forge.writes()) == 2
    assert forge.states(REVISION) == {"gitops/dev": "running"}


def test_what_somebody_else_has_set_meanwhile_is_set_right(forge: StubForge, client: Client, kind: str) -> None:
    now = [0.0]
    on = client(kind)
    post = StatusPost(on, lambda: now[0])
    converged = CommitStatus(REVISION, "gitops/dev", State.SUCCESS, "Converged")
    post(converged)
    StatusPost(client(kind))(CommitStatus(REVISION, "gitops/dev", State.ERROR, "Failed", "no kubeconfig on a laptop"))
    now[0] = 301.0

    post(converged)

    assert forge.states(REVISION) == {on.forge.key("gitops/dev"): on.forge.word(State.SUCCESS)}


def test_where_what_it_holds_may_not_be_read_it_is_told_once(forge: StubForge, client: Client) -> None:
    now = [0.0]
    post = StatusPost(client("github"), lambda: now[0])
    forge.faults += [Fault(403, method="GET")] * 2
    for now[0] in (0.0, 301.0):
        post(CommitStatus(REVISION, "gitops/dev", State.SUCCESS, "Converged"))

    assert len(forge.writes()) == 1
    assert forge.faults == []


def test_what_a_lost_answer_has_done_is_not_taken_for_granted(forge: StubForge, client: Client, kind: str) -> None:
    post = StatusPost(client(kind))
    under_way = CommitStatus(REVISION, "gitops/dev", State.PENDING, "Under way")
    post(under_way)
    forge.faults.append(Fault(reset=True, done=True))
    with pytest.raises(Undelivered):
        post(CommitStatus(REVISION, "gitops/dev", State.SUCCESS, "Converged"))
    post(under_way)

    assert forge.states(REVISION) == {"gitops/dev": client(kind).forge.word(State.PENDING)}


def test_where_what_it_holds_may_not_be_read_it_is_told_all_the_same(forge: StubForge, client: Client) -> None:
    forge.faults.append(Fault(403, method="GET"))
    box = follow(client, "github")
    Runs().run(through(box))
    box.close(LONG)

    assert set(forge.states(REVISION).values()) == {"success"}


def test_gitlab_holds_a_state_that_another_process_set(forge: StubForge, client: Client) -> None:
    told: list[str] = []
    forge.statuses[REVISION] = [{"context": "gitops/dev", "state": "running", "description": "older", "link": ""}]
    box = follow(client, "gitlab", told)
    box.put("a", CommitStatus(REVISION, "gitops/dev", State.PENDING, "Under way"))
    box.put("b", CommitStatus(REVISION, "gitops/dev", State.SUCCESS, "Converged"))
    box.close(LONG)

    assert told == []
    assert forge.states(REVISION) == {"gitops/dev": "success"}


def test_a_forge_that_never_answers_is_told_without_the_token(forge: StubForge, client: Client) -> None:
    told: list[str] = []
    forge.faults += [Fault(500)] * 1000
    box = Outbox("github", StatusPost(client("github")), told.append, patience=Patience(sleep=lambda _: None))
    Runs().run(through(box))
    box.close(LONG)

    assert len(told) == 3
    assert told[-1] == "github was not told of status success of gitops/dev at 1a2b3c4d5e6f: HTTP 500: a bad day"


FAULTS = st.lists(
    st.sampled_from([Fault(), Fault(500), Fault(503, done=True), Fault(429, {"Retry-After": "1"}), Fault(reset=True)]),
    max_size=25,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    faults=FAULTS,
    broken=st.sets(st.sampled_from(sorted(DRIFTED)), max_size=1),
    stops=st.lists(st.integers(1, 8), max_size=2),
)
def test_what_a_forge_holds_in_the_end_is_how_the_last_run_ended(
    faults: list[Fault], broken: set[str], stops: list[int], kind: str, web: Web, token: SecretFile
) -> None:
    runs = Runs({target: BROKEN if target in broken else WORKING for target in DRIFTED})
    last, lost = list[CommitStatus](), list[str]()
    with stub_forge() as forge:
        on = FORGES[kind](forge.url, REPOSITORIES[kind])
        forge.faults += faults
        patience = Patience(attempts=100, total=1e9, sleep=lambda _: None)
        box = Outbox("the forge", StatusPost(ForgeClient(on, web, token)), lost.append, patience=patience)
        statuses = through(box, last)
        for stop in [*stops, None]:
            runs.run(statuses, stop_after=stop)
        box.close(LONG)

    assert lost == []
    assert forge.states(REVISION) == {on.key(status.context): on.word(status.state) for status in last}


def test_what_keeps_a_run_from_beginning_is_told() -> None:
    statuses: list[CommitStatus] = []
    error = InvalidInput([Violation("overlays/dev/overlay.yaml", 3, "", "unknown-key", "no such key")])
    ForgeStatuses(statuses.append).not_begun("dev", REVISION, error)

    assert [str(status) for status in statuses] == ["status failure of gitops/dev at 1a2b3c4d5e6f"]


def test_what_the_garden_refuses_is_a_failure_of_the_shoot() -> None:
    runs = Runs(DRIFTED)
    runs.landscape.refusals["garden-local/canary"] = Rejected("a quota <b>is</b> exceeded @everyone", status=403)
    told = said(runs)

    assert "@everyone" in told[-1][2]  # a status is text, and no forge looks for mentions or markup in it
