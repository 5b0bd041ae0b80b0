"""`gitops serve` as a process, and what it says over HTTP."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gitops.trigger.webhook.generic import HEADER, body_of, sign
from tests.waiting import PATIENCE, T, until

SECRET = "a secret for tests only"  # noqa: S105 - as it says


@dataclass
class Serving:
    """A process that listens."""

    process: subprocess.Popen[str]
    url: str
    log: list[str] = field(default_factory=list)
    """Lines of its standard error, as they come."""

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
        """Status, and JSON or text; status 0 where nobody answers."""
        request = urllib.request.Request(self.url + path, headers=dict(headers or {}))  # noqa: S310 - our own
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - our own
                text = answer.read().decode()
                return answer.status, json.loads(text) if text.startswith("{") else text
        except urllib.error.HTTPError as error:
            with error:
                body = error.read()
            return error.code, json.loads(body) if body.startswith(b"{") else body.decode()
        except OSError:
            return 0, None

    def push(self, repository: str, revision: str, secret: str = SECRET) -> int:
        """Tell it of a push to main, as a generic webhook; returns the status."""
        body = body_of([repository], "refs/heads/main", "0" * 40, revision, "main")
        headers = {"Content-Type": "application/json", HEADER: sign(secret, body, datetime.now(UTC))}
        request = urllib.request.Request(f"{self.url}/hooks/generic", body, headers)  # noqa: S310 - our own
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - our own
                status: int = answer.status
                return status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def state(self, overlay: str = "dev") -> Mapping[str, Any]:
        """What it says of an overlay; empty while it knows none."""
        status, document = self.get(f"/api/v1/overlays/{overlay}")
        found: Mapping[str, Any] = document if status == 200 else {}
        return found

    def wait_for(self, condition: Callable[[Mapping[str, Any]], bool]) -> Mapping[str, Any]:
        """The state of the overlay once a condition holds."""
        return self.sees(self.state, condition)

    def logged(self, text: str) -> None:
        """Wait until it has logged a text."""
        self.sees(lambda: "".join(self.log), lambda log: text in log)

    def sees(self, look: Callable[[], T], condition: Callable[[T], bool]) -> T:
        """What is seen once a condition holds of it."""
        return until(condition, look, lambda: "".join(self.log[-40:]), pause=0.005)


def serving(process: subprocess.Popen[str]) -> Serving:
    """A process that was just started, once it listens; what it logs is read along."""
    assert process.stdout is not None
    assert process.stderr is not None
    stderr, found = process.stderr, Serving(process, "")

    def read_along() -> None:
        with suppress(ValueError):  # the pipe is closed at the end of a test, maybe between two lines
            found.log.extend(stderr)

    threading.Thread(target=read_along, daemon=True).start()
    line = process.stdout.readline()
    assert line.startswith("gitops serve listens at "), (line, found.log)
    found.url = line.split()[-1]
    return found
