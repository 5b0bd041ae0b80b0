"""Lists whose elements have a key, so that two owners can each hold elements of one list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Element, Path, Step


@dataclass(frozen=True)
class KeyedList:
    """How elements of one list are told apart."""

    key: str
    """The field that names an element, such as `type`."""
    defined_by: tuple[str, ...] = ()
    """The field without which an element makes no sense, as map keys below the element. Whoever declared it
    declared the whole element, and takes all of it along when it is declared no longer. Empty: there is no
    such field, and what others wrote into the element stays."""
    also: tuple[str, ...] = ()
    """Further fields that name an element only together with `key`."""

    def step(self, element: Any) -> Element | None:
        """The step to an element; None where it lacks part of its key."""
        parts = [element.get(key) if isinstance(element, Mapping) else None for key in (self.key, *self.also)]
        if None in parts:
            return None
        first, *others = map(str, parts)
        return Element(self.key, first, tuple(zip(self.also, others, strict=True)))


ListKeys = Mapping[tuple[str, ...], KeyedList]
"""Keyed lists by their path, in map keys only: the elements of outer lists are left out."""

NO_LISTS: ListKeys = {}


def keyed(lists: ListKeys, path: Path) -> KeyedList | None:
    """How the list at `path` is keyed; None where it is one value."""
    return lists.get(tuple(step for step in path if isinstance(step, str)))


def index_of(values: list[Any], step: Element) -> int | None:
    """Where in a list the element with this key is; None where it is not."""
    for index, value in enumerate(values):
        if isinstance(value, Mapping) and names(step, value):
            return index
    return None


def names(step: Element, value: Mapping[str, Any]) -> bool:
    """Whether these fields, of an element or of its key, are what the step looks for."""
    return all(value.get(key) is not None and str(value[key]) == text for key, text in step.fields.items())


def child(value: Any, step: Step) -> Any:
    """One step down; raises KeyError where there is nothing."""
    if isinstance(step, Element):
        if isinstance(value, list) and (index := index_of(value, step)) is not None:
            return value[index]
    elif isinstance(value, Mapping) and step in value:
        return value[step]
    raise KeyError(step)
