"""Logs of a process that runs for years: one line for each thing that happened, for machines or for people.

Whatever logs goes the same way, libraries too. A text from outside cannot begin a line of its own, nor look like
another field, and what looks like a credential is left out.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TextIO

from gitops.desired.compose import Desired
from gitops.errors import GitopsError
from gitops.manifest import Target
from gitops.observer import Observer, Run
from gitops.plan.document import digest
from gitops.plan.masking import MASK
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.report.plan_text import cost_lines
from gitops.report.record_text import OUTCOME_WORDS
from gitops.report.words import counted, duration_text, plan_totals, printable
from gitops.rollout.rollout import Rollout, RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.serve.progress import UNDER_WAY, Progress, ShootState, WaveState, shoot_state, wave_state

FIELDS = ("overlay", "wave", "shoot", "run", "revision", "trigger")
"""What a line may be about, beside its message; given to loggers as `extra`."""
_LONGEST = 8_000
"""Characters of a message, and of a traceback."""
_PACE = 1.0
"""Seconds between two looks at who has moved."""
_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # a JSON web token
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # userinfo of a URL
    r"|\b(ghp|gho|ghs|glpat|github_pat|xox[abp])[-_][A-Za-z0-9_-]{10,}"
    r"|(?<=\bbearer )\S+|(?<=\bbasic )[A-Za-z0-9+/=]{8,}",
    re.IGNORECASE | re.DOTALL,
)


class Form(Enum):
    """What a line looks like."""

    TEXT = "text"
    """For people."""
    JSON = "json"
    """For machines: one object a line."""


def json_logging(stream: TextIO, level: int = logging.INFO) -> None:
    """Let everything that logs write JSON to a stream, instead of wherever it wrote before."""
    logging_to(stream, Form.JSON, level)


def logging_to(stream: TextIO, form: Form, level: int = logging.INFO) -> None:
    """Let everything that logs write to a stream, instead of wherever it wrote before."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if form is Form.JSON else TextFormatter())
    root = logging.getLogger()
    for before in root.handlers[:]:
        root.removeHandler(before)
    root.addHandler(handler)
    root.setLevel(level)
    for chatty in ("httpx", "urllib3", "kubernetes", "git"):
        logging.getLogger(chatty).setLevel(max(level, logging.WARNING))
    logging.captureWarnings(capture=True)


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, message, logger; what it is about; and an error with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, in ASCII."""
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "message": _message(record),
            **_about(record),
            "logger": record.name,
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = _clean(self.formatException(record.exc_info))
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """Time, level, message, and what it is about in brackets."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback follows in lines of its own, each behind a bar."""
        about = " ".join(f"{key}={printable(value)}" for key, value in _about(record).items() if key != "revision")
        text = f"{_time(record)} {record.levelname.lower():<7} {printable(_message(record))}"
        text = f"{text} [{about}]" if about else text
        if record.exc_info and record.exc_info[0] is not None:
            trace = _clean(self.formatException(record.exc_info)).splitlines()
            text = "\n".join([text, *(f"    | {printable(line)}" for line in trace)])
        return text


class LogObserver(Observer):
    """Tells of runs: the plan in brief, shoots whose outcome changes, waves that pass, and the end.

    A shoot that is as declared and was not touched is told at debug level only. One may observe any number of runs
    at once, but the threads of one run tell it one after the other.
    """

    def __init__(self, logger: logging.Logger | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Make one.

        Args:
            logger: where it tells; None is `gitops.run`.
            monotonic: seconds by which it is paced.
        """
        self._logger = logger or logging.getLogger("gitops.run")
        self._monotonic = monotonic
        self._told: dict[str, _Told] = {}

    def began(self, run: Run, desired: Desired) -> None:
        """It looks at the world."""
        self._told[run.id] = _Told()
        self._say(logging.INFO, run, f"a run begins, over {counted(len(desired.shoots), 'shoot')}")

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """What it would do."""
        del outlook
        plan = planned.plan
        self._say(logging.INFO, run, " ".join((f"plan {digest(plan)}: {plan_totals(plan)}.", *cost_lines(plan))))
        for warning in plan.warnings:
            self._say(logging.WARNING, run, warning)
        for problem in planned.problems:
            self._say(logging.ERROR, run, str(problem))

    def waiting(self, run: Run, holder: str) -> None:
        """Whom it waits for before its first write."""
        self._say(logging.INFO, run, f"another run is at work: waiting for {holder}")

    def moved(self, run: Run, rollout: Rollout) -> None:
        """Who has moved, once a second."""
        told = self._told.get(run.id)
        if told is None:
            return
        present = told.progress.moment
        done = told.progress.moved(rollout)
        now = self._monotonic()
        if done and present is not None:
            for wave in told.progress.moment.before if told.progress.moment else ():
                self._wave(run, told, wave)
        elif now - told.looked < _PACE:
            return
        told.looked = now
        for state in map(shoot_state, list(rollout.tracks.values())):
            self._shoot(run, told, rollout.wave.name, state)

    def ended(self, run: Run, record: Record) -> None:
        """What came of it."""
        told = self._told.pop(run.id, None) or _Told()
        for wave in map(wave_state, record.result.waves):
            self._wave(run, told, wave)
        result = record.result
        took = duration_text(record.finished - record.started)
        text = f"{result.outcome.value}: {counted(result.writes, 'object')} written in {took}"
        bad = result.outcome in {RunOutcome.STOPPED, RunOutcome.FAILED}
        self._say(logging.ERROR if bad else logging.INFO, run, f"{text}: {result.message}" if result.message else text)

    def failed(self, run: Run, error: GitopsError) -> None:
        """Why it could not go on."""
        self._told.pop(run.id, None)
        self._say(logging.ERROR, run, f"the run could not go on: {error}")

    def _wave(self, run: Run, told: _Told, wave: WaveState) -> None:
        """A wave that is done with, once."""
        for shoot in wave.shoots:
            self._shoot(run, told, wave.name, shoot)
        if wave.state == WaveOutcome.PASSED.value and wave.name not in told.passed:
            told.passed.add(wave.name)
            counts = ", ".join(f"{number} {state}" for state, number in wave.counts.items()) or "no shoots"
            self._say(logging.INFO, run, f"wave passed: {counts}", wave=wave.name)

    def _shoot(self, run: Run, told: _Told, wave: str, shoot: ShootState) -> None:
        if told.shoots.get(shoot.shoot, ShootOutcome.NOT_STARTED.value) == shoot.state:
            return
        untouched = shoot.shoot not in told.shoots and not shoot.writes
        told.shoots[shoot.shoot] = shoot.state
        quiet = shoot.state == ShootOutcome.CONVERGED.value and untouched
        level = logging.DEBUG if quiet else _LEVELS.get(shoot.state, logging.INFO)
        written = f", {counted(shoot.writes, 'object')} written" if shoot.writes else ""
        message = f": {shoot.message}" if shoot.message else ""
        self._say(level, run, f"{_WORDS.get(shoot.state, shoot.state)}{written}{message}", wave=wave, shoot=shoot.shoot)

    def _say(self, level: int, run: Run, message: str, **about: str) -> None:
        names = {"run": run.id, "overlay": run.overlay, "revision": run.revision, "trigger": run.trigger}
        self._logger.log(level, "%s", message, extra={**names, **about})


class _Told:
    """What was said of one run."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.looked = float("-inf")
        self.shoots: dict[Target, str] = {}
        self.passed: set[str] = set()


_LEVELS: Mapping[str, int] = {
    ShootOutcome.FAILED.value: logging.ERROR,
    ShootOutcome.QUARANTINED.value: logging.WARNING,
}
_WORDS: Mapping[str, str] = {
    UNDER_WAY: "under way",
    **{outcome.value: words for outcome, words in OUTCOME_WORDS.items()},
}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    try:
        return _clean(record.getMessage())
    except (TypeError, ValueError, KeyError):
        return _clean(f"{record.msg} {record.args}")  # a library's mistake is no reason to lose what it says


def _about(record: logging.LogRecord) -> dict[str, Any]:
    return {key: _clean(str(value)) for key in FIELDS if (value := getattr(record, key, None))}


def _clean(text: str) -> str:
    """Without what looks like a credential, and not without end."""
    text = _SECRETS.sub(MASK, text[: 4 * _LONGEST])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
