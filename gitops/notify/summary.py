"""One run told in brief: as JSON by contract, and as a message for people. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from gitops.errors import GitopsError
from gitops.gardener.shoot_record import timestamp
from gitops.observer import Run
from gitops.plan.document import API_VERSION
from gitops.record.record import Record, record_document
from gitops.report.words import counted, duration_text, printable, short_revision

NAMED = 20
"""Shoots that are named in one wave; the others are counted."""
MESSAGE = 500
"""Characters of each message."""
TEXT = 3000
"""Characters of a message for people."""
_FINE = {"Converged", "NotStarted"}
_MARKUP = re.compile(r"[&<>@`*_~|\]]")
_WORD = re.compile(r"(?<=[a-z])([A-Z])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"}


def summary(run: Run, record: Record, link: str) -> dict[str, Any]:
    """A run that came to its end: the record, with shoots counted, and named where something is to be told of them."""
    document = record_document(record)
    brief = {key: value for key, value in document.items() if key != "waves"}
    brief |= {"kind": "Notification", "run": run.id, "link": link, "message": brief["message"][:MESSAGE]}
    return {**brief, "waves": [_wave(wave) for wave in document["waves"]]}


def failure_summary(run: Run, error: GitopsError, link: str) -> dict[str, Any]:
    """A run that could not go on: the same keys, and no wave."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Notification",
        "overlay": run.overlay,
        "revision": run.revision,
        "digest": "",
        "trigger": run.trigger,
        "outcome": "Failed",
        "message": str(error)[:MESSAGE],
        "writes": 0,
        "started": timestamp(run.started),
        "finished": None,
        "run": run.id,
        "link": link,
        "waves": [],
    }


def _wave(wave: dict[str, Any]) -> dict[str, Any]:
    counts = Counter(shoot["outcome"] for shoot in wave["shoots"])
    told = [shoot for shoot in wave["shoots"] if shoot["outcome"] not in _FINE]
    named = [{key: shoot[key] for key in ("shoot", "outcome", "message")} for shoot in told[:NAMED]]
    return {
        "name": wave["name"],
        "outcome": wave["outcome"],
        "counts": dict(sorted(counts.items())),
        "shoots": [{**shoot, "message": shoot["message"][:MESSAGE]} for shoot in named],
    }


def summary_text(told: dict[str, Any], took: float | None) -> str:
    """A summary in the markup of Slack and those that speak it, which holds nothing of others but their text.

    Args:
        told: the summary.
        took: seconds that the run took; None where it did not come to its end.
    """
    link = f"\n<{told['link']}>" if told["link"] else ""
    text, room = "\n".join(_lines(told, took)), TEXT - len(link)
    if len(text) > room:  # where the rest is to be read must not be lost with it
        text = f"{text[: room - 1].rpartition(chr(10))[0]}\n…"
    return text + link


def _lines(told: dict[str, Any], took: float | None) -> Iterator[str]:
    signs = {"Converged": ":white_check_mark:", "Waiting": ":hourglass:"}
    head = f"{signs.get(told['outcome'], ':x:')} *{told['outcome']}*: {plain(told['overlay'])}"
    head += f" at `{plain(short_revision(told['revision']))}`" if told["revision"] else ""
    head += f", {counted(told['writes'], 'object')} written"
    yield (
        head
        + (f" in {duration_text(timedelta(seconds=took))}" if took is not None else "")
        + f" ({plain(told['trigger'])})"
    )
    for wave in told["waves"]:
        counts = ", ".join(f"{number} {spoken(outcome)}" for outcome, number in wave["counts"].items())
        yield f"• {plain(wave['name'])}: {spoken(wave['outcome'])}" + (f", {counts}" if counts else "")
        for shoot in wave["shoots"][:5]:
            yield f"    {plain(shoot['shoot'] or 'registrations')}: {plain(shoot['message'][:200])}"
        if len(wave["shoots"]) > 5:
            yield "    …"
    if not told["waves"] and told["message"]:
        yield plain(told["message"])


def spoken(outcome: str) -> str:
    """An outcome in running text: `NotStarted` is `not started`."""
    return _WORD.sub(r" \1", outcome).lower()


def plain(text: str) -> str:
    """A text of somebody else: it mentions nobody, links nowhere, and has no markup.

    Slack reads `&`, `<` and `>` as markup (docs.slack.dev, "Formatting message text"); Mattermost and others that take
    the same messages read plain `@all` as well, and Markdown's links and images, whose address follows a `]`.
    """
    return _MARKUP.sub(lambda match: _ENTITIES.get(match[0], f"{match[0]}\u200b"), printable(" ".join(text.split())))
