"""The plugin's log: `assigning container <ns>/<pod>/<ctr> to balloon <type>[<n>]{cpus:"…", mems:"…"}`.

Source: nri-plugins cmd/plugins/balloons/policy/balloons-policy.go (assignContainer), pkg/log. It is always on at level
Info, in two styles: klog's (`I: [ policy ] …`, or a whole klog header), and slog's since v0.13
(`level=INFO time=… msg="…"`, inner quotes escaped). A line counts whole or not at all: what was cut off or mixed up
names no container.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitops.nri.cpuset import parse_cpuset
from gitops.nri.placement.told import Balloon, Told, Voice, is_balloon, is_container

_TIME = r"(?:\d{4}-\d\d-\d\dT\S+ )?"
"""What `kubectl logs --timestamps` puts before a line."""
_KLOG = re.compile(
    _TIME
    + r"(?:[IWE]: +|[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\s\]]+\] ?)?"
    + r"(?:\[ *[\w.-]+ *\] +)?"
    + r"(?P<message>assigning container .*)"
)
_SLOG = re.compile(
    _TIME + r"(?:(?!msg=)[\w.-]+=(?:\"(?:[^\"\\]|\\.)*\"|[^\s\"]*) )*"
    r"msg=(?P<quoted>\"(?:[^\"\\]|\\.)*\")(?: [\w.-]+=(?:\"(?:[^\"\\]|\\.)*\"|[^\s\"]*))*"
)
_MESSAGE = re.compile(
    r"assigning container (?P<container>\S+) to balloon (?P<balloon>[^\s{]+)"
    r'\{cpus:"(?P<cpus>[\d,-]*)", mems:"[\d,-]*"\}'
)


@dataclass(frozen=True)
class Line:
    """One assignment as the log has it."""

    container: str
    """`<namespace>/<pod>/<container>`."""
    balloon: str
    cpus: frozenset[int]
    """The balloon's when it was chosen, before it may have grown for the container."""


def read_line(text: str) -> Line | None:
    """The assignment that a line tells of; None for every other line."""
    message = _message(text)
    found = _MESSAGE.fullmatch(message) if message is not None else None
    if found is None or not is_container(found["container"]) or not is_balloon(found["balloon"]):
        return None
    cpus = parse_cpuset(found["cpus"])
    return None if cpus is None else Line(found["container"], found["balloon"], cpus)


def read_log(text: str) -> Told:
    """What a log tells, the last word of it for each container and each balloon."""
    return _told(line for line in map(read_line, text.splitlines()) if line is not None)


def _told(lines: Iterable[Line]) -> Told:
    balloons: dict[str, Balloon] = {}
    assignments: dict[str, str] = {}
    for line in lines:
        balloons[line.balloon] = Balloon(line.balloon, line.cpus)
        assignments[line.container] = line.balloon
    return Told(Voice.LOG, balloons, assignments)


def _message(text: str) -> str | None:
    line = text.rstrip("\r\n")
    if quoted := next(_quoted(line), None):
        return quoted
    found = _KLOG.fullmatch(line)
    return found["message"] if found else None


def _quoted(line: str) -> Iterator[str]:
    """A slog line's message. Go quotes what JSON quotes, for every text that names a container."""
    if "assigning container" in line and (found := _SLOG.fullmatch(line)):
        try:
            message = json.loads(found["quoted"])
        except ValueError:
            return
        yield str(message)
