"""Which shoots a page shows: a filter and a page, both from the URL, so that a view can be sent to somebody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gitops.rollout.step import ShootOutcome
from gitops.serve.board.views import OverlayView
from gitops.serve.progress import STATES, UNDER_WAY, ShootState

PAGE = 100
"""Shoots on a page."""
_LONGEST = 200
"""Characters of a search that count."""
_WORST_FIRST = (
    ShootOutcome.FAILED.value,
    UNDER_WAY,
    ShootOutcome.QUARANTINED.value,
    ShootOutcome.WAITING.value,
    ShootOutcome.DEFERRED.value,
    ShootOutcome.NOT_STARTED.value,
    ShootOutcome.CONVERGED.value,
)


@dataclass(frozen=True)
class Query:
    """What is asked for."""

    words: str = ""
    """Each of them must be in a shoot's name, its message or a label written as `key=value`."""
    outcome: str = ""
    """Empty for all."""
    wave: str = ""
    page: int = 1

    def parameters(self) -> dict[str, str]:
        """As they stand in a URL; what asks for nothing is left out."""
        page = str(self.page) if self.page > 1 else ""
        asked = {"q": self.words, "outcome": self.outcome, "wave": self.wave, "page": page}
        return {key: value for key, value in asked.items() if value}

    @property
    def narrows(self) -> bool:
        """Whether it asks for less than everything."""
        return bool(self.words or self.outcome or self.wave)


@dataclass(frozen=True)
class Row:
    """One shoot in a list."""

    wave: str
    state: ShootState


@dataclass(frozen=True)
class Listing:
    """One page of what was found."""

    query: Query
    """As it was understood: the page is one that exists."""
    rows: tuple[Row, ...]
    matching: int
    total: int
    pages: int

    @property
    def first(self) -> int:
        """The number of the first row among those that match; 0 where there is none."""
        return (self.query.page - 1) * PAGE + 1 if self.rows else 0

    def at(self, page: int) -> Query:
        """The same query for another page."""
        return replace(self.query, page=page)


def read_query(parameters: Mapping[str, str]) -> Query:
    """What a URL asks for; what makes no sense asks for nothing."""
    outcome = parameters.get("outcome", "")
    page = parameters.get("page", "")
    return Query(
        " ".join(parameters.get("q", "")[:_LONGEST].split()),
        outcome if outcome in STATES else "",
        parameters.get("wave", "")[:_LONGEST],
        max(int(page), 1) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
    )


def listing(view: OverlayView, query: Query) -> Listing:
    """The shoots that match, worst first, then in the order of waves and names."""
    matching = sorted(_matching(view, query), key=lambda row: _WORST_FIRST.index(row.state.state))
    pages = max(-(-len(matching) // PAGE), 1)
    query = replace(query, page=min(query.page, pages))
    start = (query.page - 1) * PAGE
    total = sum(len(wave.shoots) for wave in view.waves)
    return Listing(query, tuple(matching[start : start + PAGE]), len(matching), total, pages)


def _matching(view: OverlayView, query: Query) -> Iterator[Row]:
    words = query.words.casefold().split()
    for wave in view.waves:
        if query.wave in {"", wave.name}:
            for shoot in wave.shoots:
                if query.outcome in {"", shoot.state} and (not words or _has(view, shoot, words)):
                    yield Row(wave.name, shoot)


def _has(view: OverlayView, shoot: ShootState, words: list[str]) -> bool:
    labels = (f"{key}={value}" for key, value in view.labels.get(shoot.shoot, {}).items())
    text = "\n".join((shoot.shoot, shoot.message, *labels)).casefold()
    return all(word in text for word in words)
