from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gitops.manifest import pointer
from gitops.ownership.merge import ABSENT
from gitops.plan.diff import comparable, differences
from tests.shapes import json_values


@pytest.mark.parametrize(
    ("live", "desired", "found"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="nothing"),
        pytest.param({"a": 1}, {"a": 2}, [("/a", 1, 2)], id="a value"),
        pytest.param({}, {"a": {"b": 1}}, [("/a", ABSENT, {"b": 1})], id="a map is new"),
        pytest.param({"b": 1, "a": 1}, {}, [("/a", 1, ABSENT), ("/b", 1, ABSENT)], id="fields go, by name"),
        pytest.param({"a": 1}, {"a": True}, [("/a", 1, True)], id="true is not one"),
        pytest.param({"a": None}, {}, [("/a", None, ABSENT)], id="null is a value"),
        pytest.param({"l": [1, 2]}, {"l": [2, 1]}, [("/l", [1, 2], [2, 1])], id="a list is one value"),
        pytest.param({"l": []}, {"l": []}, [], id="empty lists"),
        pytest.param(
            {"l": []}, {"l": [{"name": "x"}]}, [("/l/[name=x]", ABSENT, {"name": "x"})], id="the first element"
        ),
        pytest.param(
            {"l": [{"name": "x", "v": 1}, {"name": "y"}]},
            {"l": [{"name": "x", "v": 2}, {"name": "z"}]},
            [("/l/[name=x]/v", 1, 2), ("/l/[name=y]", {"name": "y"}, ABSENT), ("/l/[name=z]", ABSENT, {"name": "z"})],
            id="elements by name",
        ),
        pytest.param(
            {"l": [{"type": "x", "v": 1}]}, {"l": [{"type": "x", "v": 2}]}, [("/l/[type=x]/v", 1, 2)], id="by type"
        ),
        pytest.param(
            {"l": [{"name": "x"}, {"name": "y"}]},
            {"l": [{"name": "y"}, {"name": "x"}]},
            [("/l", [{"name": "x"}, {"name": "y"}], [{"name": "y"}, {"name": "x"}])],
            id="another order is a difference",
        ),
        pytest.param(
            {"l": [{"name": "x"}, {"name": "x"}]},
            {"l": [{"name": "x"}]},
            [("/l", [{"name": "x"}, {"name": "x"}], [{"name": "x"}])],
            id="one name twice names nothing",
        ),
        pytest.param({"l": ["x"]}, {"l": ["y"]}, [("/l", ["x"], ["y"])], id="elements without names"),
        pytest.param({"l": [{"name": 1}]}, {"l": [{"name": 2}]}, [("/l", [{"name": 1}], [{"name": 2}])], id="numbers"),
    ],
)
def test_differences(live: Any, desired: Any, found: list[Any]) -> None:
    assert [(pointer(path), here, there) for path, here, there in differences(live, desired)] == found


@given(json_values(["a", "b", "name"]))
def test_nothing_differs_from_itself(value: Any) -> None:
    assert list(differences(value, value)) == []


@given(json_values(["a", "b", "name"]), json_values(["a", "b", "name"]))
def test_differences_are_the_same_from_both_sides(one: Any, other: Any) -> None:
    there = [(path, live, desired) for path, live, desired in differences(one, other)]
    back = [(path, desired, live) for path, live, desired in differences(other, one)]

    assert sorted(map(str, there)) == sorted(map(str, back))


def test_what_only_the_server_writes_is_not_compared() -> None:
    live = {
        "metadata": {"name": "x", "uid": "u", "resourceVersion": "1", "generation": 2, "managedFields": []},
        "status": {"a": 1},
        "spec": {},
    }

    assert comparable(live) == {"metadata": {"name": "x"}, "spec": {}}
    assert comparable({"spec": {}}) == {"metadata": {}, "spec": {}}
