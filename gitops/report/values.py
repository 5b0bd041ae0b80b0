"""Values of fields as people read them: on one line, as lines of YAML, and as the difference of two."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import Any

from gitops.desired.render import to_yaml
from gitops.ownership.merge import ABSENT
from gitops.plan.masking import MASK
from gitops.report.words import counted, printable

_COMPARED_LINES = 4000
"""Beyond so many lines, finding the difference of two texts takes longer than anybody waits."""


def value_text(value: Any, width: int | None = None) -> str:
    """A value on one line, as JSON has it; a longer one is cut, and its size told.

    Args:
        value: any JSON value, or `ABSENT`.
        width: the most characters; None never cuts. Below 40 it is taken as 40.
    """
    if value is ABSENT:
        return "(absent)"
    if value == MASK:
        return MASK
    text = printable(json.dumps(value, ensure_ascii=False))
    if width is None or len(text) <= max(width, 40):
        return text
    hint = f"… ({_size(value)})"
    return text[: max(width, 40) - len(hint)] + hint


def is_nested(value: Any) -> bool:
    """Whether a value reads better over several lines."""
    return (isinstance(value, dict | list) and bool(value)) or (isinstance(value, str) and "\n" in value)


def told_apart(live: Any, desired: Any) -> tuple[Any, Any]:
    """Two values that differ, in a form that shows it: masked ones would look the same."""
    if live != desired:
        return live, desired
    return _marked(live, "before"), _marked(desired, "after")


def yaml_lines(value: Any) -> list[str]:
    """A value as lines of YAML with sorted keys, each harmless by itself; none for `ABSENT`."""
    if value is ABSENT:
        return []
    lines = to_yaml(_encodable(value)).removesuffix("\n").split("\n")
    if lines[-1] == "..." and len(lines) > 1:
        lines.pop()
    return [printable(line) for line in lines]


def difference_lines(live: Any, desired: Any, context: int = 2) -> Iterator[str]:
    """The YAML of two values compared: lines that begin with `-`, `+` or a space, and `…` between distant places."""
    before, after = map(yaml_lines, told_apart(live, desired))
    if len(before) + len(after) > _COMPARED_LINES:
        yield f"- ({counted(len(before), 'line')}, too many to compare here)"
        yield f"+ ({counted(len(after), 'line')})"
        return
    for number, line in enumerate(difflib.unified_diff(before, after, n=context, lineterm="")):
        if not line.startswith("@@"):
            if number >= 2:
                yield f"{line[0]} {line[1:]}"
        elif number > 2:
            yield "…"


def _size(value: Any) -> str:
    if isinstance(value, dict):
        return counted(len(value), "field")
    if isinstance(value, list):
        return counted(len(value), "item")
    return counted(len(str(value)), "character")


def _marked(value: Any, when: str) -> Any:
    if isinstance(value, dict):
        return {key: _marked(below, when) for key, below in value.items()}
    if isinstance(value, list):
        return [_marked(element, when) for element in value]
    return f"{MASK} {when}" if value == MASK else value


def _encodable(value: Any) -> Any:
    """The same with sorted keys, and without lone surrogates, which no encoding has."""
    if isinstance(value, dict):
        return {_encodable(key): _encodable(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_encodable(element) for element in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
