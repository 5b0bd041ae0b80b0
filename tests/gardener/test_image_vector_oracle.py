"""Gardener's own package answers, and ours must answer the same.

`IMAGEVECTOR_CASES` asks for more cases than a normal run has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from gitops.gardener.image_vector.constraints import parse_constraint
from gitops.gardener.image_vector.lookup import find, merge
from gitops.gardener.image_vector.reading import read_vector
from gitops.gardener.image_vector.rendering import Form, components_value, overwrite_value
from gitops.gardener.image_vector.vector import ImageSource, Lookup
from gitops.gardener.image_vector.versions import parse_version
from tests.gardener.generated_constraints import constraint, version
from tests.gardener.generated_vectors import ARCHITECTURES, NAMES, VERSIONS, case, text
from tests.gardener.oracle import Oracle, chart_templates

pytestmark = [pytest.mark.control_plane, pytest.mark.oracle("tests/gardener/oracle_imagevector")]
CASES = int(os.environ.get("IMAGEVECTOR_CASES", "500"))
SAMPLES = sorted((Path(__file__).parents[1] / "data" / "samples" / "imagevector").glob("*.yaml"))


def as_gardener_writes(source: ImageSource) -> dict[str, Any]:
    written = {
        "name": source.name,
        "runtimeVersion": source.runtime_version,
        "targetVersion": source.target_version,
        "architectures": list(source.architectures or ()) or None,
        "ref": source.ref,
        "repository": source.repository,
        "tag": source.tag,
        "version": source.version,
    }
    return {key: value for key, value in written.items() if value is not None}


def found(sources: tuple[ImageSource, ...], query: dict[str, Any]) -> dict[str, Any] | None:
    lookup = Lookup(query["name"], query["runtime"], query["target"], query["arch"])
    try:
        source = find(sources, lookup)
    except ValueError:
        return None
    if source is None:
        return None
    image = source.image(query["target"])
    return {"image": image.reference, "version": image.version}


def allowed(text: str, versions: list[str]) -> list[bool | None] | None:
    try:
        parsed = parse_constraint(text)
    except ValueError:
        return None
    return list(_answers(parsed, versions))


def _answers(parsed: Any, versions: list[str]) -> Iterator[bool | None]:
    for version_text in versions:
        try:
            yield parsed.allows(parse_version(version_text))
        except ValueError:
            yield None


def test_constraints_mean_what_masterminds_semver_means(oracle: Oracle) -> None:
    random = Random(20260101)  # noqa: S311 - cases, not secrets
    valid = 0
    for _ in range(4 * CASES):
        asked = constraint(random)
        versions = [version(random) for _ in range(6)]
        answer = oracle.ask(op="constraint", constraint=asked, versions=versions)
        assert allowed(asked, versions) == answer.get("matches"), asked
        valid += "matches" in answer
    assert valid > CASES


def test_merge_and_lookup_answer_as_gardener_does(oracle: Oracle) -> None:
    random = Random(20260102)  # noqa: S311 - cases, not secrets
    hits = 0
    for _ in range(CASES):
        asked = case(random)
        answer = oracle.ask(op="find", base=text(asked.base), overwrite=text(asked.overwrite), queries=asked.queries)
        merged = merge(read_vector(asked.base).images, read_vector(asked.overwrite).images)
        assert [as_gardener_writes(source) for source in merged] == (answer["merged"] or []), asked
        assert [found(merged, query) for query in asked.queries] == answer["found"], asked
        hits += sum(image is not None for image in answer["found"])
    assert hits > CASES


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_vectors_are_read_and_searched_as_gardener_does(oracle: Oracle, path: Path) -> None:
    vector = read_vector(yaml.safe_load(path.read_bytes()))
    assert vector.findings == ()
    answer = oracle.ask(op="read", base=path.read_text())
    assert [as_gardener_writes(source) for source in vector.images] == answer["images"]
    queries = [
        {"name": name, "runtime": None, "target": target, "arch": arch}
        for name in sorted({source.name for source in vector.images})
        for target in (None, *(f"1.{minor}.{patch}" for minor in range(31, 38) for patch in (0, 3)))
        for arch in (None, "amd64", "arm64")
    ]
    answer = oracle.ask(op="find", base=path.read_text(), queries=queries)
    assert [found(vector.images, query) for query in queries] == answer["found"]


BROKEN: list[tuple[str, str]] = [
    ("no-name", "- {repository: r}"),
    ("empty-name", "- {name: '', repository: r}"),
    ("nothing", "- {name: a}"),
    ("tag-only", "- {name: a, tag: v1}"),
    ("ref-and-repository", "- {name: a, ref: r:v1, repository: r}"),
    ("ref-and-tag", "- {name: a, ref: r:v1, tag: v1}"),
    ("empty-ref", "- {name: a, ref: ''}"),
    ("empty-repository", "- {name: a, repository: ''}"),
    ("empty-tag", "- {name: a, repository: r, tag: ''}"),
    ("runtime", "- {name: a, repository: r, runtimeVersion: newest}"),
    ("target", "- {name: a, repository: r, targetVersion: '>= 1.31 and more'}"),
    ("empty-target", "- {name: a, repository: r, targetVersion: ''}"),
    ("tag-map", "- {name: a, repository: r, tag: {a: b}}"),
    ("architectures-text", "- {name: a, repository: r, architectures: amd64}"),
    ("images-map", "  a: {name: a}"),
    ("text", "- a"),
]


@pytest.mark.parametrize("entries", [b for _, b in BROKEN], ids=[name for name, _ in BROKEN])
def test_what_gardener_refuses_is_refused(oracle: Oracle, entries: str) -> None:
    vector = f"images:\n{entries}\n"
    assert "error" in oracle.ask(op="read", base=vector)
    assert read_vector(yaml.safe_load(vector)).findings


def test_what_is_found_in_order_of_the_file_is_no_accident(oracle: Oracle) -> None:
    """Every pair of architectures and every version, so that ties are met on purpose and not by luck."""
    for first in ARCHITECTURES:
        for second in ARCHITECTURES:
            entries = [
                {"name": NAMES[0], "repository": "one", "architectures": first},
                {"name": NAMES[0], "repository": "two", "architectures": second, "targetVersion": "1.31"},
            ]
            queries = [
                {"name": NAMES[0], "runtime": None, "target": target, "arch": arch}
                for target in VERSIONS
                for arch in (None, "amd64", "arm64")
            ]
            data = {"images": entries}
            answer = oracle.ask(op="find", base=text(data), queries=queries)
            assert [found(read_vector(data).images, query) for query in queries] == answer["found"]


CHARTS = {Form.STRING: "operator", Form.OBJECT: "provider-local"}
CONFIG_MAP = "configmap-imagevector-overwrite.yaml"
VECTORS = [
    *(pytest.param(yaml.safe_load(path.read_bytes()), id=path.stem) for path in SAMPLES),
    pytest.param(
        {
            "images": [
                {"name": "yes", "repository": "on", "tag": "1.10"},
                {"name": "~", "ref": "0x10", "version": "# {{ }}"},
            ],
            "caBundle": {"inline": "-----BEGIN\n  two\n\nlines\n"},
        },
        id="awkward",
    ),
    pytest.param({"images": []}, id="empty"),
]


def rendered(oracle: Oracle, value: Any, form: Form) -> Any:
    """What stands in the ConfigMap; None where the chart cannot be rendered."""
    templates = chart_templates(CHARTS[form], CONFIG_MAP, "_helpers.tpl")
    values = {"imageVectorOverwrite": value, "gardener": {"runtimeCluster": {"enabled": False}}}
    answer = oracle.ask(op="render", templates=templates, values=values)
    if "error" in answer:
        return None
    manifest = yaml.safe_load(answer["files"][f"chart/templates/{CONFIG_MAP}"])
    return yaml.safe_load(manifest["data"]["images_overwrite.yaml"])


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("form", Form)
def test_a_chart_hands_the_vector_on_as_it_is(oracle: Oracle, form: Form, vector: dict[str, Any]) -> None:
    assert rendered(oracle, overwrite_value(vector, form), form) == vector


@pytest.mark.parametrize("form", Form)
def test_the_other_form_renders_no_vector(oracle: Oracle, form: Form) -> None:
    other = Form.OBJECT if form is Form.STRING else Form.STRING
    value = overwrite_value(yaml.safe_load(SAMPLES[0].read_bytes()), other)
    assert not isinstance(rendered(oracle, value, form), dict)


def test_gardener_reads_the_overwrites_of_components(oracle: Oracle) -> None:
    vectors = {path.stem: yaml.safe_load(path.read_bytes()) for path in SAMPLES}
    value = components_value(vectors, Form.STRING)
    read = oracle.ask(op="components", components=value)["components"]
    assert {name: yaml.safe_load(vector) for name, vector in read.items()} == vectors
