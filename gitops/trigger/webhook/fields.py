"""Fields of a forge's JSON that may be anything, as what we need them to be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gitops.manifest import get


def text(document: Any, *path: str) -> str:
    """The string at a path of keys; empty when there is none."""
    found = get(document, *path)
    return found if isinstance(found, str) else ""


def true(document: Any, *path: str) -> bool:
    """Whether the value at a path is true and not merely there."""
    return get(document, *path) is True


def items(document: Any, *path: str) -> list[Any]:
    """The list at a path; empty when there is none."""
    found = get(document, *path)
    return found if isinstance(found, list) else []


def addresses(document: Any, paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The strings at several paths, each once, without those that are not there."""
    return tuple(dict.fromkeys(filter(None, (text(document, *path) for path in paths))))
