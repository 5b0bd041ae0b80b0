"""Streams of events, as any ASGI server runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.types import Message

from gitops.serve.board import Board, Everybody, Streams, routes
from gitops.serve.board.events import Pace
from tests.serve.asking import ask
from tests.serve.fleets import Fleet, StoppedClock, suspended

QUICK = Pace(look=0.005, heartbeat=0.02, patience=0.5, life=60)


class Reader:
    """One client, on an event loop of either kind."""

    def __init__(self, app: Starlette, path: str = "/events?overlay=dev") -> None:
        self._app = app
        self._path, _, self._query = path.partition("?")
        self._gone = anyio.Event()
        self.status = 0
        self.body = ""
        self.chunks = 0
        self.reads = True

    async def run(self) -> None:
        """Until the stream ends."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": self._path,
            "raw_path": self._path.encode(),
            "query_string": self._query.encode(),
            "root_path": "",
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        await self._app(scope, self._receive, self._send)

    def leave(self) -> None:
        """Close the connection."""
        self._gone.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until that is so."""
        with anyio.fail_after(10):
            while not condition():  # noqa: ASYNC110 - whatever the caller waits for
                await anyio.sleep(0.002)

    @property
    def versions(self) -> list[int]:
        return [int(number) for number in re.findall(r"^data: (\d+)$", self.body, re.MULTILINE)]

    async def _receive(self) -> Message:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        if not self.reads:
            await anyio.sleep_forever()
        self.chunks += 1
        self.body += message["body"].decode()


def a_board() -> Board:
    board = Board(StoppedClock())
    Fleet("dev", {"all": 1}).rollout(board)
    return board


def app(board: Board, **how: Any) -> tuple[Starlette, Streams]:
    streams = Streams(board, **{"pace": QUICK, **how})
    return Starlette(routes=routes(board, Everybody(), streams)), streams


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
async def test_a_stream_says_at_once_which_version_there_is_and_then_each_change() -> None:
    board = a_board()
    reader = Reader(app(board)[0])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.run)
        await reader.until(lambda: bool(reader.versions))
        board.asked(suspended("dev"))
        await reader.until(lambda: len(reader.versions) == 2)
        reader.leave()

    view = board.overlay("dev")
    assert view is not None
    assert reader.versions[1] == view.version > reader.versions[0]
    assert reader.body.startswith("retry: ")


@pytest.mark.anyio
async def test_an_overlay_that_is_gone_is_news_for_the_fleet() -> None:
    board = Board(StoppedClock())
    for name in ("dev", "prod"):
        Fleet(name, {"all": 1}).rollout(board)
    reader = Reader(app(board)[0], "/events")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.run)
        await reader.until(lambda: bool(reader.versions))
        board.keep(["dev"])
        await reader.until(lambda: len(reader.versions) == 2)
        reader.leave()

    assert reader.versions[1] > reader.versions[0]


@pytest.mark.anyio
async def test_many_changes_are_few_events() -> None:
    board = a_board()
    reader = Reader(app(board)[0])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.run)
        await reader.until(lambda: bool(reader.versions))
        for number in range(1000):
            board.asked(suspended("dev", str(number)))
        await reader.until(lambda: reader.versions[-1] == board.version("dev"))
        reader.leave()

    assert len(reader.versions) <= 3


@pytest.mark.anyio
async def test_another_overlay_is_none_of_its_business() -> None:
    board = a_board()
    one, all_of_them = Reader(app(board)[0]), Reader(app(board)[0], "/events")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.run)
        tasks.start_soon(all_of_them.run)
        await one.until(lambda: bool(one.versions and all_of_them.versions))
        board.asked(suspended("prod"))
        await one.until(lambda: len(all_of_them.versions) == 2)
        one.leave()
        all_of_them.leave()

    assert len(one.versions) == 1


@pytest.mark.anyio
async def test_while_nothing_happens_the_connection_is_kept() -> None:
    reader = Reader(app(a_board())[0])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.run)
        await reader.until(lambda: reader.body.count(": still here") >= 2)
        reader.leave()

    assert len(reader.versions) == 1


@pytest.mark.anyio
async def test_streams_end_when_the_process_shuts_down() -> None:
    board = a_board()
    reader = Reader(app(board)[0])
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)
            await reader.until(lambda: bool(reader.versions))
            board.close()


@pytest.mark.anyio
async def test_a_stream_ends_after_its_time_and_its_reader_comes_again() -> None:
    reader = Reader(app(a_board(), pace=Pace(look=0.005, life=0.5))[0])
    with anyio.fail_after(10):
        await reader.run()

    assert reader.versions


@pytest.mark.anyio
async def test_whoever_does_not_read_is_cut_off_and_holds_up_nobody() -> None:
    board = a_board()
    served, streams = app(board)
    reader = Reader(served)
    reader.reads = False
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)
            await reader.until(lambda: streams.open == 1)
            Fleet("dev", {"all": 30}, at_once=30).rollout(board)
            await reader.until(lambda: streams.open == 0)
            tasks.cancel_scope.cancel()

    assert reader.body == ""


@pytest.mark.anyio
async def test_there_are_only_so_many_streams() -> None:
    board = a_board()
    served, streams = app(board, most=2)
    readers = [Reader(served), Reader(served)]
    late, again = Reader(served), Reader(served)
    async with anyio.create_task_group() as tasks:
        for reader in readers:
            tasks.start_soon(reader.run)
        await late.until(lambda: streams.open == 2)
        await late.run()
        readers[0].leave()
        await late.until(lambda: streams.open == 1)
        tasks.start_soon(again.run)
        await again.until(lambda: bool(again.versions))
        again.leave()
        readers[1].leave()

    assert (late.status, again.status) == (503, 200)


def test_an_overlay_that_is_not_known_has_no_stream() -> None:
    assert ask(app(a_board())[0], "/events?overlay=nothing").status_code == 404


def test_asking_for_the_head_of_a_stream_ends() -> None:
    answer = ask(app(a_board())[0], "/events", method="HEAD")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
