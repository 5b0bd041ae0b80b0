"""The three-way merge: laws over random manifests, and the cases by which people know it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given

from gitops.manifest import Element, Path, is_prefix, pointer
from gitops.ownership.equality import same
from gitops.ownership.field_set import declared_fields
from gitops.ownership.merge import ABSENT, Merge, MergeRules, lookup, merge
from tests.ownership.manifests import LISTS, MANIFESTS, defined, fields, leaves, names, related


def alike(_: Path, live: Any, desired: Any) -> bool:
    return same(live, desired)


RULES = MergeRules(LISTS, alike, lambda *_: "")


def merged(declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]) -> Merge:
    return merge(declared, fields(before), live, RULES)


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_a_field_that_was_never_declared_stays_byte_for_byte(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    ours = fields(declared) | fields(before)
    whole = [element for element in defined(fields(before)) if not related(element, fields(declared))]

    foreign = [
        (path, text)
        for path, text in leaves(live)
        if not related(path, ours) and not any(is_prefix(element, path) for element in whole)
    ]

    after = list(leaves(merged(declared, before, live).merged))
    assert [leaf for leaf in after if leaf in foreign] == foreign
    assert all(leaf in foreign or related(leaf[0], ours) or leaf[0] == () for leaf in after)


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_what_is_declared_wins(declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]) -> None:
    outcome = merged(declared, before, live)

    for path, value in declared_fields(declared, LISTS):
        assert same(lookup(outcome.merged, path), value), pointer(path)


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_a_second_merge_finds_nothing_to_do(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    first = merged(declared, before, live).merged

    for remembered in (declared, before):
        again = merged(declared, remembered, first)
        assert again.differences == ()
        assert again.merged == first


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_what_is_declared_no_longer_goes_away(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    outcome = merged(declared, before, live).merged

    for path in fields(before):
        names_element = isinstance(path[-2:][0], Element)
        if not related(path, fields(declared)) and not (names_element and path[-1] in {"name", "type"}):
            assert lookup(outcome, path) is ABSENT, pointer(path)


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_elements_keep_their_order_and_new_ones_come_last(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    outcome = merged(declared, before, live).merged

    for at in (("spec", "extensions"), ("spec", "pools"), ("spec", "pools", Element("name", "red"), "volumes")):
        old, new = names(live, at), names(outcome, at)
        assert [name for name in old if name in new] + [name for name in new if name not in old] == new


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_a_merge_changes_none_of_its_arguments(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    arguments = copy.deepcopy((declared, live))

    merged(declared, before, live)

    assert (declared, live) == arguments


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_without_differences_nothing_changes(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    outcome = merged(declared, before, live)

    assert (outcome.merged == live) is (outcome.differences == ())


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_what_must_stay_stays_and_is_told(
    declared: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    rules = MergeRules(LISTS, alike, lambda *_: "left alone")

    outcome = merge(declared, fields(before), live, rules)

    assert outcome.merged == live
    assert all(difference.kept == "left alone" for difference in outcome.differences)


SPEC = "spec"


@pytest.mark.parametrize(
    ("declared", "before", "live", "becomes"),
    [
        pytest.param({"a": 1}, {}, {"b": 2}, {"b": 2, "a": 1}, id="a new field"),
        pytest.param({"a": 1}, {"a": 1}, {"a": 2}, {"a": 1}, id="drift is put back"),
        pytest.param({}, {"a": 1}, {"a": 2, "b": 3}, {"b": 3}, id="all of ours goes"),
        pytest.param({}, {"dns": {"a": 1}}, {"dns": {"a": 1}, "b": 3}, {"b": 3}, id="a map goes with its last field"),
        pytest.param({}, {"dns": {"a": 1}}, {"dns": {"a": 1, "z": 9}}, {"dns": {"z": 9}}, id="a map stays for others"),
        pytest.param({"dns": {}}, {"dns": {"a": 1}}, {"dns": {"a": 1}}, {"dns": {}}, id="a map is declared empty now"),
        pytest.param({"dns": {"a": 1}}, {"dns": {}}, {"dns": {}}, {"dns": {"a": 1}}, id="a map was declared empty"),
        pytest.param(
            {"zones": ["a"]}, {"zones": {"a": 1}}, {"zones": {"a": 1}}, {"zones": ["a"]}, id="a list for a map"
        ),
        pytest.param({"a": {"b": 1}}, {}, {"a": "text"}, {"a": {"b": 1}}, id="a map where a text is live"),
        pytest.param({"a": {"b": 1}}, {}, {"a": None}, {"a": {"b": 1}}, id="a map where null is live"),
    ],
)
def test_fields(declared: Any, before: Any, live: Any, becomes: Any) -> None:
    outcome = merged({SPEC: declared} if declared else {}, {SPEC: before}, {SPEC: live})

    assert outcome.merged == {SPEC: becomes}


def ext(type_: str, **rest: Any) -> dict[str, Any]:
    return {"type": type_, **rest}


@pytest.mark.parametrize(
    ("declared", "before", "live", "becomes"),
    [
        pytest.param(
            [ext("x", disabled=False)], [], [ext("y")], [ext("y"), ext("x", disabled=False)], id="joins others"
        ),
        pytest.param([ext("x")], [], None, [ext("x")], id="is the first"),
        pytest.param(
            [ext("x", disabled=False)],
            [],
            [ext("x", disabled=True, providerConfig={"k": 1}), ext("y")],
            [ext("x", disabled=False, providerConfig={"k": 1}), ext("y")],
            id="others hold fields in the same element",
        ),
        pytest.param([], [ext("x")], [ext("y"), ext("x"), ext("z")], [ext("y"), ext("z")], id="leaves the others"),
        pytest.param([], [ext("x")], [ext("x")], None, id="the list goes with its last element"),
        pytest.param(
            [],
            [ext("x", disabled=False)],
            [ext("x", disabled=False, providerConfig={"k": 1})],
            [ext("x", providerConfig={"k": 1})],
            id="an element with foreign fields keeps its key",
        ),
        pytest.param(
            [ext("x")],
            [ext("x", disabled=True)],
            [ext("x", disabled=True)],
            [ext("x")],
            id="an element that is still declared stays with its key alone",
        ),
        pytest.param(
            [ext("x")],
            [ext("x", providerConfig={"a": 1})],
            [ext("x", providerConfig={"a": 1})],
            [ext("x")],
            id="its last map goes and it stays",
        ),
        pytest.param(
            [ext("x")], [], [ext("y"), "odd"], [ext("y"), "odd", ext("x")], id="a live list with odd elements"
        ),
    ],
)
def test_elements_without_a_defining_field(declared: Any, before: Any, live: Any, becomes: Any) -> None:
    outcome = merged(
        {SPEC: {"extensions": declared}},
        {SPEC: {"extensions": before}},
        {SPEC: {"region": "r", **({"extensions": live} if live is not None else {})}},
    )

    assert outcome.merged == {SPEC: {"region": "r", **({"extensions": becomes} if becomes is not None else {})}}


MACHINE = {"type": "large"}


@pytest.mark.parametrize(
    ("declared", "before", "live", "becomes"),
    [
        pytest.param(
            [],
            [{"name": "red", "machine": MACHINE}],
            [{"name": "red", "machine": MACHINE, "labels": {"a": "foreign"}}, {"name": "blue"}],
            [{"name": "blue"}],
            id="declared whole: goes whole",
        ),
        pytest.param(
            [],
            [{"name": "red", "labels": {"a": "x"}}],
            [{"name": "red", "machine": MACHINE, "labels": {"a": "x"}}],
            [{"name": "red", "machine": MACHINE}],
            id="only labels were declared: the pool stays",
        ),
        pytest.param(
            [{"name": "red", "labels": {"b": "y"}}],
            [{"name": "red", "machine": MACHINE}],
            [{"name": "red", "machine": MACHINE, "labels": {"a": "x"}}],
            [{"name": "red", "labels": {"a": "x", "b": "y"}}],
            id="still declared in part: only the field goes",
        ),
        pytest.param(
            [{"name": "red", "machine": MACHINE}],
            [{"name": "red", "machine": MACHINE, "volumes": [{"name": "blue", "size": 1}]}],
            [{"name": "red", "machine": MACHINE, "volumes": [{"name": "blue", "size": 1, "type": "ssd"}]}],
            [{"name": "red", "machine": MACHINE}],
            id="an inner element declared whole goes whole",
        ),
    ],
)
def test_elements_with_a_defining_field(declared: Any, before: Any, live: Any, becomes: Any) -> None:
    outcome = merged({SPEC: {"pools": declared}}, {SPEC: {"pools": before}}, {SPEC: {"pools": live}})

    assert outcome.merged == {SPEC: {"pools": becomes}}


def test_differences_tell_live_and_desired_with_removals_last() -> None:
    outcome = merged(
        {SPEC: {"extensions": [ext("x", disabled=False)]}},
        {SPEC: {"region": "r"}},
        {SPEC: {"region": "r", "extensions": [ext("x", disabled=True)]}},
    )

    assert [(pointer(d.path), d.live, d.desired) for d in outcome.differences] == [
        ("/spec/extensions/[type=x]/disabled", True, False),
        ("/spec/region", "r", ABSENT),
    ]
