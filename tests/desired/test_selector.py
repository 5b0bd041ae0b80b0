from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.desired.selector import label_selector, parse_selector

LABELS = {"cpu": "balloons", "example.org/tier": "a", "empty": ""}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param({}, True, id="empty"),
        pytest.param({"matchLabels": {"cpu": "balloons"}}, True, id="equal"),
        pytest.param({"matchLabels": {"cpu": "other"}}, False, id="differs"),
        pytest.param({"matchLabels": {"cpu": "balloons", "no": "x"}}, False, id="all-must-match"),
        pytest.param({"matchLabels": {"empty": ""}}, True, id="empty-value"),
        pytest.param({"matchLabels": {"absent": ""}}, False, id="absent-is-not-empty"),
        pytest.param(
            {"matchExpressions": [{"key": "cpu", "operator": "In", "values": ["x", "balloons"]}]}, True, id="in"
        ),
        pytest.param({"matchExpressions": [{"key": "no", "operator": "In", "values": ["x"]}]}, False, id="in-absent"),
        pytest.param({"matchExpressions": [{"key": "cpu", "operator": "NotIn", "values": ["x"]}]}, True, id="not-in"),
        pytest.param(
            {"matchExpressions": [{"key": "no", "operator": "NotIn", "values": ["x"]}]}, True, id="notin-absent"
        ),
        pytest.param({"matchExpressions": [{"key": "example.org/tier", "operator": "Exists"}]}, True, id="exists"),
        pytest.param({"matchExpressions": [{"key": "cpu", "operator": "DoesNotExist"}]}, False, id="does-not-exist"),
    ],
)
def test_a_selector_matches_as_in_kubernetes(selector: dict[str, Any], expected: bool) -> None:  # noqa: FBT001 - a column
    assert label_selector(selector).matches(LABELS) is expected


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "In on 'a' needs at least one value"),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": []}]}, "needs at least one value"),
        ({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}, "takes no values"),
        ({"matchLabels": {"-a": "b"}}, "'-a' is not a label key"),
        ({"matchLabels": {"A.org/b": "c"}}, "is not a label key"),
        ({"matchLabels": {"a": "b c"}}, "'b c' is not a label value"),
        ({"matchLabels": {"a": "b" * 64}}, "is not a label value"),
    ],
)
def test_what_the_api_server_would_refuse_is_refused(selector: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        label_selector(selector)


@pytest.mark.parametrize(
    "text", ["a b", "a=b c", "a in b", "a in (b", ",", "a,,b", "a=b,", "a=(b)", "a>1", "!", "a=b=c"]
)
def test_text_that_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="label"):
        parse_selector(text)


KEYS = st.sampled_from(["a", "b", "example.org/c"])
VALUES = st.sampled_from(["", "x", "y-1"])


@given(KEYS, st.lists(VALUES, min_size=1, max_size=3), st.dictionaries(KEYS, VALUES))
def test_both_notations_mean_the_same(key: str, values: list[str], labels: dict[str, str]) -> None:
    for operator, word in (("In", "in"), ("NotIn", "notin")):
        expression = label_selector({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
        assert parse_selector(f"{key} {word} ({', '.join(values)})").matches(labels) == expression.matches(labels)
    assert parse_selector(f"{key}={values[0]}").matches(labels) != parse_selector(f"{key}!={values[0]}").matches(labels)
    assert parse_selector(key).matches(labels) != parse_selector(f"!{key}").matches(labels)
