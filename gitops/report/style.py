"""How a text is to look; who asks knows where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import click


class Colour(Enum):
    """Whether ANSI colours are wanted. They only repeat what signs and words say."""

    NONE = "none"
    ANSI = "ansi"


class Detail(Enum):
    """How much is told."""

    CHANGES = "changes"
    """What differs; long lists and long values are cut, and it is said how much is left out."""
    EVERYTHING = "everything"
    """Unchanged objects too, and nothing is cut."""


class Tone(Enum):
    """What a piece of text is about."""

    STRONG = "strong"
    FAINT = "faint"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    WARNED = "warned"
    PLACE = "place"


_LOOKS: dict[Tone, dict[str, Any]] = {
    Tone.STRONG: {"bold": True},
    Tone.FAINT: {"dim": True},
    Tone.ADDED: {"fg": "green"},
    Tone.CHANGED: {"fg": "yellow"},
    Tone.REMOVED: {"fg": "red"},
    Tone.WARNED: {"fg": "magenta"},
    Tone.PLACE: {"fg": "cyan"},
}


@dataclass(frozen=True)
class Style:
    """The look of one text."""

    colour: Colour = Colour.NONE
    detail: Detail = Detail.CHANGES
    width: int = 100
    """Columns to aim at; a name or a path that is longer stays whole."""

    @property
    def whole(self) -> bool:
        """Whether nothing is to be cut."""
        return self.detail is Detail.EVERYTHING

    def paint(self, text: str, tone: Tone | None) -> str:
        """The text in its colour, where colours are wanted; None leaves it as it is."""
        if self.colour is Colour.NONE or tone is None:
            return text
        return click.style(text, **_LOOKS[tone])


PLAIN = Style()
