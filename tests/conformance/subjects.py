"""The two servers under the same questions."""

import base64
import json
import ssl
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import urllib3
import yaml

from gitops import sandbox
from gitops.sandbox import Landscape, Options, Request, VirtualClock
from tests.conformance.stories import Answer, pause, shoot
from tests.control_plane import objects

AGENT = "conformance/1"
NAMESPACE = "garden-story"
DATA = Path(sandbox.__file__).parent / "data"
WIDGETS = yaml.safe_load((Path(__file__).parent / "widgets.yaml").read_text())
_PROFILE = "/apis/core.gardener.cloud/v1beta1/cloudprofiles/local"
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@cache
def policies() -> dict[str, Any]:
    """Return the CRD of BalloonsPolicies."""
    import gitops.sandbox  # noqa: PLC0415

    folder = Path(gitops.sandbox.__file__).parent / "data"
    found: dict[str, Any] = yaml.load((folder / "config.nri_balloonspolicies.yaml").read_text(), yaml.CSafeLoader)
    return found


def parsed(raw: bytes, content_type: str, *, is_watch: bool) -> Any:
    """Return a body as data: a watch's as {events}."""
    text = raw.decode()
    if is_watch and not text.startswith('{"kind":"Status"'):
        return {"events": [_event(json.loads(line)) for line in text.splitlines()]}
    if "json" not in content_type:
        return text
    document = json.loads(text)
    if document.get("kind") == "Table":
        document["columns"] = [f"{c['name']}:{c['priority']}" for c in document["columnDefinitions"]]
        has_age = document["columns"][-1] == "Age:0"
        document["cells"] = [[*row["cells"][:-1], "<age>"] if has_age else row["cells"] for row in document["rows"]]
    return document


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event without managedFields, which other stories look at."""
    metadata = event["object"].get("metadata")
    if metadata:
        metadata.pop("managedFields", None)
    return event


class Sandbox:
    """A landscape in process, new for every story."""

    def __init__(self) -> None:
        self.namespace = NAMESPACE
        self._clock = VirtualClock(datetime(2026, 6, 1, tzinfo=UTC))
        seed = shoot({})
        seed["metadata"] = {"name": "seed", "namespace": NAMESPACE}
        extra: dict[str, tuple[str, ...]] = {"audit": (), "cri-resmgr-extension": ()}
        self._landscape = Landscape([seed], self._clock, options=Options(extensions=extra))
        self._garden = self._landscape.connect(self._landscape.garden_kubeconfig())
        for crd in (WIDGETS, policies()):
            assert self.send("POST", CRD_PATH, json.dumps(crd).encode(), "", "").status == 201
        profile = self.send("GET", _PROFILE, None, "", "").body
        profile["spec"] = objects.cloud_profile()["spec"]
        assert self.send("PUT", _PROFILE, json.dumps(profile).encode(), "", "").status == 200
        seed_path = f"/apis/core.gardener.cloud/v1beta1/namespaces/{NAMESPACE}/shoots/seed"
        unfinalized = {
            "metadata": {"finalizers": None, "annotations": {"confirmation.gardener.cloud/deletion": "true"}}
        }
        merge = "application/merge-patch+json"
        assert self.send("PATCH", seed_path, json.dumps(unfinalized).encode(), merge, "").status == 200
        assert self.send("DELETE", seed_path, None, "", "").status == 200
        secret = json.dumps({"metadata": {"name": "local"}}).encode()
        self.send("POST", f"/api/v1/namespaces/{NAMESPACE}/secrets", secret, "", "")

    def send(self, method: str, path: str, body: bytes | None, content_type: str, accept: str) -> Answer:
        """Send one request."""
        target, _, query = path.partition("?")
        parameters = tuple(parse_qsl(query, keep_blank_values=True))
        request = Request(method, target, parameters, body, content_type, accept, AGENT)
        response = self._garden(request)
        raw = b"".join(response.stream) if response.stream is not None else response.body
        warnings = tuple(_texts(response.headers.get("Warning", "")))
        is_watch = ("watch", "true") in parameters
        return Answer(response.status, warnings, parsed(raw, response.headers["Content-Type"], is_watch=is_watch))

    def pause(self) -> None:
        """Let a second pass."""
        self._clock.advance(1)


def _texts(header: str) -> list[str]:
    parts = [part for part in header.split("299 - ") if part]
    return [json.loads(part.strip().removesuffix(",").strip()) for part in parts]


def _unbase64(text: str) -> str:
    return base64.b64decode(text).decode()


class ControlPlane:
    """The real servers; every story has a Project of its own."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        tls = ssl.create_default_context(cadata=_unbase64(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile("w") as pair:  # ssl loads a client certificate from files only
            pair.write(_unbase64(user["client-certificate-data"]) + _unbase64(user["client-key-data"]))
            pair.flush()
            tls.load_cert_chain(pair.name)
        self._pool = urllib3.PoolManager(ssl_context=tls, retries=False, timeout=30)
        self._server = cluster["server"]
        self.namespace = namespace

    def send(self, method: str, path: str, body: bytes | None, content_type: str, accept: str) -> Answer:
        """Send one request, again where admission's caches have not seen the story's Project yet."""
        headers = {"Accept": accept or "application/json", "User-Agent": AGENT}
        if body is not None:
            headers["Content-Type"] = content_type or "application/json"
        for _ in range(100):
            response = self._pool.request(method, self._server + path, body=body, headers=headers)
            if response.status != 429:
                break
            pause()
        warnings = tuple(json.loads(value.removeprefix("299 - ")) for value in response.headers.getlist("Warning"))
        kind = response.headers.get("Content-Type", "")
        return Answer(response.status, warnings, parsed(response.data, kind, is_watch="watch=true" in path))

    def raw(self, path: str) -> bytes:
        """Return the body of a GET."""
        return bytes(self._pool.request("GET", self._server + path).data)

    def pause(self) -> None:
        """Wait."""
        pause()
