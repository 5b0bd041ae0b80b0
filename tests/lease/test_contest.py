"""Who may take a lease and who still has it: the rules, and that never two have it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gitops.lease.contest import Claim, Contest, LeaseState
from gitops.lease.timing import Timing

TIMING = Timing()
OTHERS = LeaseState("other", 30, 4, "7")


def contest(lease: LeaseState | None, *, now: float = 100.0) -> Contest:
    """Somebody who has seen a lease."""
    contest = Contest("me", TIMING)
    contest.saw(lease, now)
    return contest


def held(*, started: float = 100.0) -> Contest:
    """Somebody who has taken a lease that nobody held."""
    contest = Contest("me", TIMING)
    contest.saw(None, started)
    contest.took(LeaseState("me", 30, 0, "1"), started=started, now=started)
    return contest


def test_nobody_claims_what_nobody_has_looked_at() -> None:
    assert Contest("me", TIMING).claim(100) is None


@pytest.mark.parametrize(
    ("lease", "claim"),
    [
        (None, Claim(None, 0, acquires=True)),
        (replace(OTHERS, holder=""), Claim(replace(OTHERS, holder=""), 5, acquires=True)),
        (replace(OTHERS, holder="me"), Claim(replace(OTHERS, holder="me"), 4, acquires=False)),
        (OTHERS, None),
        (replace(OTHERS, renewed="1999-01-01T00:00:00.000000Z"), None),
        (replace(OTHERS, duration=0), Claim(replace(OTHERS, duration=0), 5, acquires=True)),
    ],
    ids=["absent", "free", "ours-by-an-answer-that-was-lost", "another's", "another's-of-long-ago", "of-no-duration"],
)
def test_what_is_claimed_at_first_sight(lease: LeaseState | None, claim: Claim | None) -> None:
    assert contest(lease).claim(100) == claim


def test_another_holder_is_followed_after_its_duration_and_not_before() -> None:
    waiting = contest(OTHERS)

    assert waiting.expires_in(129.9) == pytest.approx(0.1)
    assert waiting.claim(129.9) is None
    assert waiting.claim(130) == Claim(OTHERS, 5, acquires=True)


def test_every_renewal_begins_the_wait_anew_and_is_a_sign_of_life() -> None:
    waiting = contest(OTHERS)
    waiting.saw(OTHERS, 110)
    dead = waiting.alive
    waiting.saw(replace(OTHERS, version="8"), 120)

    assert (dead, waiting.alive) == (False, True)
    assert waiting.claim(149) is None
    assert waiting.claim(150) is not None


def test_a_duration_is_the_holders_own() -> None:
    assert contest(replace(OTHERS, duration=5)).claim(105) is not None
    assert contest(replace(OTHERS, duration=600)).claim(699) is None


def test_a_lease_is_held_from_the_start_of_the_request_until_the_deadline() -> None:
    slow = Contest("me", TIMING)
    slow.saw(None, 90)
    slow.took(LeaseState("me", 30, 0, "1"), started=100, now=115)

    assert slow.holds(119.9)
    assert not slow.holds(120)


def test_a_holder_that_stood_still_past_the_deadline_never_has_it_again() -> None:
    stopped = held()
    stopped.took(LeaseState("me", 30, 0, "2"), started=105, now=126)

    assert not stopped.holds(126)
    assert not stopped.holds(101)
    assert "26 s" in stopped.lost
    assert stopped.claim(127) is None
    assert stopped.release(127) is None


def test_a_holder_that_stood_still_does_not_even_try_to_renew() -> None:
    late = held(started=100)

    assert late.claim(119.9) is not None
    assert late.claim(120) is None


@pytest.mark.parametrize(
    ("lease", "why"),
    [(OTHERS, "somebody else has taken it"), (replace(OTHERS, holder=""), "taken it away"), (None, "taken it away")],
    ids=["robbed", "unlocked", "deleted"],
)
def test_a_holder_that_sees_the_lease_gone_has_lost_it(lease: LeaseState | None, why: str) -> None:
    robbed = held()
    robbed.saw(lease, 101)
    robbed.saw(LeaseState("me", 30, 0, "9"), 102)

    assert not robbed.holds(102)
    assert why in robbed.lost
    assert robbed.claim(103) is None


def test_a_note_that_somebody_writes_on_our_lease_does_not_end_it() -> None:
    noted = held()
    noted.saw(LeaseState("me", 30, 0, "2"), 105)

    assert noted.holds(105)
    assert noted.claim(105) == Claim(LeaseState("me", 30, 0, "2"), 0, acquires=False)


def test_what_was_given_back_is_ours_no_more() -> None:
    done = held()

    assert done.release(110) == LeaseState("me", 30, 0, "1")
    assert not done.holds(110)
    assert done.release(110) is None


@pytest.mark.parametrize(
    "timing",
    [{"deadline": 30.0}, {"interval": 20.0}, {"retry": 6.0}, {"retry": 0.0}],
    ids=["no-margin", "one-renewal", "late-retry", "no-retry"],
)
def test_durations_that_do_not_fit_are_refused(timing: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not 0 < retry"):
        Timing(**timing)  # type: ignore[arg-type]  # all but one are floats


UNDER_WAY = 6.0
"""Seconds that a write may be under way and still arrive before anybody else has the lease, clocks being 5 % off."""


MOMENT = 0.5
"""Seconds of true time between two looks at who has it."""
LONGER_THAN_ANY_LEASE = 40.0
NUMBERS = st.integers(0, 2)
OFFSETS = st.floats(-1e6, 1e6)
"""Where a steady clock begins."""
RATES = (0.95, 1.05, 1.0)
"""How fast the clock of each contender goes: who holds it may be the slowest, and who wants it the fastest."""
LATENCIES = st.sampled_from([0.0, 0.0, 0.0, 0.5, 15.0, 40.0])


@dataclass
class Contender:
    """A process, which stands still whenever nobody moves it."""

    contest: Contest
    offset: float
    rate: float
    answer: tuple[str, float, LeaseState | None] | None = None
    """Of a request that the server has served: what it was, when it began, what is stored."""
    could_write: float = float("-inf")
    """When, by true time, it last had the lease."""

    def clock(self, time: float) -> float:
        return self.offset + time * self.rate


class Leases(RuleBasedStateMachine):
    """Contenders and an API server, in any order of events.

    Requests take as long as they like, answers are lost, processes stand still and die, people note things on the
    lease, and no two clocks agree. `follow` and `claim_with_a_slow_answer` go to the edges of what is allowed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.stored: LeaseState | None = None
        self.version = 0
        self.contenders: list[Contender] = []

    @initialize(offsets=st.lists(OFFSETS, min_size=2, max_size=3), at_work=st.integers(0, 2))
    def start(self, offsets: list[float], at_work: int) -> None:
        for number, (offset, rate) in enumerate(zip(offsets, RATES, strict=False)):
            self.contenders.append(Contender(Contest(f"run-{number}", TIMING), offset, rate))
        for number in range(at_work):
            self.look_and_claim(number, 0.0)

    def some(self, number: int) -> Contender:
        return self.contenders[number % len(self.contenders)]

    @rule(seconds=st.sampled_from([0.5, 2.0, 5.0, 18.0, 22.0, 32.0]))
    def time_passes(self, seconds: float) -> None:
        """Whoever can write does so all the while."""
        for _ in range(int(seconds / MOMENT)):
            self.time += MOMENT
            self.never_two_have_it()

    @rule(number=NUMBERS, late=LATENCIES)
    def look(self, number: int, late: float) -> None:
        """A read is served; its answer is under way."""
        one = self.some(number)
        started = one.clock(self.time)
        self.time_passes(late)
        one.answer = ("look", started, self.stored)

    @rule(number=NUMBERS, late=LATENCIES, skew=st.integers(-3600, 3600))
    def claim(self, number: int, late: float, skew: int) -> None:
        """A claim is served, where there is one; its answer is under way."""
        one = self.some(number)
        started = one.clock(self.time)
        claim = one.contest.claim(started)
        if claim is None:
            return
        self.time_passes(late)
        if (claim.over.version if claim.over else None) != (self.stored.version if self.stored else None):
            one.answer = None  # 409
            return
        if claim.acquires and self.stored is not None and self.stored.holder:
            for other in self.contenders:
                assert other is one or self.time - other.could_write >= UNDER_WAY
        self.store(f"run-{self.contenders.index(one)}", claim.transitions, skew)
        one.answer = ("claim", started, self.stored)

    @rule(number=NUMBERS, late=LATENCIES)
    def look_and_claim(self, number: int, late: float) -> None:
        """All in one, as it is mostly."""
        self.look(number, late)
        self.answered(number)
        self.never_two_have_it()
        self.claim(number, 0.0, 0)
        self.answered(number)

    @rule(number=NUMBERS)
    def follow(self, number: int) -> None:
        """Who wants it looks, and claims at the very first moment that it may."""
        self.look(number, 0.0)
        self.answered(number)
        one = self.some(number)
        end = self.time + LONGER_THAN_ANY_LEASE
        while self.time < end and copy.copy(one.contest).claim(one.clock(self.time)) is None:
            self.time_passes(MOMENT)
        self.claim(number, 0.0, 0)
        self.answered(number)

    @rule(number=NUMBERS, rival=NUMBERS, late=st.sampled_from([5.0, 12.0, 19.0]))
    def claim_with_a_slow_answer(self, number: int, rival: int, late: float) -> None:
        """Others see the claim long before whoever made it knows."""
        self.look(number, 0.0)
        self.answered(number)
        self.claim(number, 0.0, 0)
        if self.some(rival) is not self.some(number):
            self.look(rival, 0.0)
            self.answered(rival)
        self.time_passes(late)
        self.answered(number)

    def store(self, holder: str, transitions: int, skew: int = 0) -> None:
        self.version += 1
        self.stored = LeaseState(holder, 30, transitions, str(self.version), renewed=str(self.time + skew))

    @rule(number=NUMBERS)
    def answered(self, number: int) -> None:
        one = self.some(number)
        if one.answer is None:
            return
        what, started, lease = one.answer
        one.answer = None
        now = one.clock(self.time)
        if what == "look" or lease is None:
            one.contest.saw(lease, now)
        else:
            one.contest.took(lease, started=started, now=now)

    @rule(number=NUMBERS)
    def give_back(self, number: int) -> None:
        one = self.some(number)
        lease = one.contest.release(one.clock(self.time))
        if lease is not None and lease == self.stored:
            self.store("", lease.transitions)
        one.could_write = float("-inf")

    @rule(number=NUMBERS, happens=st.sampled_from(["unanswered", "noted", "dies"]))
    def now_and_then(self, number: int, happens: str) -> None:
        at = number % len(self.contenders)
        one = self.contenders[at]
        if happens == "unanswered":
            one.answer = None
        elif happens == "noted" and self.stored is not None:  # somebody labels the lease
            self.store(self.stored.holder, self.stored.transitions)
        elif happens == "dies" and (self.stored is None or self.stored.holder != f"run-{at}"):
            # Another takes its place; no name is used again while it is known.
            self.contenders[at] = Contender(Contest(f"run-{at}", TIMING), one.offset, one.rate)

    @invariant()
    def never_two_have_it(self) -> None:
        holding = [one for one in self.contenders if copy.copy(one.contest).holds(one.clock(self.time))]
        for one in holding:
            one.could_write = self.time
        assert len(holding) <= 1

    def teardown(self) -> None:
        """Whatever has happened: who keeps looking gets it, once nobody else does anything."""
        late = Contest("late", TIMING)
        late.saw(self.stored, self.time)
        end = self.time + TIMING.duration
        assert late.claim(end) is not None


Leases.TestCase.settings = settings(max_examples=200, stateful_step_count=20)
TestLeases = Leases.TestCase
