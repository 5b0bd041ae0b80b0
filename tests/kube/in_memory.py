"""An API server in memory: a handler function behind the Transport seam."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from gitops.kube.retry import Retry
from gitops.kube.transport import Request, Response

DATE = "Mon, 30 Nov 2026 06:00:00 GMT"


class Server:
    """Answers by a function and remembers what it was asked; a function may raise as a transport would."""

    def __init__(self, handler: Callable[[Request], Response]) -> None:
        self.requests: list[Request] = []
        self.closed = 0
        self._handler = handler

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return self._handler(request)

    def close(self) -> None:
        self.closed += 1

    @property
    def asked(self) -> list[str]:
        return [str(request) for request in self.requests]


def in_turn(answers: Iterable[Response | Exception]) -> Server:
    """A server that gives one answer after the other, whatever it is asked."""
    remaining = iter(answers)

    def handler(_: Request) -> Response:
        answer = next(remaining)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Server(handler)


def answer(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(
        status,
        {"Date": DATE, **{name.replace("_", "-"): text for name, text in headers.items()}},
        json.dumps(body).encode(),
    )


def refusal(code: int, message: str = "no", reason: str = "", **details: Any) -> Response:
    """A `kind: Status` as API servers answer it."""
    return answer({"kind": "Status", "message": message, "reason": reason, "details": details}, code)


def listing(*items: Any, more: str = "") -> Response:
    return answer({"kind": "List", "metadata": {"continue": more}, "items": list(items)})


def named(name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    """An object as it stands in a list, without apiVersion and kind."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"metadata": metadata, **fields}


class Naps:
    """A sleep that does not sleep, and remembers."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def patient(naps: Naps | None = None, **fields: Any) -> Retry:
    """A retry that takes no time and always the longest wait."""
    return Retry(sleep=naps or Naps(), uniform=lambda: 1.0, **fields)
