"""From values to HTML. Every text is made printable and escaped on its way, whatever template it stands in."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target
from gitops.report.words import counted, duration_text, printable, short_digest, short_revision
from gitops.rollout.rollout import RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.serve.board.listing import Query, Row, listing
from gitops.serve.board.stored import moment
from gitops.serve.board.views import NEVER, TROUBLE, OverlayView
from gitops.serve.progress import SOAKING, STATES, UNDER_WAY

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


_BAR, _SEEN = 1000, 6
"""Units of a bar's width, and of the least that can be seen."""
_IN_A_BAR = (
    ShootOutcome.CONVERGED.value,
    UNDER_WAY,
    ShootOutcome.WAITING.value,
    ShootOutcome.DEFERRED.value,
    ShootOutcome.QUARANTINED.value,
    ShootOutcome.FAILED.value,
    ShootOutcome.NOT_STARTED.value,
)
_WRONG = (ShootOutcome.FAILED.value, ShootOutcome.QUARANTINED.value)
_WORST = 5
_IN_PROSE = re.compile(r"`(?P<code>[^`]+)`|(?P<time>\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


@dataclass(frozen=True)
class Segment:
    """A part of a bar."""

    state: str
    at: float
    width: float


@dataclass(frozen=True)
class Asset:
    """A file that pages refer to."""

    content: bytes
    media_type: str
    hash: str


@dataclass(frozen=True)
class Sign:
    """How a state looks: never by its colour alone."""

    mark: str
    words: str
    tone: str
    """A class of the style sheet: good, busy, wait, bad or none."""


SIGNS: Mapping[str, Sign] = {
    UNDER_WAY: Sign("↻", "under way", "busy"),
    SOAKING: Sign("◔", "soaking", "busy"),
    ShootOutcome.CONVERGED.value: Sign("✓", "converged", "good"),
    WaveOutcome.PASSED.value: Sign("✓", "passed", "good"),
    ShootOutcome.WAITING.value: Sign("◷", "waiting", "wait"),
    ShootOutcome.DEFERRED.value: Sign("◌", "deferred", "wait"),
    ShootOutcome.QUARANTINED.value: Sign("⚠", "quarantined", "bad"),
    ShootOutcome.FAILED.value: Sign("✕", "failed", "bad"),
    RunOutcome.STOPPED.value: Sign("✕", "stopped", "bad"),
    ShootOutcome.NOT_STARTED.value: Sign("○", "not started", "none"),
    TROUBLE: Sign("✕", "could not run", "bad"),
    NEVER: Sign("○", "never run", "none"),
}


class Urls:
    """Where everything is, below the path that the app is mounted at."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/")

    def fleet(self) -> str:
        """The first page."""
        return f"{self._root}/"

    def overlay(self, name: str, **parameters: str) -> str:
        """An overlay's waves and shoots."""
        return f"{self._root}/overlays/{_quoted(name)}{_query(parameters)}"

    def plan(self, name: str, **parameters: str) -> str:
        """Its plan."""
        return f"{self._root}/overlays/{_quoted(name)}/plan{_query(parameters)}"

    def history(self, name: str) -> str:
        """Its last runs."""
        return f"{self._root}/overlays/{_quoted(name)}/history"

    def shoot(self, name: str, shoot: Target) -> str:
        """One of its shoots."""
        namespace, _, own = shoot.partition("/")
        return f"{self._root}/overlays/{_quoted(name)}/shoots/{_quoted(namespace)}/{_quoted(own)}"

    def events(self, name: str = "") -> str:
        """The stream of events of one overlay; of all without a name."""
        return f"{self._root}/events{_query({'overlay': name} if name else {})}"

    def asset(self, name: str) -> str:
        """A file, by a URL that changes with it."""
        stem, _, kind = name.rpartition(".")
        return f"{self._root}/assets/{stem}.{asset(name).hash}.{kind}"


@cache
def asset(name: str) -> Asset:
    """A file of this package.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    content = resources.files(__package__).joinpath("assets", name).read_bytes()
    return Asset(content, _TYPES[name.rpartition(".")[2]], hashlib.sha256(content).hexdigest()[:12])


def sign_of(state: str) -> Sign:
    """How a state looks, also one that only a newer version knows."""
    return SIGNS.get(state, Sign("•", state, "none"))


def when(time: datetime | str | None, now: datetime) -> Markup:
    """A time, both as a distance from now and in UTC; `unknown` where there is none."""
    known = moment(time) if isinstance(time, str) else time
    if known is None:
        return Markup("unknown")
    return Markup('<time datetime="{}"><span>{}</span> <small>{}</small></time>').format(
        timestamp(known), distance(known, now), _absolute(known)
    )


def prose(text: str, now: datetime) -> Markup:
    """Sentences: every line its own, commands in backticks as code, and times as distances from now as well."""
    return Markup("<br>").join(_prose(line, now) for line in text.splitlines())


def _prose(line: str, now: datetime) -> Markup:
    said, end = Markup(), 0
    for found in _IN_PROSE.finditer(line):
        said += printable(line[end : found.start()])
        end = found.end()
        known = moment(found["time"])
        if found["code"]:
            said += Markup("<code>{}</code>").format(printable(found["code"]))
        elif known is not None:
            said += Markup('<time datetime="{}">{}</time> ({})').format(
                found["time"], _absolute(known), distance(known, now)
            )
        else:
            said += printable(found[0])
    return said + printable(line[end:])


def distance(time: datetime, now: datetime) -> str:
    """Such as `3 min ago` and `in 2 h 4 min`."""
    seconds = (time - now).total_seconds()
    if abs(seconds) < 1:
        return "now"
    text = _about(abs(seconds))
    return f"in {text}" if seconds > 0 else f"{text} ago"


def took(started: datetime | str | None, finished: datetime | str | None) -> str:
    """How long something took; empty where a time is unknown."""
    begin = moment(started) if isinstance(started, str) else started
    end = moment(finished) if isinstance(finished, str) else finished
    return duration_text(end - begin) if begin is not None and end is not None else ""


def segments(counts: Mapping[str, int]) -> list[Segment]:
    """A bar of shoots by state, done ones first; what is there at all can be seen."""
    total = sum(counts.values())
    parts: list[Segment] = []
    at = 0.0
    for state in _IN_A_BAR:
        if number := counts.get(state, 0):
            width = max(_BAR * number / total, _SEEN)
            parts.append(Segment(state, at, width))
            at += width
    scale = _BAR / at if at > _BAR else 1
    return [Segment(part.state, round(part.at * scale, 1), round(part.width * scale, 1)) for part in parts]


def together(views: Sequence[OverlayView]) -> Mapping[str, int]:
    """Shoots of several overlays by state."""
    found: Counter[str] = Counter()
    for view in views:
        found.update(view.counts)
    return {state: found[state] for state in STATES if found[state]}


def needy(views: Sequence[OverlayView]) -> tuple[tuple[str, str], ...]:
    """Overlays that will not come to a good end by themselves, each with the state that says why."""
    return tuple((view.name, state) for view in views if (state := _need(view)))


def _need(view: OverlayView) -> str:
    """What is wrong, `Waiting` where a person is waited for, or nothing."""
    if sign_of(view.state).tone == "bad":
        return view.state
    wrong = next((state for state in _WRONG if view.counts.get(state)), "")
    waits = ShootOutcome.WAITING.value if view.control is not None and view.control.waits_for_somebody else ""
    return wrong or waits


def worst(view: OverlayView) -> tuple[Row, ...]:
    """The first shoots of which something is wrong."""
    rows = listing(view, Query()).rows[:_WORST] if any(view.counts.get(state) for state in _WRONG) else ()
    return tuple(row for row in rows if row.state.state in _WRONG)


def render(template: str, **values: Any) -> str:
    """A page."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    environment.filters |= {"revision": short_revision, "digest": short_digest, "counted": counted, "sign": sign_of}
    environment.globals |= {
        "took": took,
        "segments": segments,
        "together": together,
        "worst": worst,
        "needy": needy,
    }
    return environment


def _harmless(value: Any) -> Any:
    """Control characters and those that turn the direction of writing around become escapes that can be seen."""
    return printable(value) if type(value) is str else value


def _about(seconds: float) -> str:
    if seconds >= 48 * 3600:
        return f"{int(seconds // 86400)} days"
    return duration_text(timedelta(seconds=seconds if seconds < 60 else seconds // 60 * 60))


def _absolute(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _query(parameters: Mapping[str, str]) -> str:
    return f"?{urlencode(parameters, errors='replace')}" if parameters else ""
