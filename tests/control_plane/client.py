"""Plain JSON over HTTP to an API server: what tests and actors use, importing nothing of what they test."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

from tests.waiting import PATIENCE

USER_AGENT = "shoot-gitops-tests"
JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class HttpError(Exception):
    """An API server answered with 400 or above.

    Attributes:
        status: the HTTP status.
        reason: `reason` of the server's Status object, or empty.
        message: `message` of the server's Status object, or the raw body.
        body: the Status object, or an empty dict where the body is not JSON.
    """

    def __init__(self, request: str, status: int, raw: bytes) -> None:
        self.status = status
        self.body = _decoded(raw)
        self.reason = str(self.body.get("reason", ""))
        self.message = str(self.body.get("message", raw.decode(errors="replace")))
        super().__init__(f"{request}: {status} {self.message}")


@dataclass(frozen=True)
class Answer:
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The body as JSON; empty where it is not a JSON object."""
        return _decoded(self.raw)


class Client:
    """One user at one API server. Safe to share between threads."""

    def __init__(self, server: str, tls: ssl.SSLContext, *, user_agent: str = USER_AGENT) -> None:
        self.server = server
        self._pool = urllib3.PoolManager(
            maxsize=8, ssl_context=tls, retries=False, timeout=30, headers={"User-Agent": user_agent}
        )

    @classmethod
    def from_kubeconfig(cls, kubeconfig: Mapping[str, Any] | Path, *, user_agent: str = USER_AGENT) -> Client:
        """A client for the current context of a kubeconfig that holds its certificates inline."""
        config = yaml.safe_load(kubeconfig.read_text()) if isinstance(kubeconfig, Path) else kubeconfig
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        tls = ssl.create_default_context(cadata=_unbase64(cluster["certificate-authority-data"]))
        # The ssl module loads a client certificate from files only.
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(_unbase64(user["client-certificate-data"]) + _unbase64(user["client-key-data"]))
            pair.flush()
            tls.load_cert_chain(pair.name)
        return cls(cluster["server"], tls, user_agent=user_agent)

    def exchange(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        params: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request; any status is an answer.

        Raises:
            urllib3.exceptions.HTTPError: there was no answer.
        """
        url = self.server + path + ("?" + urlencode(params) if params else "")
        headers = {"Accept": JSON, "Content-Type": content_type, **self._pool.headers}
        data = None if body is None else json.dumps(body).encode()
        response = self._pool.request(method, url, body=data, headers=headers)
        return Answer(response.status, response.headers, response.data)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        params: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request and return the object that came back.

        A server that asks us to come back (429, as for a kind whose definition is new) is asked again for some time.

        Raises:
            HttpError: the status is 400 or above.
        """
        deadline = time.monotonic() + PATIENCE
        answer = self.exchange(method, path, body, content_type, params)
        while answer.status == 429 and time.monotonic() < deadline:
            time.sleep(0.05)
            answer = self.exchange(method, path, body, content_type, params)
        if answer.status >= 400:
            raise HttpError(f"{method} {path}", answer.status, answer.raw)
        return answer.body

    def get(self, path: str) -> dict[str, Any]:
        return self.request("GET", path)

    def find(self, path: str) -> dict[str, Any] | None:
        """The object at `path`, or None where there is none (404)."""
        try:
            return self.get(path)
        except HttpError as error:
            if error.status == 404:
                return None
            raise

    def serves(self, path: str) -> bool:
        """Whether there is an answer, and it is 200."""
        try:
            return self.exchange("GET", path).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self.request("POST", path, body)

    def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self.request("PUT", path, body)

    def delete(self, path: str) -> dict[str, Any]:
        return self.request("DELETE", path)

    def merge_patch(self, path: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        return self.request("PATCH", path, patch, MERGE_PATCH)

    def json_patch(self, path: str, operations: list[dict[str, Any]]) -> dict[str, Any]:
        return self.request("PATCH", path, operations, JSON_PATCH)

    def strategic_patch(self, path: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """What `kubectl patch` sends unless told otherwise."""
        return self.request("PATCH", path, patch, STRATEGIC_PATCH)

    def apply(self, path: str, manifest: Mapping[str, Any], manager: str, *, force: bool = False) -> dict[str, Any]:
        """Server-side apply as the field manager `manager`."""
        params = {"fieldManager": manager, "force": "true" if force else "false"}
        return self.request("PATCH", path, manifest, APPLY_PATCH, params)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _unbase64(text: str) -> str:
    return base64.b64decode(text).decode()


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
