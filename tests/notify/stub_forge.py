"""A forge on a socket: the parts of GitHub, GitLab, Gitea and both Bitbuckets that are spoken to, and its bad days.

It keeps statuses and comments as the forge does whose paths are asked for, and refuses what that forge refuses. Faults
are put in the way of requests with `forge.faults`; what came in, in whatever state, is in `forge.received`.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "glpat-s3cr3t-T0ken"  # noqa: S105 - opens nothing but this stub
ME = "gitops-bot"


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    """With the query, still encoded."""
    headers: Mapping[str, str]
    body: Any
    """Parsed JSON; None where there was none."""
    raw: bytes


@dataclass(frozen=True)
class Fault:
    """What goes wrong with the next request that matches."""

    status: int = 0
    """The answer; 0 does what should be done."""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    """The answer comes so much later."""
    reset: bool = False
    """The connection is reset instead of an answer."""
    done: bool = False
    """Whether the request is carried out all the same, as where only the answer is lost."""
    method: str = ""
    """Only of this method; empty for any."""


@dataclass
class StubForge:
    """A running forge.

    Attributes:
        url: where it listens.
        me: who the token belongs to; empty for a token that is no user's.
        faults: consumed one by one, the first that matches each request.
        received: every request.
        statuses: by commit, what was set, in order: context, state (its own word), description, link.
        comments: by pull request; each has `id`, `text`, `author`, `version`.
    """

    url: str = ""
    me: str = ME
    faults: list[Fault] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    statuses: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def comment(self, pull: int, text: str, author: str) -> dict[str, Any]:
        """Somebody comments."""
        number = 1 + sum(len(comments) for comments in self.comments.values())
        made = {"id": number, "text": text, "author": author, "version": 0}
        self.comments.setdefault(pull, []).append(made)
        return made

    def newest(self, revision: str) -> dict[str, dict[str, str]]:
        """What the forge shows of a commit, by context."""
        return {status["context"]: status for status in self.statuses.get(revision, ())}

    def states(self, revision: str) -> dict[str, str]:
        """The state of each context of a commit, in the forge's words."""
        return {context: status["state"] for context, status in self.newest(revision).items()}

    def writes(self) -> list[Received]:
        """What was to change something."""
        return [request for request in self.received if request.method != "GET"]

    def fault_for(self, method: str) -> Fault:
        """The fault that meets a request; takes it away."""
        with self.lock:
            for fault in self.faults:
                if fault.method in {"", method}:
                    self.faults.remove(fault)
                    return fault
        return Fault()


@contextmanager
def stub_forge() -> Iterator[StubForge]:
    """Serve on a port of this machine, for as long as the block runs."""
    forge = StubForge()
    server = _Server(("127.0.0.1", 0), _handler(forge))
    forge.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are part of many tests."""


Answer = tuple[int, Any]
Route = Callable[[StubForge, re.Match[str], Received], Answer]


def _handler(forge: StubForge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw) if raw else None
            received = Received(self.command, self.path, dict(self.headers.items()), body, raw)
            with forge.lock:
                forge.received.append(received)
            fault = forge.fault_for(self.command)
            status, answer = fault.status, {"message": "a bad day"}
            if not fault.status or fault.done:
                done, content = _answer(forge, received)
                status, answer = (status, answer) if fault.status else (done, content)
            if fault.seconds:
                time.sleep(fault.seconds)
            if fault.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            self._say(status, answer, fault.headers)

        do_GET = do_POST = do_PUT = do_PATCH = do  # noqa: N815 - http.server's names

        def _say(self, status: int, answer: Any, headers: Mapping[str, str]) -> None:
            data = b"" if status == 204 else json.dumps(answer).encode()
            named = {"Content-Length": str(len(data)), "Content-Type": "application/json", **headers}
            if forge.me and "/rest/" in self.path:
                named["X-AUSERNAME"] = forge.me
            self.send_response(status)
            for name, value in named.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


def _answer(forge: StubForge, received: Received) -> Answer:
    path = urlsplit(received.path).path
    if "/hooks/" in path:
        return 200, {}
    if not any(TOKEN in value for value in received.headers.values()):
        return 401, {"message": "Bad credentials"}
    for method, pattern, route in _ROUTES:
        if received.method == method and (match := re.fullmatch(pattern, path)):
            with forge.lock:
                return route(forge, match, received)
    return 404, {"message": "Not Found"}


def _query(received: Received) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(received.path).query).items()}


def _page(items: list[Any], received: Received, size: str) -> list[Any]:
    query = _query(received)
    per, page = int(query.get(size, 30)), int(query.get("page", 1))
    return items[(page - 1) * per : page * per]


def _keep(forge: StubForge, revision: str, context: str, state: str, body: Mapping[str, Any]) -> None:
    kept = {
        "context": context,
        "state": state,
        "description": str(body.get("description", "")),
        "link": str(body.get("target_url") or body.get("url") or ""),
    }
    forge.statuses.setdefault(revision, []).append(kept)


def _revision(match: re.Match[str]) -> str:
    return match["sha"]


# GitHub and Gitea, whose statuses and comments differ in little.


def _set_status(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    body = received.body
    problems = body["state"] not in {"error", "failure", "pending", "success"} or len(body["description"]) > 140
    if problems or len([s for s in forge.statuses.get(match["sha"], ()) if s["context"] == body["context"]]) >= 1000:
        return 422, {"message": "Validation Failed"}
    _keep(forge, _revision(match), body["context"], body["state"], body)
    return 201, {"state": body["state"], "context": body["context"]}


def _combined(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    word, size = ("state", "per_page") if "/api/v3/" in match.string else ("status", "limit")
    found = [
        {"context": status["context"], word: status["state"], "description": status["description"]}
        for status in forge.newest(_revision(match)).values()
    ]
    return 200, {"state": "pending", "statuses": _page(found, received, size)}


def _issue_comment(comment: Mapping[str, Any]) -> dict[str, Any]:
    kind = "Bot" if comment["author"].endswith("[bot]") else "User"
    return {"id": comment["id"], "body": comment["text"], "user": {"login": comment["author"], "type": kind}}


def _issue_comments(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    found = forge.comments.get(int(match["pull"]), [])
    if "/api/v3/" in match.string:
        found = _page(found, received, "per_page")
    return 200, [_issue_comment(comment) for comment in found]


def _add_issue_comment(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    if len(received.body["body"]) > 65536:
        return 422, {"message": "Body is too long (maximum is 65536 characters)"}
    return 201, _issue_comment(forge.comment(int(match["pull"]), received.body["body"], forge.me or "app[bot]"))


def _change_issue_comment(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    comment = _comment(forge, int(match["id"]))
    comment["text"] = received.body["body"]
    return 200, _issue_comment(comment)


def _comment(forge: StubForge, number: int) -> dict[str, Any]:
    return next(c for comments in forge.comments.values() for c in comments if c["id"] == number)


def _user(forge: StubForge, _: re.Match[str], __: Received) -> Answer:
    if not forge.me:
        return 403, {"message": "Resource not accessible by integration"}
    return 200, {"login": forge.me, "username": forge.me, "uuid": forge.me}


# GitLab


def _set_gitlab_status(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    body = received.body
    held = forge.states(_revision(match)).get(body["name"])
    forbidden = {("running", "running"): "run", ("running", "pending"): "enqueue", ("pending", "pending"): "enqueue"}
    if event := forbidden.get((held or "", body["state"])):
        why = f'Cannot transition status via :{event} from :{held} (Reason(s): Status cannot transition via "{event}")'
        return 400, {"message": why}
    if body["state"] not in {"pending", "running", "success", "failed", "canceled", "skipped"}:
        return 400, {"error": "state does not have a valid value"}
    _keep(forge, _revision(match), body["name"], body["state"], body)
    return 201, {"status": body["state"], "name": body["name"]}


def _gitlab_statuses(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    found = [
        {"name": status["context"], "status": status["state"], "description": status["description"]}
        for status in forge.newest(_revision(match)).values()
    ]
    return 200, _page(found, received, "per_page")


def _note(comment: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": comment["id"], "body": comment["text"], "author": {"username": comment["author"]}, "system": False}


def _notes(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    return 200, [_note(c) for c in _page(forge.comments.get(int(match["pull"]), []), received, "per_page")]


def _add_note(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    return 201, _note(forge.comment(int(match["pull"]), received.body["body"], forge.me))


def _change_note(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    comment = _comment(forge, int(match["id"]))
    comment["text"] = received.body["body"]
    return 200, _note(comment)


# Bitbucket Cloud


def _set_build(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    body = received.body
    if len(body["key"]) > 40 or body["state"] not in {"INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED"}:
        return 400, {"type": "error", "error": {"message": "Bad request"}}
    _keep(forge, _revision(match), body["key"], body["state"], body)
    return 201, {"key": body["key"]}


def _builds(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    found = [
        {"key": status["context"], "state": status["state"], "description": status["description"]}
        for status in forge.newest(_revision(match)).values()
    ]
    if "/rest/" in match.string:
        start, limit = (int(_query(received).get(name, default)) for name, default in (("start", 0), ("limit", 25)))
        return 200, {"values": found[start : start + limit], "isLastPage": start + limit >= len(found)}
    return 200, {"values": _page(found, received, "pagelen")}


def _cloud_comment(comment: Mapping[str, Any]) -> dict[str, Any]:
    kind = "app_user" if comment["author"].endswith("[bot]") else "user"
    user = {"uuid": comment["author"], "type": kind}
    return {"id": comment["id"], "content": {"raw": comment["text"]}, "user": user, "deleted": False}


def _cloud_comments(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    found = forge.comments.get(int(match["pull"]), [])
    shown = _page(found, received, "pagelen")
    more = len(found) > 100 * int(_query(received).get("page", 1))
    ahead = {"next": f"{forge.url}/elsewhere"} if more else {}
    return 200, {"values": [_cloud_comment(comment) for comment in shown], **ahead}


def _add_cloud_comment(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    text = received.body["content"]["raw"]
    if len(text) > 32768:
        return 400, {"type": "error", "error": {"message": "content: too long"}}
    return 201, _cloud_comment(forge.comment(int(match["pull"]), text, forge.me or "repository[bot]"))


def _change_cloud_comment(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    comment = _comment(forge, int(match["id"]))
    comment["text"] = received.body["content"]["raw"]
    return 200, _cloud_comment(comment)


# Bitbucket Data Center


def _set_server_build(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    body = received.body
    wrong = body["state"] not in {"INPROGRESS", "SUCCESSFUL", "FAILED", "CANCELLED", "UNKNOWN"} or not body["url"]
    if wrong or len(body["key"]) > 255:
        return 400, {"errors": [{"context": "state", "message": "not a state"}]}
    _keep(forge, _revision(match), body["key"], body["state"], body)
    return 204, {}


def _activities(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    query = _query(received)
    start, limit = int(query.get("start", 0)), int(query.get("limit", 25))
    found = list(reversed(forge.comments.get(int(match["pull"]), [])))
    shown = [
        {
            "action": "COMMENTED",
            "commentAction": "ADDED",
            "comment": {
                "id": comment["id"],
                "text": comment["text"],
                "version": comment["version"],
                "author": {"name": comment["author"]},
            },
        }
        for comment in found[start : start + limit]
    ]
    last = start + limit >= len(found)
    return 200, {"values": [{"action": "OPENED"}, *shown], "isLastPage": last, "nextPageStart": start + limit}


def _add_server_comment(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    if len(received.body["text"]) > 32768:
        return 400, {"errors": [{"message": "too long"}]}
    return 201, {"id": forge.comment(int(match["pull"]), received.body["text"], forge.me)["id"]}


def _change_server_comment(forge: StubForge, match: re.Match[str], received: Received) -> Answer:
    comment = _comment(forge, int(match["id"]))
    if comment["version"] != received.body["version"]:
        return 409, {"errors": [{"message": "the comment has been updated since"}]}
    comment.update(text=received.body["text"], version=comment["version"] + 1)
    return 200, {"id": comment["id"]}


_SHA = "(?P<sha>[0-9a-f]{40})"
_ISSUES = r"/api/(v3|v1)/repos/[^/]+/[^/]+"
_GITLAB = r"/api/v4/projects/(?P<project>[^/]+)"
_CLOUD = r"/2\.0/repositories/[^/]+/[^/]+"
_SERVER = r"/rest/api/latest/projects/[^/]+/repos/[^/]+"
_PULL = r"(?P<pull>\d+)"
_ID = r"(?P<id>\d+)"
_ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("POST", f"{_ISSUES}/statuses/{_SHA}", _set_status),
    ("GET", f"{_ISSUES}/commits/{_SHA}/status", _combined),
    ("GET", f"{_ISSUES}/issues/{_PULL}/comments", _issue_comments),
    ("POST", f"{_ISSUES}/issues/{_PULL}/comments", _add_issue_comment),
    ("PATCH", f"{_ISSUES}/issues/comments/{_ID}", _change_issue_comment),
    ("GET", r"/(api/v[134]|2\.0)/user", _user),
    ("POST", f"{_GITLAB}/statuses/{_SHA}", _set_gitlab_status),
    ("GET", f"{_GITLAB}/repository/commits/{_SHA}/statuses", _gitlab_statuses),
    ("GET", f"{_GITLAB}/merge_requests/{_PULL}/notes", _notes),
    ("POST", f"{_GITLAB}/merge_requests/{_PULL}/notes", _add_note),
    ("PUT", f"{_GITLAB}/merge_requests/{_PULL}/notes/{_ID}", _change_note),
    ("POST", f"{_CLOUD}/commit/{_SHA}/statuses/build", _set_build),
    ("GET", f"{_CLOUD}/commit/{_SHA}/statuses", _builds),
    ("GET", f"{_CLOUD}/pullrequests/{_PULL}/comments", _cloud_comments),
    ("POST", f"{_CLOUD}/pullrequests/{_PULL}/comments", _add_cloud_comment),
    ("PUT", f"{_CLOUD}/pullrequests/{_PULL}/comments/{_ID}", _change_cloud_comment),
    ("POST", f"{_SERVER}/commits/{_SHA}/builds", _set_server_build),
    ("GET", f"/rest/build-status/latest/commits/{_SHA}", _builds),
    ("GET", f"{_SERVER}/pull-requests/{_PULL}/activities", _activities),
    ("POST", f"{_SERVER}/pull-requests/{_PULL}/comments", _add_server_comment),
    ("PUT", f"{_SERVER}/pull-requests/{_PULL}/comments/{_ID}", _change_server_comment),
    ("GET", "/rest/api/latest/application-properties", lambda *_: (200, {})),
)
