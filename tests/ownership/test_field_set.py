from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from gitops.manifest import Element
from gitops.ownership.field_set import declared_fields, from_fields_v1, to_fields_v1
from gitops.ownership.lists import NO_LISTS, KeyedList, ListKeys
from tests.ownership.manifests import LISTS, MANIFESTS, fields

RED = Element("type", "red")


@pytest.mark.parametrize(
    ("manifest", "declared"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(None, {}, id="null"),
        pytest.param({"spec": None}, {}, id="null declares nothing"),
        pytest.param({"spec": {"a": None, "b": 0}}, {("spec", "b"): 0}, id="null beside a value"),
        pytest.param({"spec": {"a": {}}}, {("spec", "a"): {}}, id="an empty map is a value"),
        pytest.param({"spec": {"zones": ["a", "b"]}}, {("spec", "zones"): ["a", "b"]}, id="a list without key"),
        pytest.param(
            {"spec": {"extensions": [{"type": "red", "disabled": False}]}},
            {("spec", "extensions", RED, "type"): "red", ("spec", "extensions", RED, "disabled"): False},
            id="an element declares its key",
        ),
        pytest.param({"spec": {"extensions": []}}, {}, id="a keyed list without elements"),
        pytest.param(
            {"spec": {"extensions": [{"type": "red"}, {"disabled": True}]}},
            {("spec", "extensions"): [{"type": "red"}, {"disabled": True}]},
            id="one element without a key makes the list one value",
        ),
        pytest.param(
            {"spec": {"extensions": ["red"]}}, {("spec", "extensions"): ["red"]}, id="elements that are no maps"
        ),
    ],
)
def test_a_manifest_declares_its_leaves(manifest: Any, declared: dict[Any, Any]) -> None:
    assert dict(declared_fields(manifest, LISTS)) == declared


def test_without_keyed_lists_every_list_is_one_value() -> None:
    assert dict(declared_fields({"a": [{"name": "x"}]}, NO_LISTS)) == {("a",): [{"name": "x"}]}


@given(MANIFESTS)
def test_the_stored_form_gives_the_same_fields_back(manifest: dict[str, Any]) -> None:
    stored = json.loads(json.dumps(to_fields_v1(fields(manifest))))

    assert from_fields_v1(stored) == fields(manifest)


@given(MANIFESTS)
def test_the_stored_form_does_not_depend_on_the_order_of_the_manifest(manifest: dict[str, Any]) -> None:
    turned = dict(reversed(manifest.items()))

    assert json.dumps(to_fields_v1(fields(manifest))) == json.dumps(to_fields_v1(fields(turned)))


def test_the_stored_form_is_that_of_managed_fields() -> None:
    stored = to_fields_v1(frozenset({("spec", "extensions", RED, "type"), ("spec", "region")}))

    assert stored == {"f:spec": {"f:extensions": {'k:{"type":"red"}': {"f:type": {}}}, "f:region": {}}}


def test_names_with_colons_slashes_and_quotes_survive() -> None:
    paths = frozenset(
        {("metadata", "annotations", 'a.b/c:d"e'), ("spec", "extensions", Element("type", 'x"y:z'), "type")}
    )

    assert from_fields_v1(to_fields_v1(paths)) == paths


def test_an_element_may_be_named_by_several_fields() -> None:
    lists: ListKeys = {("resources",): KeyedList("kind", also=("type",))}
    manifest = {
        "resources": [{"kind": "Extension", "type": "red", "primary": True}, {"kind": "Network", "type": "red"}]
    }
    red = Element("kind", "Extension", (("type", "red"),))

    fields = frozenset(path for path, _ in declared_fields(manifest, lists))

    assert ("resources", red, "primary") in fields
    assert to_fields_v1(fields)["f:resources"].keys() == {
        'k:{"kind":"Extension","type":"red"}',
        'k:{"kind":"Network","type":"red"}',
    }
    assert from_fields_v1(to_fields_v1(fields)) == fields


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param({"spec": {}}, id="no kind of step"),
        pytest.param({"x:spec": {}}, id="an unknown kind of step"),
        pytest.param({"f:spec": "yes"}, id="a value where a map belongs"),
        pytest.param({'k:["type"]': {}}, id="an element named by a list"),
        pytest.param({"k:{}": {}}, id="an element without a key"),
        pytest.param({"k:{": {}}, id="an element that is no JSON"),
    ],
)
def test_another_form_is_refused(stored: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_fields_v1(stored)


def test_a_list_in_which_a_key_stands_twice_is_one_value() -> None:
    tolerations = [{"key": "dedicated", "value": "a"}, {"key": "dedicated", "value": "b"}]

    fields = dict(declared_fields({"tolerations": tolerations}, {("tolerations",): KeyedList("key")}))

    assert fields == {("tolerations",): tolerations}
