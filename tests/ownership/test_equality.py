"""What means the same to an API server although it is written differently, and what only looks alike."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.ownership.equality import quantity, same, same_duration, same_quantity, same_text, seconds
from tests.shapes import json_values


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("1", "1"),
        (1, "1"),
        (0.5, "0.5"),
        ("500m", "0.5"),
        ("1000m", "1"),
        ("-1", "-1"),
        ("+1k", "1000"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1e-3", "0.001"),
        ("1E", "1000000000000000000"),
        ("1M", "1000000"),
        ("1Mi", "1048576"),
        ("1Gi", "1073741824"),
        ("1Ei", "1152921504606846976"),
        ("100n", "0.0000001"),
        ("1u", "0.000001"),
        (1e21, "1000000000000000000000"),
    ],
)
def test_a_quantity_is_a_number(value: Any, number: str) -> None:
    assert quantity(value) == Decimal(number)


@pytest.mark.parametrize(
    "value", ["", "x", "1x", "1KI", "1 Gi", "5%", "1e", "--1", "1.2.3", "1e99999999999999999999", True, None, [1], {}]
)
def test_what_is_no_quantity_is_not_a_number(value: Any) -> None:
    assert quantity(value) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("60s", "60"),
        ("1m", "60"),
        ("1m0s", "60"),
        ("1h30m", "5400"),
        ("1.5h", "5400"),
        (".5s", "0.5"),
        ("1.s", "1"),
        ("100ms", "0.1"),
        ("1us", "0.000001"),
        ("1µs", "0.000001"),
        ("1ns", "0.000000001"),
        ("-1m", "-60"),
        ("+1m", "60"),
        ("1h1h", "7200"),
    ],
)
def test_a_duration_is_in_seconds(text: str, number: str) -> None:
    assert seconds(text) == Decimal(number)


@pytest.mark.parametrize("value", ["", "1", "1d", "1 m", "m", "1m ", "--1m", "+-1m", "1m0", "x1m", 60, 1.5, True, None])
def test_what_is_no_duration_has_no_seconds(value: Any) -> None:
    assert seconds(value) is None


@pytest.mark.parametrize(
    ("equal", "live", "declared"),
    [
        pytest.param(same_quantity, "1", 1, id="a number and its text"),
        pytest.param(same_quantity, "1", "1000m", id="milli"),
        pytest.param(same_quantity, "1Gi", "1024Mi", id="binary"),
        pytest.param(same_quantity, "1k", "1e3", id="exponent"),
        pytest.param(same_quantity, "500m", 0.5, id="a fraction"),
        pytest.param(same_quantity, "5%", "5%", id="no quantity, the same text"),
        pytest.param(same_duration, "1h0m0s", "60m", id="as Go writes it"),
        pytest.param(same_duration, "soon", "soon", id="no duration, the same text"),
        pytest.param(same_text, "1", 1, id="a number where text is stored"),
        pytest.param(same_text, 25, "25", id="text where a number is stored"),
        pytest.param(same, 1, 1.0, id="JSON has one kind of number"),
        pytest.param(same, {"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, id="nested"),
    ],
)
def test_these_mean_the_same(equal: Any, live: Any, declared: Any) -> None:
    assert equal(live, declared)
    assert equal(declared, live)


@pytest.mark.parametrize(
    ("equal", "live", "declared"),
    [
        pytest.param(same_quantity, "1000m", "1000M", id="milli and mega"),
        pytest.param(same_quantity, "1G", "1Gi", id="decimal and binary"),
        pytest.param(same_quantity, True, 1, id="true is no quantity"),
        pytest.param(same_quantity, "5%", "6%", id="no quantities"),
        pytest.param(same_duration, "1m", "1h", id="minutes and hours"),
        pytest.param(same_duration, "60s", 60, id="a number is no duration"),
        pytest.param(same_text, True, "True", id="true is no text"),
        pytest.param(same_text, 1, "25%", id="a number and a share"),
        pytest.param(same_text, None, "None", id="null is no text"),
        pytest.param(same, True, 1, id="true and one"),
        pytest.param(same, False, 0, id="false and zero"),
        pytest.param(same, [True], [1], id="true and one in a list"),
        pytest.param(same, {"a": 0}, {"a": False}, id="zero and false in a map"),
        pytest.param(same, "1", 1, id="text and number"),
        pytest.param(same, None, {}, id="null and an empty map"),
        pytest.param(same, [1, 2], [2, 1], id="another order"),
        pytest.param(same, [1], [1, 1], id="another length"),
        pytest.param(same, {"a": 1}, {"b": 1}, id="another key"),
    ],
)
def test_these_do_not_mean_the_same(equal: Any, live: Any, declared: Any) -> None:
    assert not equal(live, declared)
    assert not equal(declared, live)


@given(json_values(["a", "b"]))
def test_every_value_is_the_same_as_itself(value: Any) -> None:
    for equal in (same, same_quantity, same_duration, same_text):
        assert equal(value, value)


@given(st.integers(0, 10**9), st.sampled_from([("", "m", 1000), ("k", "", 1000), ("Ki", "", 1024), ("Gi", "Mi", 1024)]))
def test_a_larger_unit_is_so_many_of_the_smaller(amount: int, units: tuple[str, str, int]) -> None:
    larger, smaller, factor = units

    assert same_quantity(f"{amount}{larger}", f"{amount * factor}{smaller}")
    assert not same_quantity(f"{amount}{larger}", f"{amount * factor + 1}{smaller}")


@given(st.integers(0, 10**6))
def test_go_writes_seconds_as_hours_minutes_and_seconds(amount: int) -> None:
    minutes, rest = divmod(amount, 60)
    hours, minutes = divmod(minutes, 60)

    assert same_duration(f"{hours}h{minutes}m{rest}s", f"{amount}s")
    assert not same_duration(f"{hours}h{minutes}m{rest}s", f"{amount + 1}s")
