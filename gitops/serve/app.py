"""The routes of the process, composed: who adds pages passes their routes."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from gitops.serve.health import Check, Health
from gitops.serve.hooks import Hooks
from gitops.serve.last import LastRuns


def make_app(*routes: BaseRoute) -> Starlette:
    """The application; an error in a route is logged by the server and answered with 500 and no detail."""
    return Starlette(routes=list(routes))


def health_routes(health: Health) -> Sequence[BaseRoute]:
    """`/healthz`, `/readyz` and each check of it, `/readyz/<name>`: 200, or 503 with the check that fails."""

    async def live(_: Request) -> Response:
        return _checked(health.live())

    async def ready(_: Request) -> Response:
        return _checked(health.ready())

    async def one(request: Request) -> Response:
        checks = [check for check in health.ready() if check.name == request.path_params["name"]]
        return _checked(checks) if checks else Response(status_code=404)

    return [Route("/healthz", live), Route("/readyz", ready), Route("/readyz/{name}", one)]


def hook_routes(hooks: Hooks) -> Sequence[BaseRoute]:
    """`/hooks/<forge>`."""

    async def hook(request: Request) -> Response:
        return await hooks(request)

    return [Route("/hooks/{forge}", hook, methods=["POST"])]


def no_hook_routes() -> Sequence[Route]:
    """The same where no webhook is taken, so that no other route says anything about it."""

    async def nothing(_: Request) -> Response:
        return Response(status_code=404, headers={"Connection": "close"})

    return [Route("/hooks/{forge}", nothing, methods=["POST"])]


def api_routes(last: LastRuns) -> Sequence[Route]:
    """`/api/v1/overlays` and `/api/v1/overlays/<name>`: the last record and plan as JSON, to be `guarded`."""

    async def names(_: Request) -> Response:
        return JSONResponse({"overlays": list(last.names())})

    async def overlay(request: Request) -> Response:
        document = last.document(request.path_params["name"])
        return JSONResponse(document) if document is not None else JSONResponse({"error": "no such overlay"}, 404)

    return [Route("/api/v1/overlays", names), Route("/api/v1/overlays/{name}", overlay)]


def _checked(checks: Sequence[Check]) -> Response:
    document = {
        "ok": all(check.ok for check in checks),
        "checks": [{"name": check.name, "ok": check.ok, "message": check.message} for check in checks],
    }
    return JSONResponse(document, 200 if document["ok"] else 503, {"Cache-Control": "no-store"})
