from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from gitops.control.control import Suspension
from gitops.desired.overlay import ApprovalRule
from gitops.desired.windows import parse_window
from gitops.manifest import GARDEN
from gitops.nri.prerequisites.wanted import Prerequisites
from gitops.plan.changes import Plan
from gitops.plan.document import digest
from gitops.report.control import Controlled
from gitops.report.explain import Explanation
from gitops.report.preflight import ShootPreflight
from gitops.report.standing import Standing
from gitops.report.status import ShootStatus
from gitops.rollout.admission import Held, HeldBy
from gitops.serve.board import Board, Everybody, routes
from gitops.serve.board.guard import HEADERS
from gitops.serve.board.rendering import Urls, distance, prose, render, when
from gitops.serve.board.stored import rules_text
from gitops.serve.board.views import Commit, LastRun, OverlayView, PlanNow, RunNow, Trouble
from gitops.serve.progress import STATES, ShootState, WaveState
from gitops.verdict import Verdict, current
from tests.report.plans import PLANS, TEXTS, example_plan
from tests.report.rollouts import NOON, overlay_of
from tests.serve.asking import ask
from tests.serve.board.demo import demo_board
from tests.serve.fleets import Fleet, StoppedClock, suspended

BOARD = demo_board()
APP = Starlette(routes=routes(BOARD, Everybody()))
SHOOT = "/overlays/staging/shoots/garden-local/fleet-03"
PINNED = "/overlays/pinned/shoots/garden-local/pinned"
PAGES = ("/", "/overlays/prod", "/overlays/dev/plan", "/overlays/staging/history", SHOOT, PINNED, "/nothing")


class Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def get(path: str, **how: Any) -> httpx.Response:
    return ask(APP, path, **how)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_leaves_no_room_for_what_we_did_not_write(path: str) -> None:
    answer = get(path)

    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    for tag, attributes in Elements(answer.text).found:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        assert tag != "style"
        if tag == "script":
            assert attributes["src"]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_loaded_from_elsewhere(path: str) -> None:
    for tag, attributes in Elements(get(path).text).found:
        for name in ("href", "src", "action", "data"):
            url = attributes.get(name)
            assert not url or url.startswith(("/", "#")), tag


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", PAGES)
def test_nothing_can_be_changed(path: str, method: str) -> None:
    assert get(path, method=method).status_code == 405


@pytest.mark.parametrize("path", PAGES)
def test_forms_only_ask(path: str) -> None:
    for tag, attributes in Elements(get(path).text).found:
        if tag == "form":
            assert attributes["method"] == "get"


def test_the_head_of_a_page_is_that_of_the_page() -> None:
    answer = get("/overlays/prod", method="HEAD")

    assert (answer.status_code, answer.text) == (200, "")
    assert answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/overlays/nothing",
        "/overlays/dev/shoots/garden-local/nobody",
        "/overlays/nothing/plan",
        "/overlays/dev/other",
        "/assets/board.000000000000.css",
        "/assets/..%2Fpages.py",
        "/assets/board.css",
        "/favicon.ico",
        "/overlays/%00/history",
    ],
)
def test_what_is_not_there_is_said_so_and_where_to_go(path: str) -> None:
    answer = get(path)

    assert answer.status_code == 404
    assert 'href="/"' in answer.text


def test_before_the_first_plan_it_is_said_what_is_waited_for() -> None:
    board = Board(StoppedClock())
    fleet = Fleet("dev", {"all": 2})
    board.began(fleet.run, fleet.desired)
    served = Starlette(routes=routes(board, Everybody()))

    answer = ask(served, "/overlays/dev/plan")

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "the run that is under way is looking at the garden" in answer.text
    assert "its waves appear as soon as it has a plan" in ask(served, "/overlays/dev").text


def test_an_empty_board_says_what_to_do() -> None:
    answer = ask(Starlette(routes=routes(Board(StoppedClock()), Everybody())), "/")

    assert answer.status_code == 200
    assert "gitops validate" in answer.text


def test_assets_are_kept_for_ever_under_a_name_that_changes_with_them() -> None:
    page = get("/").text
    for url in re.findall(r'"(/assets/[^"]+)"', page):
        answer = get(url)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert get(url, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(set(re.findall(r"/assets/[^\"]+", page))) == 3


def test_five_thousand_shoots_come_page_by_page() -> None:
    first = get("/overlays/prod").text
    assert "1 to 100 of 5000 shoots" in first
    assert first.count('class="shoot"') == 100
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = get(following[1]).text
    assert "101 to 200 of 5000 shoots" in second


def test_a_filter_stays_while_pages_are_turned_and_in_the_form() -> None:
    page = get("/overlays/prod?q=fleet-1+cpu%3Dballoons&outcome=Converged&wave=fleet").text

    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following is not None
    assert "q=fleet-1+cpu%3Dballoons&amp;outcome=Converged&amp;wave=fleet&amp;page=2" in following[1]
    assert 'value="fleet-1 cpu=balloons"' in page
    assert '<option value="Converged" selected>' in page


def test_a_filter_that_nothing_matches_says_how_to_get_out() -> None:
    page = get("/overlays/prod?q=nothing-is-called-that").text

    assert "No shoot of 5000 matches" in page
    assert 'href="/overlays/prod"' in page


def test_a_shoot_says_why_it_is_where_it_is_and_what_comes_next() -> None:
    page = get(SHOOT).text

    assert "denied by policy" in page
    assert "nothing more until this is mended" in page
    assert "kubectl -n garden-local describe shoot fleet-03" in page
    assert "/spec/purpose" in page


def test_a_plan_tells_fields_with_their_managers_and_what_it_costs() -> None:
    page = get("/overlays/dev/plan").text

    assert "/spec/extensions/[type=cri-resmgr-extension]/disabled" in page
    assert "by kubectl-patch" in page
    assert "node roll" in page
    assert "machines are replaced in 1 shoot" in page
    assert "kept, ignored by the overlay" in page
    assert "and 11 shoots alike" in page


def test_every_cpu_is_on_the_map_once() -> None:
    page = get(PINNED).text
    machine = page.partition('class="machine"')[2].partition("<table")[0]

    assert sorted(map(int, re.findall(r"<small>(\d+)</small>", machine))) == list(range(128))
    assert 'aria-label="128 CPUs of node w1-0: batch[0] has 20' in page


def test_a_dashboard_below_another_path_links_there() -> None:
    transport_root = "/board"

    async def mounted(scope: Any, receive: Any, send: Any) -> None:
        await APP({**scope, "root_path": transport_root, "path": transport_root + scope["path"]}, receive, send)

    page = ask(mounted, "/overlays/prod").text

    links = [attributes["href"] for tag, attributes in Elements(page).found if tag in {"a", "link"}]
    assert all(link and (link.startswith(transport_root) or link == "#main") for link in links)


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (0, "now"),
        (-5, "5 s ago"),
        (-200, "3 min ago"),
        (200, "in 3 min"),
        (7500, "in 2 h 5 min"),
        (-86400 * 3, "3 days ago"),
    ],
)
def test_times_are_told_from_now(after: int, text: str) -> None:
    time = NOON + timedelta(seconds=after)

    assert distance(time, NOON) == text
    assert f'datetime="{time:%Y-%m-%dT%H:%M:%SZ}"' in when(time, NOON)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a <b> & c\nd\x1b", "a &lt;b&gt; &amp; c<br>d\\x1b"),
        ("run `gitops resume dev`.", "run <code>gitops resume dev</code>."),
        ("`<i>`", "<code>&lt;i&gt;</code>"),
        (
            "until 2026-11-30T22:00:00Z.",
            'until <time datetime="2026-11-30T22:00:00Z">2026-11-30 22:00:00 UTC</time> (in 10 h).',
        ),
        ("2026-99-30T22:00:00Z ` `", "2026-99-30T22:00:00Z <code> </code>"),
    ],
)
def test_sentences_show_commands_as_code_and_times_as_people_read_them(text: str, html: str) -> None:
    assert prose(text, NOON) == html


def test_a_wave_says_what_it_waits_for_before_it_begins() -> None:
    wave = overlay_of(["night"]).waves[0]
    night = parse_window("0 22 * * *", timedelta(hours=4), "Europe/Berlin")

    text = rules_text(replace(wave, approval=ApprovalRule.REQUIRED, windows=(night,)))

    assert text == "1 at once, no failure allowed, with an approval, in a window: 0 22 * * * for 4h (Europe/Berlin)"


def test_a_shoot_that_waits_says_for_what_until_when_and_what_to_type() -> None:
    page = get("/overlays/dev/shoots/garden-prod/s-01").text
    assert "nothing: waits for approval" in page
    assert f"<code>gitops approve dev --digest {digest(example_plan())}</code>" in page

    page = get("/overlays/dev/shoots/garden-local/local").text
    assert "by itself, with the first run after <time" in page
    assert "(in 6 h 56 min)" in page
    assert "By hand" not in page, "there is nothing to type"


def test_that_an_overlay_is_suspended_is_said_once() -> None:
    board = Board(StoppedClock())
    board.asked(suspended("dev"))
    Fleet("dev", {"all": 1}).suspended(board, "the overlay is suspended by ada")
    board.scheduled("dev", NOON - timedelta(minutes=1))

    page = ask(Starlette(routes=routes(board, Everybody())), "/").text

    assert page.casefold().count("suspended") == 1
    assert "Next by schedule" not in page, "it was due a minute ago"


def test_the_fleet_leads_to_overlays_that_need_somebody() -> None:
    page = get("/").text
    nav = re.search(r'<nav class="chips".*?</nav>', page, re.DOTALL)
    assert nav is not None

    words = re.findall(r'#overlay-(\w+)".*?<span class="faint">(.*?)<', nav[0])

    assert words == [("dev", "waiting"), ("lab", "could not run"), ("staging", "stopped")]


NASTY = (
    TEXTS
    | st.text(max_size=20)
    | st.sampled_from(["<script>x</script>", "' onload=x '", "{{ 7 * 7 }}", "]]>", "--><b>"])
)
MARK = "☠"
"""Stands in every text, so that what is made of it is found again."""


def _marked(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return texts.map(lambda text: f"{MARK}<i id=x>{text}</i>\"'{MARK}")


@st.composite
def views(draw: st.DrawFn) -> tuple[OverlayView, Explanation]:
    """Overlays in which every text wants to be markup."""
    text = _marked(NASTY)
    t = {key: draw(text) for key in ("name", "message", "wave", "label", "revision", "trigger", "subject", "shoot")}
    plan: Plan = replace(draw(PLANS), revision=t["revision"])
    shoot = ShootState(f"{t['shoot']}/x", draw(st.sampled_from(STATES)), 1, t["message"])
    wave = WaveState(t["wave"], draw(text | st.just("Stopped")), (shoot,))
    status = ShootStatus(shoot.shoot, t["wave"], None, draw(st.sampled_from(Standing)), t["message"], None)
    verdicts: tuple[tuple[str, Verdict], ...] = ((t["name"], current(t["message"])),)
    held = {shoot.shoot: Held(HeldBy.WINDOW, t["message"])}
    control = Controlled(t["name"], t["label"], Suspension(t["name"], NOON, t["message"]), None, held)
    changes = next((s.changes for w in plan.waves for s in w.shoots), ())
    explanation = Explanation(
        t["name"],
        t["revision"],
        shoot.shoot,
        status,
        changes,
        verdicts,
        Prerequisites(),
        ShootPreflight(shoot.shoot, None, t["message"], ()),
        None,
        control,
    )
    last = LastRun(t["revision"], t["label"], t["trigger"], draw(text), t["message"], 1, NOON, None)
    brief = {
        "revision": t["revision"],
        "digest": t["label"],
        "trigger": t["trigger"],
        "outcome": draw(text),
        "message": t["message"],
        "writes": t["label"],
        "started": t["label"],
        "finished": t["label"],
    }
    view = OverlayView(
        t["name"],
        1,
        RunNow("run", t["revision"], t["trigger"], NOON, ending=t["message"]),
        last,
        Trouble(t["message"], t["revision"], NOON, NOON, 2),
        None,
        (wave,),
        {t["wave"]: t["label"]},
        PlanNow(plan, t["label"], NOON, ()),
        (brief,),
        {shoot.shoot: explanation},
        {shoot.shoot: {t["label"]: t["label"]}},
        {t["revision"]: Commit(t["subject"], t["subject"])},
        NOON,
        (t["trigger"],),
        control,
    )
    return view, explanation


class _Fixed(Board):
    """Shows what it is given."""

    def __init__(self, view: OverlayView, explanation: Explanation) -> None:
        super().__init__(StoppedClock())
        self._given, self._explanation = view, explanation

    def overlay(self, name: str) -> OverlayView | None:
        del name
        return self._given

    def fleet(self) -> tuple[OverlayView, ...]:
        return (self._given,)

    def explanation(self, overlay: str, shoot: str) -> Explanation | None:
        del overlay, shoot
        return self._explanation


OURS = frozenset(
    {
        *("html", "head", "body", "meta", "title", "link", "script", "noscript", "header", "footer", "main", "nav"),
        *("section", "article", "h1", "h2", "h3", "h4", "p", "div", "span", "br", "dl", "dt", "dd", "ul", "ol", "li"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "form", "label", "input", "select", "option"),
        *("button", "a", "b", "q", "code", "pre", "small", "time", "del", "ins", "details", "summary", "svg", "rect"),
    }
)
"""Elements of our templates; `i` is none of them."""


@settings(max_examples=60)
@given(views())
def test_no_text_in_any_field_ever_is_markup(given_: tuple[OverlayView, Explanation]) -> None:
    view, explanation = given_
    served = Starlette(routes=routes(_Fixed(view, explanation), Everybody()))
    shoot = next(iter(view.shoots))

    for path in ("/", "/overlays/x", "/overlays/x/plan", "/overlays/x/history", "/overlays/x/shoots/a/b"):
        page = ask(served, path)
        if path.endswith("/b"):
            assert page.status_code in {200, 404}
        else:
            assert page.status_code == 200, (path, page.text)
        elements = Elements(page.text).found
        assert {tag for tag, _ in elements} <= OURS
        assert not any(MARK in name for _, attributes in elements for name in attributes)
        assert sum(tag == "script" for tag, _ in elements) <= 1
        body = page.text.replace("\n", "")
        assert body.isprintable()
    assert shoot


def test_a_text_that_looks_like_a_template_is_only_a_text() -> None:
    page = render(
        "error.html",
        status=404,
        title="{{ 7 * 7 }}",
        text="{% raw %}",
        version=0,
        events="",
        url=Urls(""),
        here="/",
        viewer="",
        when=lambda _: "",
        prose=lambda text: prose(text, NOON),
        sign_of=None,
        now=NOON,
    )

    assert "{{ 7 * 7 }}" in page
    assert "49" not in page


def test_the_example_plan_is_shown_whole() -> None:
    page = get("/overlays/dev/plan").text

    for wave in example_plan().waves:
        for shoot in wave.shoots:
            name = shoot.shoot.partition("/")[2]
            quiet = all(change.action.value == "unchanged" for change in shoot.changes)
            assert quiet or f"/{name}" in page
    assert GARDEN not in re.findall(r"Wave (\w+)", page)
