"""Random sequences of writes: both servers end with the same object and the same owners.

The number of sequences is 100; SHOOT_GITOPS_SEQUENCES asks for more.
"""

import json
import os
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conformance.stories import FORMS, PLACES, Subject, blotted
from tests.conformance.subjects import ControlPlane, Sandbox
from tests.control_plane.garden import Garden

_COUNT = int(os.environ.get("SHOOT_GITOPS_SEQUENCES", "100"))
_MANAGERS = st.sampled_from(["one", "two", "three"])
_WORDS = st.sampled_from(["x", "y", "z"])
_TEXTS = st.sampled_from(["1", "2"])


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


_PORTS = st.lists(
    _some(port=st.integers(1, 3), protocol=st.sampled_from(["TCP", "UDP"]), name=_TEXTS)
    .filter(lambda item: "port" in item)
    .flatmap(lambda item: _some(tags=st.dictionaries(_WORDS, _TEXTS, max_size=2)).map(lambda tags: {**item, **tags})),
    max_size=3,
    unique_by=lambda item: (item["port"], item.get("protocol", "TCP")),
)
_SPECS = _some(
    mode=st.sampled_from(["a", "b"]),
    count=st.integers(0, 3),
    labels=st.dictionaries(_WORDS, _TEXTS, max_size=2),
    ports=_PORTS,
    tags=st.lists(_WORDS, max_size=3, unique=True),
    steps=st.lists(_some(run=_TEXTS), max_size=2),
    owner=_some(name=_TEXTS, kind=_TEXTS),
    free=st.dictionaries(_WORDS, st.recursive(_TEXTS, lambda s: st.dictionaries(_WORDS, s, max_size=2)), max_size=2),
    nested=st.fixed_dictionaries({"name": _TEXTS}, optional={"deep": _some(a=_TEXTS, b=st.booleans())}),
    note=st.none() | _TEXTS,
)
_LABELS = st.dictionaries(_WORDS, _TEXTS, max_size=2)
_WIDGETS = st.builds(lambda spec, labels: {"metadata": {"name": "a", "labels": labels}, "spec": spec}, _SPECS, _LABELS)
_MERGES = st.builds(
    lambda spec, gone, labels: {"metadata": {"labels": labels}, "spec": {**spec, **dict.fromkeys(gone)}},
    _SPECS,
    st.lists(st.sampled_from(["count", "labels", "ports", "tags", "steps", "owner", "free", "nested"]), max_size=2),
    st.dictionaries(_WORDS, st.none() | _TEXTS, max_size=2),
)
_STEPS = st.tuples(
    st.sampled_from(["APPLY", "FORCE", "APPLY", "MERGE", "PUT", "STATUS", "DRY"]),
    _MANAGERS,
    _WIDGETS,
    _MERGES,
)
_CONFIG_MAPS = st.builds(
    lambda data, labels: {"metadata": {"name": "a", "labels": labels}, "data": data}, _LABELS, _LABELS
)


def _play(subject: Subject, kind: tuple[str, str, str], steps: Any) -> list[Any]:
    """Send a sequence and return every status, with the object's content and owners after each."""
    place, api_version, name = kind
    base = PLACES[place].replace("NS", subject.namespace)
    seen: list[Any] = []
    revision = ""
    for form, manager, whole, change in steps:
        manifest = {"apiVersion": api_version, "kind": name, **whole}
        query = f"?fieldManager={manager}"
        verb, target, body, content = "PATCH", f"{base}/a", manifest, FORMS["APPLY"]
        if form == "FORCE":
            query += "&force=true"
        elif form == "DRY":
            query += "&force=true&dryRun=All"
        elif form == "MERGE":
            body, content = change, FORMS["MERGE"]
        elif form == "STATUS":
            target += "/status" if place == "wd" else ""
            body = {"status": {"phase": "Up" if "count" in whole.get("spec", {}) else "Down"}}
            content = FORMS["MERGE"]
        elif form == "PUT":
            verb, content = "PUT", "application/json"
            body = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": revision}}
        answer = subject.send(verb, target + query, json.dumps(body).encode(), content, "application/json")
        if answer.status < 300 and form != "DRY":
            revision = answer.body["metadata"]["resourceVersion"]
        seen.append((answer.status, _content(answer.body, subject.namespace)))
    subject.send("DELETE", f"{base}/a", None, "", "application/json")
    return seen


def _content(body: Any, namespace: str) -> Any:
    document = blotted(body, namespace)
    if document.get("kind") == "Status":
        return [cause.get("field") for cause in (document.get("details") or {}).get("causes", ())]
    metadata = document["metadata"]
    owners = [{k: v for k, v in entry.items() if k != "time"} for entry in metadata.get("managedFields") or ()]
    parts = {key: document[key] for key in ("spec", "data", "status") if key in document}
    return {
        **parts,
        "labels": metadata.get("labels"),
        "generation": metadata.get("generation"),
        "owners": owners,
    }


@cache
def _sandbox() -> Sandbox:
    return Sandbox()


@cache
def _control_plane(garden: Garden) -> ControlPlane:
    return ControlPlane(garden.kubeconfig, garden.namespace)


def _run(garden: Garden, kind: tuple[str, str, str], steps: Any) -> None:
    mine = _play(_sandbox(), kind, steps)
    real = _play(_control_plane(garden), kind, steps)
    for index, (ours, theirs) in enumerate(zip(mine, real, strict=True)):
        assert ours == theirs, f"after step {index}: {steps[index]}"


_SETTINGS = settings(
    max_examples=_COUNT,
    database=None,
    derandomize=_COUNT == 100,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.control_plane
@pytest.mark.timeout(3600)
@_SETTINGS
@given(steps=st.lists(_STEPS, min_size=2, max_size=7))
def test_sequences_on_custom_resources(real_garden: Garden, steps: Any) -> None:
    _run(real_garden, ("wd", "conformance.test/v1", "Widget"), steps)


@pytest.mark.control_plane
@pytest.mark.timeout(3600)
@_SETTINGS
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["APPLY", "FORCE", "MERGE", "PUT", "DRY"]), _MANAGERS, _CONFIG_MAPS, _CONFIG_MAPS),
        min_size=2,
        max_size=7,
    )
)
def test_sequences_on_config_maps(real_garden: Garden, steps: Any) -> None:
    _run(real_garden, ("cm", "v1", "ConfigMap"), steps)
