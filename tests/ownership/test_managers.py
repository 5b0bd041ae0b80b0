import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.manifest import Element, Manifest, Path, is_prefix
from gitops.ownership.managers import Writer, owned_paths, writer_of


def entry(fields: dict[str, Any], manager: str = "m", time: str = "", operation: str = "Update") -> dict[str, Any]:
    stamp = {"time": time} if time else {}
    return {"manager": manager, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": fields, **stamp}


def managed(*entries: dict[str, Any]) -> Manifest:
    return {"metadata": {"managedFields": list(entries)}}


FIELDS = {
    "f:metadata": {
        "f:labels": {".": {}, "f:a": {}},
        "f:finalizers": {".": {}, 'v:"x"': {}},
    },
    "f:spec": {
        "f:replicas": {},
        "f:extensions": {},
        "f:workers": {'k:{"name":"w1"}': {".": {}, "f:name": {}, "f:maximum": {}}},
        "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:hostPort": {}}},
        "f:items": {"i:0": {"f:x": {}}},
        "f:weights": {'k:{"n":3}': {"f:w": {}}},
    },
}


@pytest.mark.parametrize(
    ("path", "owned"),
    [
        (("spec", "replicas"), True),
        (("spec",), True),
        (("spec", "other"), False),
        (("spec", "extensions"), True),
        (("spec", "extensions", Element("type", "x"), "disabled"), True),
        (("spec", "workers", Element("name", "w1"), "maximum"), True),
        (("spec", "workers", Element("name", "w1")), True),
        (("spec", "workers", Element("name", "w1"), "minimum"), False),
        (("spec", "workers", Element("name", "w2"), "maximum"), False),
        (("spec", "ports", Element("containerPort", "80"), "hostPort"), True),
        (("spec", "ports", Element("containerPort", "81"), "hostPort"), False),
        (("spec", "weights", Element("n", "3"), "w"), True),
        (("spec", "items"), True),
        (("metadata", "finalizers"), True),
        (("metadata", "labels", "a"), True),
        (("metadata", "labels", "b"), False),
        (("status",), False),
    ],
    ids=str,
)
def test_the_writer_of_a_value_is_found_through_maps_lists_and_sets(path: Path, owned: bool) -> None:  # noqa: FBT001 - a table's column
    written = managed(entry(FIELDS, "kubectl", "2026-11-30T06:00:00Z"))

    assert writer_of(written, path) == (Writer("kubectl", "2026-11-30T06:00:00Z", "Update") if owned else None)


def test_among_several_owners_the_last_to_write_is_named() -> None:
    fields: dict[str, Any] = {"f:spec": {"f:a": {}}}
    written = managed(
        entry(fields, "new", "2026-11-30T06:00:02Z", "Apply"),
        entry(fields, "old", "2026-11-30T06:00:01Z"),
        entry(fields, "timeless"),
    )

    assert writer_of(written, ("spec", "a")) == Writer("new", "2026-11-30T06:00:02Z", "Apply")


def test_the_nearest_owner_is_named_and_not_a_later_one_further_up() -> None:
    written = managed(
        entry({"f:spec": {"f:a": {"f:b": {}}}}, "near", "2026-11-30T06:00:01Z"),
        entry({"f:spec": {"f:a": {}}}, "far", "2026-11-30T06:00:02Z"),
    )

    found = writer_of(written, ("spec", "a", "b"))

    assert found is not None
    assert found.manager == "near"


@pytest.mark.parametrize(
    "manifest", [{}, {"metadata": {}}, managed({"manager": "x"})], ids=["empty", "bare", "no fields"]
)
def test_without_managed_fields_nobody_wrote(manifest: Manifest) -> None:
    assert writer_of(manifest, ("spec",)) is None


def test_owned_paths_are_the_leaves_of_one_manager_and_operation() -> None:
    written = managed(
        entry(FIELDS, "ours", operation="Apply"),
        entry({"f:spec": {"f:b": {}}}, "ours", operation="Update"),
        entry({"f:spec": {"f:c": {}}}, "theirs", operation="Apply"),
        entry({"f:status": {"f:d": {}}}, "ours", operation="Apply"),
    )

    assert owned_paths(written, "ours", "Apply") == {
        ("metadata", "labels", "a"),
        ("metadata", "finalizers"),
        ("spec", "replicas"),
        ("spec", "extensions"),
        ("spec", "workers", Element("name", "w1"), "name"),
        ("spec", "workers", Element("name", "w1"), "maximum"),
        ("spec", "ports"),
        ("spec", "items"),
        ("spec", "weights", Element("n", "3"), "w"),
        ("status", "d"),
    }


names = st.sampled_from(["a", "b", "c.d/e:f"])
steps = names | st.builds(Element, st.sampled_from(["name", "type"]), names)
paths = st.lists(steps, min_size=1, max_size=5).map(tuple)


def leaves_only(found: set[Path]) -> set[Path]:
    """Drops every path that lies above another."""
    return {path for path in found if not any(path != other and is_prefix(path, other) for other in found)}


def as_fields(found: set[Path]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for path in found:
        node = root
        for step in path:
            name = f"k:{json.dumps({step.key: step.value})}" if isinstance(step, Element) else f"f:{step}"
            node = node.setdefault(name, {})
    return root


@given(st.sets(paths, max_size=12).map(leaves_only))
def test_leaves_survive_the_way_through_managed_fields(leaves: set[Path]) -> None:
    assert owned_paths(managed(entry(as_fields(leaves), operation="Apply")), "m", "Apply") == leaves


@given(st.sets(paths, max_size=12).map(leaves_only), paths)
def test_a_path_has_a_writer_exactly_when_it_lies_on_the_way_to_or_below_an_owned_leaf(
    leaves: set[Path], path: Path
) -> None:
    written = managed(entry(as_fields(leaves)))

    related = any(is_prefix(path, leaf) or is_prefix(leaf, path) for leaf in leaves)

    assert (writer_of(written, path) is not None) == related
