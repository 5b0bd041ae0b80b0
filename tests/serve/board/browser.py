"""A real Chromium, and a dashboard that it looks at."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from starlette.types import ASGIApp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NARROW, WIDE = 400, 1280
PATIENCE = 120_000
"""Milliseconds that anything may take on a machine that has other things to do."""


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The address of an app that is served by a thread while the block runs."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, proxy_headers=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE / 1000)
        listening.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--disable-quic"])
        yield browser
        browser.close()


@dataclass
class Window:
    """One page, and everything that the browser found wrong with it."""

    page: Page
    complaints: list[str]


@contextmanager
def window(
    browser: Browser, *, scheme: str = "light", width: int = WIDE, scripts: bool = True, password: str = ""
) -> Iterator[Window]:
    """A page of its own that looks as it is told to."""
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
        reduced_motion="reduce",
        http_credentials={"username": "anybody", "password": password} if password else None,
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield Window(page, complaints)
    finally:
        context.close()
