"""Twenty-four hours of pushes, schedules and faults: nothing grows."""

from __future__ import annotations

import gc
import logging
import resource
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gitops.sandbox import RequestFault
from gitops.trigger.following import following
from gitops.trigger.push import Push, Refusal, Refused
from gitops.trigger.receiving import FORGES, receive
from gitops.trigger.replay import ReplayWindow
from tests.end_to_end.repository import balloons
from tests.end_to_end.sandbox_fleet import SandboxFleet
from tests.serve.day import Living
from tests.trigger.samples import SECRETS, github_push

WARM_UP = timedelta(hours=4)
DAY = timedelta(hours=24)
MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Footprint:
    """What a process holds."""

    objects: int
    """Whatever Python's collector knows of."""
    resident: int
    """Bytes of memory."""
    threads: int
    files: int

    @classmethod
    def now(cls) -> Footprint:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        files = len(list(Path("/proc/self/fd").iterdir()))
        return cls(len(gc.get_objects()), pages * resource.getpagesize(), threading.active_count(), files)


class Day:
    """What happens in every two hours."""

    def __init__(self, living: Living) -> None:
        self.living = living
        self.seen = ReplayWindow()
        self.refused = 0
        self.pushes = 0
        self._following = following(["https://github.example/fleet/config"], "main")

    def plan(self) -> None:
        """Put a whole day on the clock."""
        start = self.living.clock.now()
        happenings: list[tuple[float, Callable[[], None]]] = [
            (7, self.change),
            (11, self.burst),
            (16, self.force),
            (21, self.garden_fails),
            (26, self.garden_recovers),
            (31, self.repository_vanishes),
            (36, self.repository_returns),
            (41, self.break_overlay),
            (46, self.mend_overlay),
            (51, self.shoot_is_silent),
            (56, self.shoot_speaks),
            (59, self.attack),
        ]
        for hour in range(0, 24, 2):
            for minute, happening in happenings:
                self.living.clock.at(start + timedelta(hours=hour, minutes=2 * minute + hour / 30), happening)

    def deliver(self) -> None:
        """A webhook, by all the way that it takes behind HTTP."""
        self.pushes += 1
        sample = github_push(after=f"{self.pushes:040d}")
        sample = replace(sample, headers={**sample.headers, "X-GitHub-Delivery": f"delivery {self.pushes}"})
        delivery = replace(sample.delivery(), received=self.living.clock.now())
        outcome = receive(FORGES["github"], delivery, SECRETS, self.seen)
        assert isinstance(outcome, Push)
        assert isinstance(self._following.concern(outcome), tuple)
        self.living.pushed()

    def change(self) -> None:
        self.living.fleet.repository.policy(**balloons(str(1 + self.pushes % 2)))
        self.living.fleet.repository.commit()
        self.deliver()

    def burst(self) -> None:
        for _ in range(100):
            self.deliver()

    def force(self) -> None:
        git = self.living.fleet.repository.git
        git("commit", "--quiet", "--amend", "--allow-empty", "--message", f"rewritten {self.pushes}")
        git("reflog", "expire", "--expire=now", "--all")
        git("gc", "--quiet", "--prune=now")
        self.deliver()

    def garden_fails(self) -> None:
        self._faults.append(RequestFault("Reset", {"cluster": "garden"}, probability=0.5))
        self._faults.append(RequestFault("TooManyRequests", {"cluster": "*"}, probability=0.2))
        self.deliver()

    def garden_recovers(self) -> None:
        self._faults.clear()

    def repository_vanishes(self) -> None:
        path = self.living.fleet.repository.path
        path.rename(path.with_name("away"))
        self.deliver()

    def repository_returns(self) -> None:
        path = self.living.fleet.repository.path
        path.with_name("away").rename(path)

    def break_overlay(self) -> None:
        self.living.fleet.repository.write("overlays/broken/overlay.yaml", {"kind": "Nonsense"})
        self.living.fleet.repository.commit()
        self.deliver()

    def mend_overlay(self) -> None:
        self.living.fleet.repository.remove("overlays/broken/overlay.yaml")
        self.living.fleet.repository.commit()
        self.deliver()

    def shoot_is_silent(self) -> None:
        self._faults.append(RequestFault("Unavailable", {"cluster": self.living.fleet.target("two")}))
        self.change()

    def shoot_speaks(self) -> None:
        self._faults.clear()

    def attack(self) -> None:
        for number in range(500):
            sample = replace(github_push(after=f"{number:040x}"), secret=f"guess {number}")
            outcome = receive(FORGES["github"], sample.delivery(), SECRETS, self.seen)
            self.refused += outcome == Refused(Refusal.SIGNATURE)

    @property
    def _faults(self) -> list[RequestFault]:
        return self.living.fleet.landscape.faults.requests


@pytest.fixture
def quiet() -> Iterator[None]:
    """Without pytest's own memory of what was logged, whatever levels the tests before this one have left."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("quiet")
def test_a_day_of_pushes_schedules_and_faults_leaves_nothing_behind(tmp_path: Path) -> None:
    living = Living(SandboxFleet(tmp_path), cron="*/20 * * * *")
    day = Day(living)
    start = living.clock.now()
    day.plan()

    living.live_until(start + WARM_UP)
    before = Footprint.now()
    living.live_until(start + DAY)
    after = Footprint.now()

    told = living.told
    print(f"\n{told.outcomes.total()} runs {dict(told.outcomes)}, {told.writes} writes, {day.pushes} pushes")  # noqa: T201
    print(f"before {before}\nafter  {after}")  # noqa: T201
    assert told.outcomes.keys() >= {"Converged", "Waiting", "Unreachable"}, "the faults did what they are for"
    assert told.triggers.keys() == {"push", "schedule"}
    assert day.refused == 12 * 500
    assert after.threads <= before.threads + 2
    assert after.files <= before.files + 2
    assert after.objects <= before.objects + 6_000, "less than forty for each run"
    assert after.resident <= before.resident + 16 * MEGABYTE
    assert len(day.seen) < 1000

    living.live(minutes=30)
    assert living.told.ended_records[-1].revision == living.fleet.repository.git("rev-parse", "HEAD")
    assert living.told.ended_records[-1].result.outcome.value == "Converged"
