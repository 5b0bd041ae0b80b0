from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.serve.board.listing import PAGE, Listing, Query, listing, read_query
from gitops.serve.board.rendering import segments
from gitops.serve.board.views import OverlayView
from gitops.serve.progress import STATES, ShootState, WaveState


def view(*states: str, wave: str = "fleet") -> OverlayView:
    shoots = tuple(ShootState(f"garden-a/s-{n:04}", state, 0, f"message {n}") for n, state in enumerate(states))
    labels = {shoot.shoot: {"cpu": "balloons", "Team": f"team-{n}"} for n, shoot in enumerate(shoots)}
    return OverlayView("dev", 1, waves=(WaveState(wave, "Waiting", shoots),), labels=labels)


def names(found: Listing) -> list[str]:
    return [row.state.shoot for row in found.rows]


THOUSANDS = view(*["Converged"] * 5000)


def test_the_worst_comes_first() -> None:
    found = listing(view("Converged", "NotStarted", "Failed", "UnderWay", "Quarantined", "Failed"), Query())

    assert [row.state.state for row in found.rows] == [
        "Failed",
        "Failed",
        "UnderWay",
        "Quarantined",
        "NotStarted",
        "Converged",
    ]
    assert names(found)[:2] == ["garden-a/s-0002", "garden-a/s-0005"]


def test_every_shoot_is_on_one_page() -> None:
    pages = [listing(THOUSANDS, Query(page=page)) for page in range(1, 51)]

    assert {found.pages for found in pages} == {50}
    assert [len(found.rows) for found in pages] == [PAGE] * 50
    assert sorted(name for found in pages for name in names(found)) == sorted(THOUSANDS.shoots)
    assert pages[1].first == PAGE + 1


@pytest.mark.parametrize("page", [51, 999_999], ids=str)
def test_a_page_that_does_not_exist_is_the_last(page: int) -> None:
    assert listing(THOUSANDS, Query(page=page)).query.page == 50


@pytest.mark.parametrize(
    ("words", "matching"),
    [
        ("s-0001", 1),
        ("S-0001", 1),
        ("message 12", 1),
        ("cpu=balloons", 20),
        ("team=team-7", 1),
        ("cpu=balloons s-0003", 1),
        ("cpu=nothing", 0),
        ("s-0001 s-0002", 0),
    ],
)
def test_words_are_looked_for_in_names_messages_and_labels(words: str, matching: int) -> None:
    found = listing(view(*["Converged"] * 20), Query(words=words))

    assert (found.matching, found.total) == (matching, 20)


def test_outcome_and_wave_narrow_it() -> None:
    shown = view("Converged", "Failed", "Failed")

    assert listing(shown, Query(outcome="Failed")).matching == 2
    assert listing(shown, Query(wave="fleet", outcome="Converged")).matching == 1
    assert listing(shown, Query(wave="another")).matching == 0


@given(
    st.builds(
        Query,
        st.text("ab =<>&%é", max_size=8).map(lambda text: " ".join(text.split())),
        st.sampled_from(["", *STATES]),
        st.text(max_size=8),
        st.integers(1, 999_999),
    )
)
def test_a_query_survives_its_url(query: Query) -> None:
    assert read_query(query.parameters()) == query
    assert "\n" not in urlencode(query.parameters(), errors="replace")


@given(st.dictionaries(st.sampled_from(["q", "outcome", "wave", "page"]), st.text(max_size=300)))
def test_any_url_asks_for_something(parameters: dict[str, str]) -> None:
    query = read_query(parameters)

    assert query.page >= 1
    assert query.outcome in {"", *STATES}
    assert listing(THOUSANDS, Query(page=query.page)).rows


@given(st.dictionaries(st.sampled_from(STATES), st.integers(1, 10_000), max_size=len(STATES)))
def test_a_bar_is_full_and_shows_whatever_is_there(counts: dict[str, int]) -> None:
    parts = segments(counts)

    assert {part.state for part in parts} == set(counts)
    assert all(part.width >= 5 for part in parts)
    assert sum(part.width for part in parts) == pytest.approx(1000 if counts else 0, abs=1)
