"""YAML as text with places in it: edits replace exactly what they name, and leave every other character alone.

Dumping a document again would move comments, quotes and line breaks, so nothing is dumped: ruamel.yaml says where each
node stands, and the text there is exchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ruamel.yaml import YAML

from gitops.desired.scalars import plain_scalar

_PLAIN = re.compile(r"[A-Za-z0-9_./][-A-Za-z0-9_./@]*(?::[-A-Za-z0-9_./@]+)*")


class YamlText:
    """One YAML document as text. Edits are collected, and applied by `edited`."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode()
        self.root: Any = YAML().compose(self.text)
        self.line_break = "\r\n" if "\r\n" in self.text else "\n"
        self._edits: list[tuple[int, int, str]] = []

    def edited(self) -> bytes:
        """The text with all edits in it."""
        text = self.text
        for start, end, new in sorted(self._edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:start] + new + text[end:]
        return text.encode()

    def replace(self, start: int, end: int, new: str) -> None:
        """Exchange what stands between two positions."""
        self._edits.append((start, end, new))

    def replace_scalar(self, node: Any, value: str) -> None:
        """Exchange one text, in the quotes that it has.

        Raises:
            ValueError: it is shared by an anchor, or written as a block.
        """
        if node.anchor:
            raise ValueError(f"line {line(node)} has an anchor, so that other places would change too: edit it by hand")
        if node.style in {"|", ">"}:
            raise ValueError(f"line {line(node)} begins a block of text: edit it by hand")
        self.replace(node.start_mark.index, node.end_mark.index, scalar(value, node.style))

    def insert_after(self, node: Any, lines: Sequence[str], column: int) -> None:
        """New lines below the one on which a node's content ends, comment included."""
        at = self.text.find("\n", self.content_end(node))
        text = self._indented(lines, column)
        if at >= 0:
            self.replace(at + 1, at + 1, text)
        else:
            self.replace(len(self.text), len(self.text), self.line_break + text.removesuffix(self.line_break))

    def insert_before(self, start: int, lines: Sequence[str], column: int) -> None:
        """New lines above the one that starts at a position, and above the comments that belong to it."""
        while start > 0:
            before = self.text.rfind("\n", 0, start - 1) + 1
            if not self.text[before:start].lstrip().startswith("#"):
                break
            start = before
        self.replace(start, start, self._indented(lines, column))

    def _indented(self, lines: Sequence[str], column: int) -> str:
        return "".join(f"{' ' * column if new.strip() else ''}{new}{self.line_break}" for new in lines)

    def content_end(self, node: Any) -> int:
        """Where the last character of a node stands; comments and empty lines after it are not its own."""
        if isinstance(node.value, list) and node.value and not node.flow_style:
            last = node.value[-1]
            return self.content_end(last[1] if isinstance(last, tuple) else last)
        start: int = node.start_mark.index
        return start + len(self.text[start : node.end_mark.index].rstrip())


def line(node: Any) -> int:
    """Where a node begins, counted from 1."""
    return int(node.start_mark.line) + 1


def at(node: Any, path: Sequence[str | int]) -> Any:
    """The node at a path of map keys and positions; None where there is none."""
    for step in path:
        if node is None or not isinstance(node.value, list):
            return None
        if isinstance(step, int):
            node = node.value[step] if step < len(node.value) else None
        else:
            node = next((value for key, value in node.value if key.value == step), None)
    return node


def key_of(node: Any, name: str) -> Any:
    """The node of a key of a map; None where it has none."""
    return next((key for key, _ in node.value if key.value == name), None)


def scalar(value: str, style: str | None = None) -> str:
    """A text as YAML, in quotes of the style that is asked for, or where it needs them."""
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    if style == '"' or not _is_plain(value):
        return json.dumps(value, ensure_ascii=False)
    return value


def _is_plain(value: str) -> bool:
    try:
        return bool(_PLAIN.fullmatch(value)) and plain_scalar(value) == value
    except ValueError:
        return False


def shifted(text: str, columns: int) -> str:
    """A text whose lines after the first are moved to the right, or, by a negative number, to the left."""
    first, *others = text.split("\n")
    return "\n".join([first, *_moved(others, columns)])


def _moved(lines: Sequence[str], columns: int) -> Iterator[str]:
    for text in lines:
        if not text.strip():
            yield text
        elif columns >= 0:
            yield " " * columns + text
        else:
            yield text[min(-columns, len(text) - len(text.lstrip(" "))) :]
