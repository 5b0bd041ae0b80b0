"""The dashboard as people have it: in Chromium, light, dark and narrow, by keyboard, and without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from gitops.serve.board import Board, Everybody, Streams, TokenFile, TrustedProxy, routes
from gitops.serve.board.events import Pace
from tests.serve.board.browser import CHROMIUM, NARROW, PATIENCE, WIDE, chromium, served, window
from tests.serve.board.demo import EVIL, SUBJECT, demo_board
from tests.serve.fleets import Fleet, suspended

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

SHOOT = "/overlays/staging/shoots/garden-local/fleet-03"
PINNED = "/overlays/pinned/shoots/garden-local/pinned"
PAGES = {
    "fleet": "/",
    "overlay": "/overlays/prod",
    "filtered": "/overlays/prod?q=fleet-1&outcome=Converged&page=3",
    "plan": "/overlays/dev/plan",
    "history": "/overlays/staging/history",
    "shoot": SHOOT,
    "cpus": PINNED,
    "trouble": "/overlays/lab",
}
LOOKS = {"light": ("light", WIDE), "dark": ("dark", WIDE), "narrow": ("dark", NARROW)}
TOKEN = "a-token-that-nobody-guesses"  # noqa: S105 - of this test
FOCUSABLE = "a[href], button, input, select, summary, [tabindex='0']"


@pytest.fixture(scope="module")
def board() -> Board:
    return demo_board()


@pytest.fixture(scope="module")
def address(board: Board) -> Iterator[str]:
    streams = Streams(board, pace=Pace(look=0.05))
    with served(Starlette(routes=routes(board, Everybody(), streams))) as address:
        yield address
        board.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with chromium() as browser:
        yield browser


def violations(page: Page) -> list[str]:
    """What axe-core finds: names, labels, roles, order of headings, contrast as it is computed."""
    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound_in_every_look(browser: Browser, address: str, tmp_path: Path, name: str, look: str) -> None:
    scheme, width = LOOKS[look]
    with window(browser, scheme=scheme, width=width) as seen:
        seen.page.goto(f"{address}{PAGES[name]}")
        expect(seen.page.locator("#link-text")).to_have_text("live")

        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(seen.page) == []
        shot = tmp_path / "page.png"
        seen.page.screenshot(path=shot)
        assert shot.stat().st_size > 15_000
        assert seen.complaints == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(("path", "status"), [("/nothing", 404), ("/overlays/late/plan", 503)])
def test_so_is_the_page_of_what_went_wrong(
    browser: Browser, address: str, board: Board, path: str, status: int, look: str
) -> None:
    board.committed("late", "", "")
    scheme, width = LOOKS[look]
    with window(browser, scheme=scheme, width=width) as seen:
        answer = seen.page.goto(f"{address}{path}")

        assert answer is not None
        assert answer.status == status
        assert violations(seen.page) == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        expect(seen.page.get_by_role("link", name="To the fleet")).to_be_visible()


def test_a_stranger_sees_a_page_that_says_so(browser: Browser, board: Board) -> None:
    app = Starlette(routes=routes(board, TrustedProxy(["192.0.2.1"])))
    with served(app) as address, window(browser) as seen:
        answer = seen.page.goto(address)

        assert answer is not None
        assert answer.status == 403
        expect(seen.page.get_by_role("heading", name="Not by this way")).to_be_visible()
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(245, 246, 244)"


def test_a_browser_signs_in_with_a_token_as_the_password(browser: Browser, board: Board, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    app = Starlette(routes=routes(board, TokenFile(file)))
    with served(app) as address, window(browser, password=TOKEN) as seen:
        seen.page.goto(address)

        expect(seen.page.get_by_role("heading", name="Fleet")).to_be_visible()
        expect(seen.page.locator("#link-text")).to_have_text("live")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (SHOOT, f"team={EVIL}"),
        (SHOOT, f"denied by policy: {EVIL}"),
        ("/overlays/staging/history", SUBJECT),
        ("/overlays/staging/plan", EVIL),
        ("/", SUBJECT),
    ],
    ids=["label", "error", "commit message", "field of a plan", "commit message in the fleet"],
)
def test_an_injected_script_is_a_text(browser: Browser, address: str, path: str, text: str) -> None:
    with window(browser) as seen:
        seen.page.goto(f"{address}{path}")

        expect(seen.page.get_by_text(text).first).to_be_visible()
        assert "owned" not in seen.page.title()
        scripts = seen.page.eval_on_selector_all("script", "found => found.map(script => script.textContent)")
        assert scripts == [""]
        assert seen.complaints == []


@pytest.mark.parametrize("name", ["fleet", "overlay", "plan", "shoot"])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(browser: Browser, address: str, name: str) -> None:
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}{PAGES[name]}")
        count = page.evaluate(
            f"""[...document.querySelectorAll("{FOCUSABLE}")].filter(part => part.checkVisibility())"""
            ".map((part, at) => part.dataset.at = at).length"
        )

        reached = []
        for _ in range(count):
            page.keyboard.press("Tab")
            at, outline = page.evaluate(
                "[document.activeElement.dataset.at, getComputedStyle(document.activeElement).outlineStyle]"
            )
            reached.append(int(at))
            assert outline == "solid"

        assert reached == list(range(count))


def test_the_first_key_offers_to_skip_to_the_content(browser: Browser, address: str) -> None:
    with window(browser) as seen:
        seen.page.goto(address)
        seen.page.keyboard.press("Tab")
        skip = seen.page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()

        seen.page.keyboard.press("Enter")

        assert seen.page.evaluate("document.activeElement.id") == "main"


def test_a_shoot_is_found_by_keyboard_alone(browser: Browser, address: str) -> None:
    with window(browser) as seen:
        seen.page.goto(f"{address}/overlays/prod")
        seen.page.get_by_label("Name, message or label").focus()
        seen.page.keyboard.type("fleet-4242")
        seen.page.keyboard.press("Enter")
        expect(seen.page.get_by_text("1 to 1 of 1 shoot that match, of 5000 in all")).to_be_visible()
        assert "q=fleet-4242" in seen.page.url

        seen.page.get_by_role("link", name="garden-local/fleet-4242").focus()
        seen.page.keyboard.press("Enter")

        expect(seen.page.get_by_role("heading", level=1)).to_have_text("garden-local/fleet-4242")


@pytest.mark.parametrize("name", PAGES)
def test_without_javascript_everything_is_there(browser: Browser, address: str, name: str) -> None:
    texts = []
    for scripts in (True, False):
        with window(browser, scripts=scripts) as seen:
            seen.page.goto(f"{address}{PAGES[name]}")
            texts.append(seen.page.locator("main").inner_text())
            if not scripts:
                assert seen.page.locator("meta[http-equiv=refresh]").count() == 1
                expect(seen.page.get_by_role("link", name="Reload")).to_be_visible()
                expect(seen.page.locator("#link")).to_be_hidden()

    assert texts[0] == texts[1]


def test_without_javascript_the_filter_works(browser: Browser, address: str) -> None:
    with window(browser, scripts=False) as seen:
        seen.page.goto(f"{address}/overlays/prod")
        seen.page.get_by_label("State").select_option("under way")
        seen.page.get_by_role("button", name="Show").click()

        expect(seen.page.get_by_text("40 shoots that match, of 5000 in all")).to_be_visible()
        expect(seen.page.get_by_label("State")).to_have_value("UnderWay")


def test_a_page_follows_a_rollout_and_leaves_its_reader_in_peace(browser: Browser, address: str, board: Board) -> None:
    fleet = Fleet("live", {"canary": 1, "fleet": 6}, at_once=2)
    with fleet.under_way(board, 3), window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/overlays/live")
        expect(page.locator("#link-text")).to_have_text("live")
        expect(page.locator("#waves")).to_contain_text("1 under way")
        page.get_by_label("Name, message or label").fill("half a wo")
        link = page.get_by_role("link", name="garden-local/fleet-03")
        link.focus()
        assert page.locator("#said").inner_text() == ""

        Fleet("live", {"canary": 1, "fleet": 6}, at_once=2).rollout(board)

        expect(page.locator("#head")).to_contain_text("converged")
        expect(page.locator("#waves")).to_contain_text("6 converged")
        expect(page.locator("#said")).to_have_text("live: converged.")
        expect(page.get_by_label("Name, message or label")).to_have_value("half a wo")
        expect(link).to_be_focused()
        assert seen.complaints == []


def test_what_is_opened_stays_open(browser: Browser, address: str, board: Board) -> None:
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/overlays/dev/plan")
        page.get_by_text("The same in 11 more shoots").click()
        expect(page.get_by_role("link", name="garden-prod/s-07")).to_be_visible()

        board.committed("dev", "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "Another word for it")

        expect(page.locator("#plan")).to_contain_text("Another word for it")
        expect(page.get_by_role("link", name="garden-prod/s-07")).to_be_visible()


def test_a_change_touches_nothing_else_on_the_page(browser: Browser, address: str, board: Board) -> None:
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/overlays/dev/plan")
        expect(page.locator("#link-text")).to_have_text("live")
        summary = page.get_by_text("The same in 11 more shoots")
        summary.focus()
        page.evaluate("getSelection().selectAllChildren(document.querySelector('.digest'))")
        digest = page.evaluate("getSelection().toString()")
        page.evaluate("window.kept = [...document.querySelectorAll('article')]")
        revision = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"

        board.committed("dev", revision, "A third word for it")

        expect(page.locator("#plan")).to_contain_text("A third word for it")
        expect(summary).to_be_focused()
        assert page.evaluate("getSelection().toString()") == digest.strip()
        assert page.evaluate("window.kept.length && window.kept.every(part => part.isConnected)")


def test_rows_that_change_places_are_the_same_rows(browser: Browser, address: str, board: Board) -> None:
    fleet = Fleet("order", {"all": 3}, lambda *_: False)
    fleet.rollout(board)
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/overlays/order")
        expect(page.locator("#link-text")).to_have_text("live")
        link = page.get_by_role("link", name="garden-local/all-02")
        link.focus()
        page.evaluate("window.row = document.activeElement.closest('tr')")

        again = Fleet("order", {"all": 3})
        again.refuse("garden-local/all-02", "no room")
        again.rollout(board)

        expect(page.locator("#shoots tbody tr").first).to_contain_text("no room")
        assert page.locator("#shoots tbody tr").count() == 3
        assert page.evaluate("window.row === document.querySelector('#shoots tbody tr')")
        expect(link).to_be_focused()
        followed = page.locator("main").inner_html()
        page.reload()
        assert page.locator("main").inner_html() == followed


def test_only_what_changed_is_said_aloud(browser: Browser, address: str, board: Board) -> None:
    fleet = Fleet("spoken", {"all": 1}, lambda *_: False)
    fleet.fail(board, "no way in")
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/")
        expect(page.locator("#link-text")).to_have_text("live")

        fleet.rollout(board)

        expect(page.locator("#said")).to_have_text("spoken: converged.")


def test_a_page_that_is_paused_stays_as_it_is(browser: Browser, address: str, board: Board) -> None:
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/overlays/pinned")
        expect(page.locator("#link-text")).to_have_text("live")
        page.get_by_role("button", name="Pause").press("Enter")
        expect(page.locator("#link-text")).to_have_text("paused")
        before = page.locator("main").inner_html()
        board.asked(suspended("pinned"))
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        assert page.locator("main").inner_html() == before

        page.get_by_role("button", name="Go on").press("Enter")

        expect(page.locator("#head")).to_contain_text("Suspended by ada")
        expect(page.locator("#link-text")).to_have_text("live")


def test_that_a_page_is_no_longer_live_is_said_aloud(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    other = demo_board()
    app = Starlette(routes=routes(other, TokenFile(file), Streams(other, pace=Pace(look=0.05))))
    with served(app) as address, window(browser, password=TOKEN) as seen:
        seen.page.goto(f"{address}/overlays/dev")
        expect(seen.page.locator("#link-text")).to_have_text("live")
        file.write_text("another-token-that-nobody-guesses\n")

        other.asked(suspended("dev"))

        expect(seen.page.locator("#said")).to_have_text("This page is no longer live: signed out.")
        other.close()


def test_a_lost_connection_is_said_and_made_up_for(browser: Browser, address: str, board: Board) -> None:
    with window(browser) as seen:
        page = seen.page
        page.goto(f"{address}/overlays/lab")
        expect(page.locator("#link-text")).to_have_text("live")
        page.context.set_offline(True)
        page.evaluate("dispatchEvent(new Event('pagehide'))")
        board.asked(suspended("lab"))
        page.context.set_offline(False)
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")

        expect(page.locator("#head")).to_contain_text("Suspended by ada since")
        expect(page.locator("#link-text")).to_have_text("live")


def test_when_the_process_ends_the_page_says_so(browser: Browser) -> None:
    other = demo_board()
    with window(browser) as seen:
        with served(Starlette(routes=routes(other, Everybody(), Streams(other, pace=Pace(look=0.05))))) as address:
            seen.page.goto(f"{address}/")
            expect(seen.page.locator("#link-text")).to_have_text("live")
            other.close()

        expect(seen.page.locator("#link-text")).to_have_text("reconnecting")
        expect(seen.page.get_by_role("heading", name="Fleet")).to_be_visible()
