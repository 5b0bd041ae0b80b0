import json
import threading
from typing import Any

from gitops.sandbox import Landscape, Request, ScaledClock
from gitops.sandbox.store import Collection
from tests.sandbox.driving import SHOOTS, declared, enable, garden


def _watch(landscape: Landscape, **parameters: str) -> list[dict[str, Any]]:
    query = (("watch", "true"), *parameters.items())
    response = garden(landscape).handler(Request("GET", SHOOTS, query))
    assert response.stream is not None
    return [json.loads(line) for line in response.stream]


def test_a_watch_in_process_ends_with_what_has_happened() -> None:
    landscape = Landscape([declared("one")])
    start = garden(landscape).get(SHOOTS)["metadata"]["resourceVersion"]
    assert _watch(landscape, resourceVersion=start) == []
    enable(landscape, "one")
    assert [event["type"] for event in _watch(landscape, resourceVersion=start)] == ["MODIFIED"]


def test_a_bookmark_says_how_far_a_watch_has_come() -> None:
    landscape = Landscape([declared("one")])
    start = garden(landscape).get(SHOOTS)["metadata"]["resourceVersion"]
    enable(landscape, "one")
    *_, bookmark = _watch(landscape, resourceVersion=start, allowWatchBookmarks="true")
    assert bookmark["type"] == "BOOKMARK"
    assert _watch(landscape, resourceVersion=bookmark["object"]["metadata"]["resourceVersion"]) == []


def test_a_streamed_list_ends_with_a_bookmark_that_says_so() -> None:
    landscape = Landscape([declared("one")])
    added, bookmark, _ = _watch(landscape, sendInitialEvents="true", allowWatchBookmarks="true", resourceVersion="1")
    assert added["type"] == "ADDED"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_forgotten_past_is_gone() -> None:
    landscape = Landscape([declared("one"), declared("two")])
    first = garden(landscape).get(f"{SHOOTS}?limit=1")["metadata"]
    enable(landscape, "one")
    landscape.store.forget()
    (event,) = _watch(landscape, resourceVersion=first["resourceVersion"])
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    query = (("limit", "1"), ("continue", first["continue"]))
    page = garden(landscape).handler(Request("GET", SHOOTS, query))
    assert (page.status, json.loads(page.body)["reason"]) == (410, "Expired")


def test_the_log_of_events_is_bounded() -> None:
    landscape = Landscape([declared("one")])
    start = landscape.store.revision
    where = Collection("garden", "", "configmaps")
    for index in range(5000):
        manifest = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"m{index}"}}
        landscape.store.put(where, manifest)
    assert _watch(landscape, resourceVersion=str(start))[0]["type"] == "ERROR"
    recent = str(landscape.store.revision - 10)
    assert _watch(landscape, resourceVersion=recent) == []


def test_a_patient_watch_sees_what_happens_while_it_waits() -> None:
    landscape = Landscape([declared("one")], ScaledClock(100))
    token = json.loads(landscape.garden_kubeconfig())["users"][0]["user"]["token"]
    start = str(landscape.store.revision)
    request = Request("GET", SHOOTS, (("watch", "true"), ("resourceVersion", start), ("timeoutSeconds", "3000")))
    response = landscape.answer("garden", token, request, "timeout")
    assert response.stream is not None
    writer = threading.Thread(target=enable, args=(landscape, "one"))
    writer.start()
    assert json.loads(next(response.stream))["type"] == "MODIFIED"
    writer.join()
    landscape.store.close()
    assert all(json.loads(line)["type"] == "MODIFIED" for line in response.stream)
    landscape.clock.stop()  # type: ignore[attr-defined]  # a ScaledClock
