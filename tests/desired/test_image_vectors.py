"""Image vectors as an overlay declares them: read, checked, refused with file and line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitops.desired.compose import compose
from gitops.desired.image_vectors import ImageVectors, read_image_vectors
from gitops.errors import InvalidInput, Violation
from gitops.gardener.image_vector.cases import Demand
from tests.desired.in_memory import SHOOT, Files, overlay, repository

NOW = datetime(2026, 6, 1, tzinfo=UTC)
BASE = """\
# The extension's own vector.
images:
- name: balloons
  repository: public/nri-resource-policy-balloons
  tag: v0.9
- name: nri-config-manager
  repository: public/nri-config-manager
  tag: v0.9
"""
OVERWRITE = """\
images:
- name: balloons
  repository: mirror/nri-resource-policy-balloons
  tag: v0.12
"""
ENTRY = """\
  imageVectors:
  - extension: nri-extension
    registration: ControllerDeployment
    form: String
    path: vector.yaml
    base: images.yaml
"""
INLINE = ENTRY.replace(
    "    path: vector.yaml\n", "    inline:\n      images:\n      - name: balloons\n        ref: m:v1\n"
)


def files(spec: str = ENTRY, **changed: str | bytes) -> Files:
    names = {"vector": "overlays/dev/vector.yaml", "base": "overlays/dev/images.yaml"}
    extra = {
        names[name]: text for name, text in ({"vector": OVERWRITE, "base": BASE} | changed).items() if name in names
    }
    shoot = changed.get("shoot", SHOOT)
    return Files({**repository(overlay=overlay(spec), shoot=shoot), **extra})


def read(artifact: Files) -> ImageVectors:
    return read_image_vectors(artifact, compose(artifact, "dev"), NOW)


def violations(artifact: Files) -> list[Violation]:
    with pytest.raises(InvalidInput) as refused:
        read(artifact)
    return refused.value.violations


def test_an_overwrite_becomes_the_value_that_the_chart_wants() -> None:
    (vector,) = read(files()).vectors
    value = vector.values["imageVectorOverwrite"]
    assert value.startswith('images:\n- name: "balloons"\n')
    (vector,) = read(files(ENTRY.replace("String", "Object"))).vectors
    assert vector.values["imageVectorOverwrite"]["images"][0]["tag"] == "v0.12"


def test_what_each_image_resolves_to_is_known() -> None:
    (vector,) = read(files()).vectors
    shown = [(found.name, found.demand, found.reference, found.overwritten) for found in vector.resolutions]
    demand = Demand("1.35", "amd64")
    assert shown == [
        ("balloons", demand, "mirror/nri-resource-policy-balloons:v0.12", True),
        ("nri-config-manager", demand, "public/nri-config-manager:v0.9", False),
    ]


def test_a_vector_may_stand_in_the_overlay_itself() -> None:
    (vector,) = read(files(INLINE)).vectors
    assert [found.reference for found in vector.resolutions][:1] == ["m:v1"]


def test_the_controllers_own_image_is_no_part_of_the_vector() -> None:
    image = "    image: {repository: mirror/extension, tag: 'sha256:01'}\n"
    (vector,) = read(files(ENTRY + image)).vectors
    assert vector.values["image"] == {"repository": "mirror/extension", "tag": "sha256:01"}
    entry = "  imageVectors:\n  - {extension: a, registration: Extension, form: Object, image: {tag: v2}}\n"
    (vector,) = read(files(entry)).vectors
    assert vector.values == {"image": {"tag": "v2"}}


def test_components_have_vectors_of_their_own() -> None:
    components = (
        "    components:\n    - {name: etcd-druid, path: vector.yaml}\n    - name: b\n      inline: {images: []}\n"
    )
    (vector,) = read(files(ENTRY.replace("String", "Object") + components)).vectors
    values = vector.values["componentImageVectorOverwrites"]["components"]
    assert [value["name"] for value in values] == ["etcd-druid", "b"]
    assert values[0]["imageVectorOverwrite"].startswith("images:\n")


def test_machines_are_those_of_the_declared_workers() -> None:
    workers = """\
  provider:
    workers:
    - {name: a, machine: {architecture: arm64}}
    - {name: b, kubernetes: {version: 1.34.3}}
"""
    (vector,) = read(files(shoot=SHOOT + workers)).vectors
    assert {found.demand for found in vector.resolutions} == {Demand("1.35", "arm64"), Demand("1.34.3", "amd64")}


def test_a_version_that_is_none_is_told_where_the_shoot_is_declared() -> None:
    (found,) = violations(files(shoot=SHOOT.replace('"1.35"', "latest")))
    assert (found.file, found.line, found.rule) == ("clusters/one.yaml", 1, "kubernetes-version")


def test_without_the_extensions_own_vector_nothing_is_proven() -> None:
    found = read(files(ENTRY.replace("    base: images.yaml\n", "")))
    assert [(warning.line, warning.rule) for warning in found.warnings] == [(12, "no-base")]
    assert found.vectors[0].resolutions == ()


def test_an_image_that_no_vector_has_is_named() -> None:
    base = BASE[: BASE.index("- name: nri-config-manager")]
    (warning,) = read(files(base=base)).warnings
    assert (warning.rule, "nri-config-manager" in warning.message) == ("image-not-covered", True)
    (found,) = violations(files(ENTRY + "    needs: [nri-config-manager]\n", base=base))
    assert (found.rule, "nri-config-manager" in found.message) == ("image-not-covered", True)


VECTOR = "overlays/dev/vector.yaml"
OVERLAY = "overlays/dev/overlay.yaml"


@pytest.mark.parametrize(
    ("vector", "line", "rule", "says"),
    [
        pytest.param("images: [\n", 2, "yaml-syntax", "not YAML", id="syntax"),
        pytest.param("# nothing\n", 0, "vector-file", "not none", id="empty"),
        pytest.param("a: 1\n---\nb: 2\n", 0, "vector-file", "not 2", id="two"),
        pytest.param("- a\n", 1, "not-an-object", "a map with a list `images`", id="list"),
        pytest.param(OVERWRITE + "  tag: v2\n", 5, "duplicate-key", "line 4", id="duplicate-key"),
        pytest.param(OVERWRITE + OVERWRITE[8:], 5, "image-repeated", "entry 1", id="entry-twice"),
        pytest.param(OVERWRITE + "  ref: r:v1\n", 5, "image-twice", "leave out repository", id="ref-and-repository"),
        pytest.param(OVERWRITE.replace("v0.12", "''"), 4, "image-empty", "tag must not be empty", id="empty-tag"),
        pytest.param(OVERWRITE.replace("v0.12", "0.10"), 4, "not-a-string", "quote it", id="number"),
        pytest.param(OVERWRITE + "  targetVersion: '>> 1'\n", 5, "version-constraint", "'>> 1'", id="constraint"),
        pytest.param("images:\n- name: balloons\n  tag: v2\n", 2, "image-incomplete", "by itself", id="tag-only"),
        pytest.param(OVERWRITE + "caBundle:\n  inline: no\n", 6, "ambiguous-value", "'no'", id="ambiguous"),
        pytest.param(OVERWRITE + "caBundle:\n  inline: none\n", 6, "ca-bundle", "PEM block", id="no-certificate"),
        pytest.param(OVERWRITE + "  targetVersion: '>= 1.31'\n", 2, "overwrite-loses", "v0.9", id="loses"),
        pytest.param(OVERWRITE.replace("name: balloons", "name: ballons"), 2, "unknown-image", "'balloons'", id="name"),
    ],
)
def test_a_vector_that_is_wrong(vector: str, line: int, rule: str, says: str) -> None:
    found = violations(files(vector=vector))[0]
    assert (found.file, found.line, found.rule) == (VECTOR, line, rule)
    assert says in found.message


@pytest.mark.parametrize(
    ("entry", "line", "rule", "says"),
    [
        pytest.param(ENTRY.replace("vector.yaml", "none.yaml"), 12, "path", "no file 'overlays/dev/none", id="path"),
        pytest.param(ENTRY.replace("images.yaml", "none.yaml"), 16, "path", "no file", id="base"),
        pytest.param(ENTRY.replace("nri-extension", "provider-local"), 14, "vector-form", "wants Object", id="object"),
        pytest.param(
            ENTRY.replace("nri-extension", "cri-resmgr-extension").replace("String", "Object"),
            14,
            "vector-form",
            "wants String",
            id="string",
        ),
        pytest.param(ENTRY + ENTRY[16:], 17, "image-vector-twice", "line 12", id="twice"),
        pytest.param(INLINE.replace("ref: m:v1", "tag: v1"), 17, "image-incomplete", "needs ref", id="inline"),
        pytest.param(
            ENTRY + "    components:\n    - {name: a, path: none.yaml}\n", 18, "path", "no file", id="component"
        ),
        pytest.param(
            ENTRY + "    components:\n    - {name: a, path: vector.yaml}\n    - {name: a, path: vector.yaml}\n",
            19,
            "component-twice",
            "'a' is given twice",
            id="component-twice",
        ),
    ],
)
def test_an_entry_that_is_wrong(entry: str, line: int, rule: str, says: str) -> None:
    (found,) = violations(files(entry))
    assert (found.file, found.line, found.rule) == (OVERLAY, line, rule)
    assert says in found.message


@pytest.mark.parametrize(
    ("entry", "line", "rule", "says"),
    [
        pytest.param(ENTRY + "    inline: {images: []}\n", 12, "vector-source", "exactly one of", id="both"),
        pytest.param(ENTRY.replace("    path: vector.yaml\n", ""), 12, "vector-source", "exactly one of", id="neither"),
        pytest.param(ENTRY.replace("vector.yaml", "../../../x"), 15, "path", "out of the repository", id="outside"),
        pytest.param(ENTRY.replace("String", "Text"), 14, "wrong-value", "String or Object", id="form"),
        pytest.param(
            ENTRY.replace("ControllerDeployment", "Chart"), 13, "wrong-value", "gardener-op", id="registration"
        ),
        pytest.param(ENTRY + "    component: []\n", 17, "unknown-key", "did you mean 'components'", id="key"),
        pytest.param(ENTRY + "    components: [{path: a}]\n", 17, "missing-key", "lacks 'name'", id="no-name"),
    ],
)
def test_an_overlay_that_says_it_wrong(entry: str, line: int, rule: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        compose(files(entry), "dev")
    (found,) = refused.value.violations
    assert (found.file, found.line, found.rule) == (OVERLAY, line, rule)
    assert says in found.message
