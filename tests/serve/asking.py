"""Requests to an app in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
from starlette.types import ASGIApp

BASE = "http://localhost"


def ask(app: ASGIApp, path: str, *, method: str = "GET", peer: str = "127.0.0.1", **how: Any) -> httpx.Response:
    """One request, from a peer of that address."""

    async def exchange() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(peer, 4711))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            return await client.request(method, path, **how)

    return asyncio.run(exchange())


def basic(name: str, password: str) -> Mapping[str, str]:
    """The header of basic authentication."""
    request = httpx.Request("GET", BASE)
    flow = httpx.BasicAuth(name, password).auth_flow(request)
    return {"Authorization": next(flow).headers["Authorization"]}
