"""When an object needs no closer look: never when applying it would change anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.manifest import Element, Manifest
from gitops.ownership.managers import owned_paths
from gitops.ownership.merge import ABSENT
from gitops.plan.covering import contains, is_covered
from tests.plan.apply_model import applied, updated

US = "shoot-gitops"
_SCALARS = st.sampled_from([0, 1, "x", True])
_VALUES = _SCALARS | st.lists(_SCALARS, max_size=2)
_MAP = st.dictionaries(st.sampled_from("ab"), _VALUES, min_size=1)
_CONTAINERS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("pqr")}, optional={"image": _SCALARS, "limits": _MAP}),
    unique_by=lambda container: container["name"],
    min_size=1,
    max_size=3,
)


def manifest(spec: Any) -> Manifest:
    return {
        "apiVersion": "x/v1",
        "kind": "X",
        "metadata": {"name": "x", "namespace": "n", "labels": {"a": "b"}},
        "spec": spec,
    }


MANIFESTS = st.fixed_dictionaries(
    {"a": _SCALARS}, optional={"map": _MAP, "list": _VALUES, "containers": _CONTAINERS}
).map(manifest)
_WRITES = st.tuples(st.sampled_from([(US, applied), ("other", applied), ("kubectl-edit", updated)]), MANIFESTS)


def covered(wanted: Manifest, live: Manifest) -> bool:
    return is_covered(wanted, live, owned_paths(live, US, "Apply"))


@given(MANIFESTS, st.lists(_WRITES, max_size=4), st.integers(0, 5))
def test_what_is_called_covered_is_not_changed_by_applying_it(first: Manifest, history: list[Any], which: int) -> None:
    live = applied(None, first, US)
    declared = [first]
    for (manager, write), written in history:
        live = write(live, written, manager)
        declared += [written]
    wanted = declared[which % len(declared)]

    if covered(wanted, live):
        assert applied(live, wanted, US) == live


@given(MANIFESTS, st.lists(_WRITES, max_size=3), MANIFESTS)
def test_what_was_applied_last_is_covered(first: Manifest, history: list[Any], wanted: Manifest) -> None:
    live = applied(None, first, US)
    for (manager, write), written in history:
        live = write(live, written, manager)

    assert covered(wanted, applied(live, wanted, US))


RED = {"name": "red", "image": "r"}


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        pytest.param({"a": 1}, {"a": 2}, id="another value"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, id="one more field"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, id="one field less"),
        pytest.param({"list": [1, 2]}, {"list": [2, 1]}, id="another order of a list"),
        pytest.param({"list": [1]}, {"list": [1, 2]}, id="a longer list"),
        pytest.param({"a": 1}, {"a": True}, id="true for one"),
        pytest.param({"a": {"b": 1}}, {"a": "text"}, id="a text for a map"),
        pytest.param({"a": "text"}, {"a": {"b": 1}}, id="a map for a text"),
        pytest.param({"containers": [RED, {"name": "blue"}]}, {"containers": [RED]}, id="a bare element less"),
        pytest.param({"containers": [RED]}, {"containers": [RED, {"name": "blue"}]}, id="an element more"),
        pytest.param({"containers": [RED]}, {"containers": [{"name": "red"}]}, id="a field of an element less"),
        pytest.param({"containers": [RED]}, {"containers": [{"image": "r"}]}, id="an element without its key"),
        pytest.param({"containers": [RED]}, {"containers": ["red"]}, id="an element that is no map"),
        pytest.param({"containers": [RED]}, {"containers": [RED, {"image": "r"}]}, id="one more without its key"),
        pytest.param({"containers": [RED]}, {"containers": [RED, "red"]}, id="one more that is no map"),
    ],
)
def test_a_change_is_seen(before: Any, wanted: Any) -> None:
    assert not covered(manifest(wanted), applied(None, manifest(before), US))


def test_what_somebody_edited_is_seen() -> None:
    ours = manifest({"a": 1, "list": [{"x": 1}]})
    live = applied(None, ours, US)

    assert not covered(ours, updated(live, manifest({"a": 2, "list": [{"x": 1}]}), "kubectl-edit"))
    assert not covered(ours, updated(live, manifest({"a": 1, "list": [{"x": 1, "y": 2}]}), "kubectl-edit"))


def test_what_others_added_is_not_ours_to_see() -> None:
    ours = manifest({"a": 1, "map": {"x": 1}})
    theirs = manifest({"a": 1, "map": {"x": 1, "y": 2}, "containers": [RED]})

    assert covered(ours, updated(applied(None, ours, US), theirs, "controller"))


def test_an_object_that_others_wrote_alike_is_not_ours_yet() -> None:
    ours = manifest({"a": 1})

    assert not covered(ours, applied(None, ours, "other"))


@pytest.mark.parametrize(
    ("live", "wanted", "covers"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 1}, True, id="defaults in a map"),
        pytest.param([{"a": 1, "b": 2}], [{"a": 1}], True, id="defaults in elements of a list"),
        pytest.param([1, 2], [1], False, id="a longer list"),
        pytest.param({"a": 1}, [1], False, id="a map for a list"),
        pytest.param([1], {"a": 1}, False, id="a list for a map"),
        pytest.param({}, {"a": None}, True, id="null is absent"),
        pytest.param({"a": None}, {"a": None}, True, id="null is null"),
        pytest.param({"a": 1}, {"a": None}, False, id="null where something is"),
        pytest.param({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}}, True, id="a quantity"),
        pytest.param({"limits": {}}, {"limits": {"cpu": "1"}}, False, id="an absent quantity"),
        pytest.param({"other": {"cpu": "1"}}, {"other": {"cpu": "1000m"}}, False, id="a text that looks like one"),
        pytest.param(ABSENT, 1, False, id="nothing"),
    ],
)
def test_a_value_contains_another(live: Any, wanted: Any, covers: bool) -> None:  # noqa: FBT001 - a column of the table
    assert contains(live, wanted) is covers


def test_a_list_with_two_kinds_of_keys_is_looked_at_closer() -> None:
    owned = frozenset({("spec", "l", Element("a", "1"), "a"), ("spec", "l", Element("b", "1"), "b")})
    odd = manifest({"l": [{"a": 1}, {"b": 1}]})

    assert not is_covered(odd, odd, owned)
