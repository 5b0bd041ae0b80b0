from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from gitops.desired.documents import parse
from gitops.desired.schema import OVERLAY_SCHEMA

OVERLAYS = sorted((Path(__file__).parents[2] / "overlays").glob("*/overlay.yaml"))


def test_the_schema_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(OVERLAY_SCHEMA)


@pytest.mark.parametrize("path", OVERLAYS, ids=lambda path: path.parent.name)
def test_any_validator_accepts_the_example_overlays(path: Path) -> None:
    (document,) = parse(path.read_bytes(), path.name)
    jsonschema.validate(document.manifest, OVERLAY_SCHEMA)


def test_every_key_of_the_spec_says_what_it_is_for() -> None:
    spec = OVERLAY_SCHEMA["properties"]["spec"]["properties"]
    assert all(schema["description"] for schema in spec.values())
