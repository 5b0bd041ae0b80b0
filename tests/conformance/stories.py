"""Stories, the answers they expect, and what no two servers share."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml

CASES = Path(__file__).parent / "cases"

FORMS = {
    "JSON": "application/json-patch+json",
    "MERGE": "application/merge-patch+json",
    "SMP": "application/strategic-merge-patch+json",
    "APPLY": "application/apply-patch+yaml",
    "ODD": "application/odd",
}
PLACES = {
    "cm": "/api/v1/namespaces/NS/configmaps",
    "secrets": "/api/v1/namespaces/NS/secrets",
    "ev": "/api/v1/namespaces/NS/events",
    "leases": "/apis/coordination.k8s.io/v1/namespaces/NS/leases",
    "ds": "/apis/apps/v1/namespaces/NS/daemonsets",
    "wd": "/apis/conformance.test/v1/namespaces/NS/widgets",
    "bp": "/apis/config.nri/v1alpha1/namespaces/NS/balloonspolicies",
    "sh": "/apis/core.gardener.cloud/v1beta1/namespaces/NS/shoots",
    "crd": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@dataclass(frozen=True)
class Answer:
    """What a server says."""

    status: int
    """The HTTP status code."""
    warnings: tuple[str, ...]
    """Texts of Warning headers."""
    body: Any
    """The parsed body: a document, the events of a watch, or a text."""


class Subject(Protocol):
    """A server that is asked."""

    namespace: str
    """The story's own."""

    def send(self, method: str, path: str, body: bytes | None, content_type: str, accept: str) -> Answer:
        """Send one request. A watch ends by itself."""

    def pause(self) -> None:
        """Let the server's own controllers come to something."""


@dataclass(frozen=True)
class Story:
    """One case."""

    file: Path
    """Where it stands."""
    name: str
    """What it shows."""
    steps: tuple[Mapping[str, Any], ...]
    """Its requests."""

    @property
    def is_about_shoots(self) -> bool:
        """Whether it needs a Project."""
        return any(" sh" in key for step in self.steps for key in step)


def stories() -> list[Story]:
    """Return all stories."""
    return [
        Story(file, case["case"], tuple(case["steps"]))
        for file in sorted(CASES.glob("*.yaml"))
        for case in yaml.safe_load(file.read_text())
    ]


def tell(story: Story, subject: Subject) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Send a story's requests and yield every step that is looked at, with what is seen."""
    memory = _Memory(subject)
    for step in story.steps:
        request = next(key for key in step if key not in {"see", "answer"})
        answer = memory.play(request, step[request])
        if "see" in step:
            yield step, _seen(answer, step["see"], subject.namespace)
        elif answer.status >= 300:
            raise AssertionError(f"{request}: {answer.status} {answer.body}")


@dataclass
class _Memory:
    """What later requests refer to."""

    subject: Subject
    words: dict[str, str] = field(default_factory=dict)

    def play(self, request: str, body: Any) -> Answer:
        method, _, target = request.partition(" ")
        if method in {"UNTIL", "GONE"}:
            return self._wait(target, gone=method == "GONE")
        return self._send(method, target, body)

    def _wait(self, target: str, *, gone: bool) -> Answer:
        for _ in range(200):
            answer = self._send("GET", target, None)
            if (answer.status == 404) is gone and answer.status < 429:
                return Answer(200, (), {})
            self.subject.pause()
        raise AssertionError(f"{target}: {answer}")

    def _send(self, method: str, target: str, body: Any) -> Answer:
        form, accept = FORMS.get(method, "application/json"), "application/json"
        path = self._filled(_path(target.strip('"')))
        if method == "WATCH":
            path += ("&" if "?" in path else "?") + "watch=true&timeoutSeconds=1"
        if method == "TABLE":
            accept = TABLE
        verb = {"WATCH": "GET", "TABLE": "GET", "RAW": "POST"}.get(method, "PATCH" if method in FORMS else method)
        data = None if body is None else self._encoded(body)
        answer = self.subject.send(verb, path.replace(" ", "%20"), data, form, accept)
        self._remember(answer.body)
        return answer

    def _encoded(self, body: Any) -> bytes:
        if isinstance(body, dict) and "SHOOT" in body:
            body = shoot(body["SHOOT"])
        text = body if isinstance(body, str) else json.dumps(body)
        return self._filled(text).encode()

    def _filled(self, text: str) -> str:
        words = {**self.words, "NS": self.subject.namespace}
        return re.sub(
            r"(?<![A-Z])NS(?![A-Z])|\b(CONTINUE|RV0|RV|UID)\b",
            lambda found: words.get(found[0], found[0]),
            text,
        )

    def _remember(self, body: Any) -> None:
        metadata = body.get("metadata") if isinstance(body, dict) else None
        if not isinstance(metadata, dict):
            return
        if metadata.get("resourceVersion"):
            self.words["RV"] = metadata["resourceVersion"]
            self.words.setdefault("RV0", metadata["resourceVersion"])
        if metadata.get("uid"):
            self.words["UID"] = metadata["uid"]
        if metadata.get("continue"):
            self.words["CONTINUE"] = metadata["continue"]


def _path(target: str) -> str:
    if target.startswith("/"):
        return target
    place = re.split("[/?]", target, maxsplit=1)[0]
    return PLACES[place] + target.removeprefix(place)


def shoot(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Shoot of the stories, with parts of its spec replaced."""
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": "one"},
        "spec": {
            "cloudProfile": {"kind": "CloudProfile", "name": "local"},
            "credentialsBindingName": "local",
            "region": "local",
            "networking": {
                "type": "calico",
                "pods": "10.3.0.0/16",
                "services": "10.4.0.0/16",
                "nodes": "10.10.0.0/16",
            },
            "provider": {
                "type": "local",
                "workers": [{"name": "w1", "machine": {"type": "local"}, "minimum": 1, "maximum": 2}],
            },
            "kubernetes": {"version": "1.35.2"},
            "extensions": [{"type": "shoot-dns-service", "providerConfig": {"a": 1}}],
            "maintenance": {"timeWindow": {"begin": "220000+0100", "end": "230000+0100"}},
            **spec,
        },
    }


def _seen(answer: Answer, see: Any, namespace: str) -> Any:
    """Return the part of an answer that is looked at, without what no two servers share."""
    seen: dict[str, Any] = {"status": answer.status}
    if answer.warnings:
        seen["warnings"] = sorted(answer.warnings)
    body = answer.body
    if isinstance(body, dict):
        body = blotted(body, namespace)
        if see is True:
            if isinstance(body.get("metadata"), dict):
                body["metadata"].pop("managedFields", None)
        else:
            body = {path: found for path in see if (found := _at(body, path)) is not None}
    return {**seen, "body": body}


def _at(body: Any, path: str) -> Any:
    for step in path.split("."):
        body = body.get(step) if isinstance(body, dict) else None
    return body


_HASH = "storageVersionHash"
_ECHO = re.compile(r'Invalid value: "\{\\*".*\}": ', re.DOTALL)


def blotted(value: Any, namespace: str, key: str = "") -> Any:
    """Blot out uids, times, resourceVersions and random names, and sort what has no order."""
    if isinstance(value, dict):
        found = {name: blotted(item, namespace, name) for name, item in value.items() if name != _HASH}
        return _sorted_causes(found) if found.get("kind") == "Status" else found
    if isinstance(value, list):
        items = [blotted(item, namespace) for item in value]
        if key == "managedFields":
            return sorted(items, key=_entry)
        return sorted(items) if key == "verbs" else items
    if key in {"uid", "resourceVersion", "continue"} and value:
        return f"<{key}>"
    if not isinstance(value, str):
        return value
    value = value.replace(namespace, "NS")
    value = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "<uid>", value)
    value = re.sub(r"20\d\d-\d\d-\d\dT[0-9:]+Z", lambda m: m[0] if m[0] < "2026-01-03" else "<time>", value)
    value = re.sub(r"(in record|\(|resourceVersion\W+)\d+\)", r"\1<number>)", value)
    value = re.sub(r"Key: /[a-z]+/", "Key: /<prefix>/", value)
    value = re.sub(r"(Requested changes: ).*", r"\1<changes>", value)
    return _ECHO.sub("<the result>: ", value)


def _entry(entry: Any) -> str:
    return "/".join(str(entry.get(name, "")) for name in ("operation", "manager", "subresource", "apiVersion"))


def _sorted_causes(status: dict[str, Any]) -> dict[str, Any]:
    """Sort causes, and drop the list of them from the message: Go reports them in the order of a map."""
    causes = (status.get("details") or {}).get("causes")
    if causes:
        causes[:] = {json.dumps(cause): cause for cause in causes}.values()
        causes.sort(key=lambda cause: (cause.get("field", ""), cause["message"]))
        if len(causes) > 1:
            status["message"] = status["message"].split(": [")[0].split(": \n")[0]
    head, several, rest = status.get("message", "").partition("errors:\n")
    if several:
        status["message"] = head + several + "\n".join(sorted(rest.split("\n")))
    return status


def pause() -> None:
    """Wait for a real server."""
    time.sleep(0.05)
