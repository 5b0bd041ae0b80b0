"""The tables against the CRDs they were taken from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.nri.schema.fields import Field, fields_of

_CRDS = Path(__file__).parents[2] / "data" / "crds"
_KINDS = {
    "BalloonsPolicy": "config.nri_balloonspolicies.yaml",
    "TopologyAwarePolicy": "config.nri_topologyawarepolicies.yaml",
    "TemplatePolicy": "config.nri_templatepolicies.yaml",
}
_TYPES = {
    "map": "object",
    "list": "array",
    "set": "array",
    "bool": "boolean",
    "int": "integer",
    "uint": "integer",
    "frequency": "string",
    "duration": "string",
}
_RELEASES = ("v0.7.1", "v0.9.4", "v0.11.0", "v0.12.2", "v0.13.1", "v0.14.0")


def _spec_schema(file: Path) -> dict[str, Any]:
    crd = yaml.safe_load(file.read_text())
    spec: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def _schema_paths(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any], bool]]:
    for key, inner in schema.get("properties", {}).items():
        yield f"{at}.{key}", inner, key in schema.get("required", ())
        yield from _schema_paths(inner, f"{at}.{key}")
    for step, inner in (("[]", schema.get("items")), ("{}", schema.get("additionalProperties"))):
        if isinstance(inner, dict):
            yield at + step, inner, False
            yield from _schema_paths(inner, at + step)


def _table_paths(field: Field, at: str = "") -> Iterator[tuple[str, Field]]:
    for key, inner in field.children.items():
        path = at + (key if key in ("[]", "{}") else f".{key}")
        yield path, inner
        yield from _table_paths(inner, path)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_table_has_the_fields_types_and_values_of_the_newest_crd(kind: str) -> None:
    crd = {path: (inner, required) for path, inner, required in _schema_paths(_spec_schema(_CRDS / _KINDS[kind]))}
    table = dict(_table_paths(fields_of(kind)))

    assert table.keys() == crd.keys()
    for path, field in table.items():
        schema, required = crd[path]
        assert _TYPES.get(field.type, field.type) == schema["type"], path
        assert field.required == required, path
        assert field.natural == (schema.get("minimum") == 0), path
        assert (field.type == "set") == (schema.get("x-kubernetes-list-type") == "set"), path
        rules = " ".join(rule["rule"] for rule in schema.get("x-kubernetes-validations", ()))
        assert list(field.allowed) == schema.get("enum", []) or all(f"'{word}'" in rules for word in field.allowed), (
            path
        )


@pytest.mark.parametrize("release", _RELEASES)
def test_a_table_knows_which_release_brought_a_field(release: str) -> None:
    crd = {path for path, _, _ in _schema_paths(_spec_schema(_CRDS / "versions" / f"balloonspolicies-{release}.yaml"))}

    assert {
        path for path, field in _table_paths(fields_of("BalloonsPolicy")) if _order(field.since) <= _order(release)
    } == crd


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.removeprefix("v").split("."))
