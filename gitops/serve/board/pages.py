"""The pages. Every one of them only reads: nothing here can change anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target
from gitops.report.explain import Explanation, command
from gitops.report.plan_text import cost_lines
from gitops.report.preflight import preflight_document
from gitops.report.status import next_action
from gitops.report.words import plan_totals
from gitops.serve.board.access import Everybody, ViewAccess
from gitops.serve.board.board import Board
from gitops.serve.board.changes import NAMES, plan_page, shown_changes
from gitops.serve.board.cpu_map import cpu_maps
from gitops.serve.board.events import Streams
from gitops.serve.board.guard import Guard
from gitops.serve.board.listing import listing, read_query
from gitops.serve.board.rendering import Urls, asset, prose, render, sign_of, when
from gitops.serve.board.views import OverlayView, PlanNow
from gitops.serve.progress import STATES

Page = Callable[[Request], Response]

_REASONS = {
    401: ("Who is asking?", "The dashboard is for people who are known here: send a token, or a name and password."),
    403: (
        "Not by this way",
        "The dashboard is reached through a proxy that says who you are, and this request did not.",
    ),
    404: ("Not here", "There is no such page. Perhaps git declares the overlay or the shoot no longer."),
    405: ("Only to look at", "Nothing can be changed here: git and the command line are for that."),
    421: ("Under another name", "This dashboard answers to localhost only, as it asks nobody who they are."),
    503: ("Not yet", "Nobody has looked yet."),
}


def routes(board: Board, access: ViewAccess, streams: Streams | None = None) -> list[BaseRoute]:
    """The dashboard's routes; the last of them answers whatever no other route does, so they come last.

    Args:
        board: what is shown.
        access: who may look.
        streams: of events; None makes them as they should be.
    """
    pages = _Pages(board)
    streams = streams or Streams(board)
    guard = [Middleware(Guard, access=access, refusal=pages.refusal)]
    open_to_all = [Middleware(Guard, access=Everybody(), refusal=pages.refusal)]  # the look of a refusal, no more

    def route(path: str, page: Page) -> Route:
        return Route(path, pages.answering(page), methods=["GET"], middleware=guard)

    async def events(request: Request) -> Response:
        return streams.answer(request)

    return [
        route("/", pages.fleet),
        Route("/events", events, methods=["GET"], middleware=guard),
        route("/overlays/{overlay}", pages.overlay),
        route("/overlays/{overlay}/plan", pages.plan),
        route("/overlays/{overlay}/history", pages.history),
        route("/overlays/{overlay}/shoots/{namespace}/{shoot}", pages.shoot),
        Route("/assets/{file}", pages.answering(pages.asset), methods=["GET"], middleware=open_to_all),
        route("/{anything:path}", pages.nothing),
    ]


class _Pages:
    def __init__(self, board: Board) -> None:
        self._board = board

    def answering(self, page: Page) -> Page:
        """A page, or the page of what went wrong with it."""

        def answer(request: Request) -> Response:
            try:
                return page(request)
            except HTTPException as error:
                return self.refusal(request, error.status_code, error.detail)

        return answer

    def fleet(self, request: Request) -> Response:
        """Every overlay, wave by wave."""
        version = self._board.shown_version()  # before the views, so that a page is never older than it says
        shown = {"views": self._board.fleet(), "repository": self._board.repository}
        return self._page(request, "fleet.html", version=version, events=_urls(request).events(), **shown)

    def overlay(self, request: Request) -> Response:
        """An overlay's waves and shoots."""
        view = self._view(request)
        found = listing(view, read_query(request.query_params))
        url = _urls(request)

        def link(page: int) -> str:
            return url.overlay(view.name, **found.at(page).parameters())

        return self._overlay_page(request, view, "overlay.html", found=found, states=STATES, page_link=link)

    def shoot(self, request: Request) -> Response:
        """Why a shoot is where it is, and what happens next."""
        view = self._view(request)
        target = f"{request.path_params['namespace']}/{request.path_params['shoot']}"
        explanation = self._board.explanation(view.name, target)
        if target not in view.shoots and explanation is None and not _left_out(view, target):
            raise HTTPException(404)
        wave, state = view.shoots.get(target, (None, None))
        return self._overlay_page(
            request,
            view,
            "shoot.html",
            target=target,
            wave=wave,
            state=state,
            labels=view.labels.get(target, {}),
            explained=None if explanation is None else _explained(explanation),
        )

    def plan(self, request: Request) -> Response:
        """What a run would change, or has begun to."""
        view = self._view(request)
        if view.plan is None:
            what = "the run that is under way is looking at the garden" if view.run else "no run has begun"
            raise HTTPException(503, f"There is no plan of {view.name} yet: {what}.")
        query = read_query(request.query_params)
        plan = view.plan.plan
        url = _urls(request)

        def link(page: int) -> str:
            return url.plan(view.name, **replace(query, page=page).parameters())

        return self._overlay_page(
            request,
            view,
            "plan.html",
            now_plan=view.plan,
            shown=plan_page(view.plan, query.wave, query.page),
            page_link=link,
            wave=query.wave,
            most=NAMES,
            totals=plan_totals(plan),
            cost=cost_lines(plan),
            sizes=_sizes(view.plan),
        )

    def history(self, request: Request) -> Response:
        """The last runs."""
        return self._overlay_page(request, self._view(request), "history.html")

    def asset(self, request: Request) -> Response:
        """A file that pages refer to; its URL holds its hash, so that it never changes."""
        stem, _, rest = request.path_params["file"].partition(".")
        digest, _, kind = rest.partition(".")
        try:
            found = asset(f"{stem}.{kind}") if (stem, kind) in _ASSETS else None
        except FileNotFoundError:
            found = None
        if found is None or found.hash != digest:
            raise HTTPException(404)
        headers = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{found.hash}"'}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=found.media_type, headers=headers)

    def nothing(self, request: Request) -> Response:
        """No page."""
        del request
        raise HTTPException(404)

    def refusal(self, request: Request, status: int, detail: str = "") -> Response:
        """The page of what went wrong."""
        title, text = _REASONS.get(status, (HTTPStatus(status).phrase, ""))
        said = detail if detail and detail != HTTPStatus(status).phrase else text
        page = self._page(request, "error.html", status=status, title=title, text=said, version=0, events="")
        page.status_code = status
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            page.headers["Retry-After"] = "5"
        return page

    def _view(self, request: Request) -> OverlayView:
        view = self._board.overlay(request.path_params["overlay"])
        if view is None:
            raise HTTPException(404)
        return view

    def _overlay_page(self, request: Request, view: OverlayView, template: str, **values: Any) -> Response:
        events = _urls(request).events(view.name)
        repository = self._board.repository
        version = max(view.version, repository.version)
        shown = {"view": view, "version": version, "repository": repository, "events": events}
        return self._page(request, template, **shown, **values)

    def _page(self, request: Request, template: str, **values: Any) -> HTMLResponse:
        now = self._board.clock.now()
        viewer = request.scope.get("state", {}).get("viewer", "")
        shared = {
            "url": _urls(request),
            "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            "viewer": viewer,
            "when": lambda time: when(time, now),
            "prose": lambda text: prose(text, now),
            "sign_of": sign_of,
            "now": now,
        }
        return HTMLResponse(render(template, **shared, **values))


_ASSETS = frozenset({("board", "css"), ("board", "js"), ("icon", "svg")})


def _urls(request: Request) -> Urls:
    return Urls(request.scope.get("root_path", ""))


def _sizes(now: PlanNow) -> dict[str, int]:
    return {wave.name: len(wave.shoots) for wave in now.plan.waves}


def _left_out(view: OverlayView, target: Target) -> bool:
    """Whether a shoot may be one of those that a record, which has a limit, left out."""
    return target in view.labels


def _next(explanation: Explanation) -> str:
    """What the next run does; what the page says already of why is not said again."""
    return next_action(explanation.status, explanation.control).removesuffix(f": {explanation.status.message}")


def _explained(explanation: Explanation) -> dict[str, Any]:
    """What the template needs of an explanation."""
    placement = explanation.placement
    found = placement.verification if placement is not None else None
    control = explanation.control
    held = control.held.get(explanation.shoot) if control is not None and control.suspension is None else None
    until = held.until if held is not None else None
    preflight = preflight_document(explanation.overlay, explanation.wanted, [explanation.preflight])["shoots"][0]
    return {
        "standing": explanation.status.standing.value,
        "message": explanation.status.message,
        "next": _next(explanation) if until is None else f"by itself, with the first run after {timestamp(until)}",
        "waits": held is not None,
        "command": command(explanation) if until is None else "",
        "gates": explanation.gates,
        "changes": shown_changes(explanation.changes, explanation.shoot),
        "unchanged": sum(not change.fields and change.action.value == "unchanged" for change in explanation.changes),
        "wanted": explanation.wanted.any,
        "nodes": preflight["nodes"],
        "preflight": preflight["message"],
        "placement": placement,
        "deviations": [str(deviation) for deviation in found.deviations] if found is not None else [],
        "verdict": found.verdict.message if found is not None else "",
        "maps": cpu_maps(placement) if placement is not None else (),
    }
