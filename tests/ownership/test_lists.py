from __future__ import annotations

from typing import Any

import pytest

from gitops.manifest import Element, Path
from gitops.ownership.lists import KeyedList, child, index_of, keyed

LISTS = {("spec", "workers"): KeyedList("name"), ("spec", "workers", "volumes"): KeyedList("name")}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param(("spec", "workers"), True, id="a list by its map keys"),
        pytest.param(("spec", "workers", Element("name", "a"), "volumes"), True, id="a list in an element"),
        pytest.param(("spec", "zones"), False, id="another list"),
        pytest.param(("workers",), False, id="the same name elsewhere"),
    ],
)
def test_a_list_is_found_by_the_map_keys_on_its_path(path: Path, *, found: bool) -> None:
    assert (keyed(LISTS, path) is not None) is found


@pytest.mark.parametrize(
    ("values", "index"),
    [
        pytest.param([{"name": "b"}, {"name": "a"}], 1, id="by its key"),
        pytest.param([{"name": "b"}], None, id="not there"),
        pytest.param(["a", None, {"name": "a"}], 2, id="among what is no map"),
        pytest.param([{"other": "a"}], None, id="only another field says so"),
    ],
)
def test_an_element_is_found_by_its_key(values: list[Any], index: int | None) -> None:
    assert index_of(values, Element("name", "a")) == index


def test_an_element_is_found_by_a_number_as_its_key() -> None:
    assert index_of([{"port": 80}, {"port": 443}], Element("port", "443")) == 1


@pytest.mark.parametrize("value", [{}, {"name": None}], ids=["absent", "null"])
def test_an_element_without_a_key_is_not_the_one_that_is_called_none(value: dict[str, Any]) -> None:
    assert index_of([value], Element("name", "None")) is None


@pytest.mark.parametrize(
    ("value", "step"),
    [
        pytest.param({"a": 1}, "b", id="no such field"),
        pytest.param("text", "b", id="no map"),
        pytest.param([{"name": "x"}], Element("name", "a"), id="no such element"),
        pytest.param({"name": "a"}, Element("name", "a"), id="no list"),
        pytest.param([{"name": "a"}], "name", id="a field of a list"),
    ],
)
def test_a_step_to_nowhere_is_a_key_error(value: Any, step: Any) -> None:
    with pytest.raises(KeyError):
        child(value, step)


def test_a_null_is_something() -> None:
    assert child({"a": None}, "a") is None
