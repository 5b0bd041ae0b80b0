"""Words that all reports share: counts, lists of names, times, signs; and texts from outside made harmless."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from gitops.plan.changes import Action, Plan
from gitops.report.style import Tone

SIGNS: Mapping[Action, str] = {
    Action.CREATED: "+",
    Action.CONFIGURED: "~",
    Action.PRUNED: "-",
    Action.UNCHANGED: "=",
    Action.DEFERRED: "…",
    Action.SKIPPED: "!",
}
TONES: Mapping[Action, Tone] = {
    Action.CREATED: Tone.ADDED,
    Action.CONFIGURED: Tone.CHANGED,
    Action.PRUNED: Tone.REMOVED,
    Action.UNCHANGED: Tone.FAINT,
    Action.DEFERRED: Tone.FAINT,
    Action.SKIPPED: Tone.WARNED,
}


def printable(text: str) -> str:
    r"""A text from outside on one line: control, format and other invisible characters become escapes such as `\n`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def counted(number: int, noun: str) -> str:
    """Such as `1 shoot` and `2 shoots`, for nouns with a plain plural."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    if len(names) <= most:
        return ", ".join(map(printable, names))
    return f"{', '.join(map(printable, names[:most]))} and {len(names) - most} more"


def wrapped(text: str, *, width: int, indent: str, first: str | None = None) -> list[str]:
    """A sentence from outside over several lines; words longer than a line stay whole.

    Args:
        text: what to say.
        width: columns to aim at.
        indent: what every line begins with.
        first: what the first line begins with instead.
    """
    return textwrap.wrap(
        printable(" ".join(text.split())),
        width=max(width, len(indent) + 20),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def short_revision(revision: str) -> str:
    """The first 12 of a commit's 40 digits, which git takes as its name."""
    return printable(revision[:12])


def short_digest(digest: str) -> str:
    """`sha256:` and the first 12 digits."""
    method, colon, digits = digest.partition(":")
    return printable(f"{method}{colon}{digits[:12]}")


def duration_text(duration: timedelta) -> str:
    """Such as `12 s`, `3 min 5 s`, `30 min`, `2 h 4 min`."""
    seconds = max(int(duration.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {seconds} s" if seconds else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


def plan_totals(plan: Plan) -> str:
    """Such as `1 to create, 3 to configure, 0 to prune; 5 unchanged, 1 deferred, 0 skipped`."""
    count = plan.summary()
    return (
        f"{count['created']} to create, {count['configured']} to configure, {count['pruned']} to prune; "
        f"{count['unchanged']} unchanged, {count['deferred']} deferred, {count['skipped']} skipped"
    )


def sentences(parts: Iterable[str]) -> str:
    """Parts that are not empty, as one sentence without a full stop."""
    return "; ".join(part for part in parts if part)
