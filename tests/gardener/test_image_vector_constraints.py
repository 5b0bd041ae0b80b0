from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.gardener.image_vector.constraints import parse_constraint
from gitops.gardener.image_vector.versions import parse_version, release
from tests.gardener.oracle import Oracle

pytestmark = pytest.mark.oracle("tests/gardener/oracle_imagevector")

CASES = yaml.safe_load(Path(__file__).with_name("constraints.yaml").read_text())
TABLE = pytest.mark.parametrize("case", CASES, ids=[case["constraint"] for case in CASES])


@TABLE
def test_a_constraint_allows_what_it_says(case: dict[str, Any]) -> None:
    constraint = parse_constraint(case["constraint"])
    assert [text for text in case["allows"] if not constraint.allows(parse_version(text))] == []
    assert [text for text in case["not"] if constraint.allows(parse_version(text))] == []


@pytest.mark.control_plane
@TABLE
def test_masterminds_says_the_same(oracle: Oracle, case: dict[str, Any]) -> None:
    answer = oracle.ask(op="constraint", constraint=case["constraint"], versions=case["allows"] + case["not"])
    assert answer["matches"] == [True] * len(case["allows"]) + [False] * len(case["not"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "newest",
        ">",
        ">> 1",
        "== 1",
        "1.2.3.4",
        "1,",
        "||",
        "1 || ",
        "1.xx",
        "1.2.3-01",
        "1|2",
        "1;2",
        "1.31\u00a0",
    ],
)
def test_what_is_no_constraint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a version|is too large|begins with 0"):
        parse_constraint(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("1" * 513, "at most 512 characters", id="long"),
        pytest.param(" || ".join(["1"] * 33), "at most 32 alternatives", id="alternatives"),
        pytest.param("99999999999999999999", "too large", id="number"),
    ],
)
def test_a_constraint_has_limits(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_constraint(text)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "text", [("1" + " " * 7) * 60 + "!", "1 " * 255 + "!", "1 - " * 127 + "!", "x.x-" + "a-" * 250 + "!"]
)
def test_no_text_takes_for_ever(text: str) -> None:
    with pytest.raises(ValueError, match="is not a version"):
        parse_constraint(text)


@pytest.mark.parametrize("text", ["", "v", "1.2.3.4", "1.2-", "x", "1.2.3-01", "1" * 257, "99999999999999999999"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a version|is too large|begins with 0"):
        parse_version(text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1.31.2", (1, 31, 2)), ("v1.31", (1, 31, 0)), ("1.31.2-gardener.1+x", (1, 31, 2)), ("1.31.2~rc1", (1, 31, 2))],
)
def test_images_are_looked_up_for_releases(text: str, numbers: tuple[int, int, int]) -> None:
    found = release(text)
    assert (found.major, found.minor, found.patch, found.prerelease) == (*numbers, "")


def test_prereleases_are_in_the_order_of_the_standard() -> None:
    ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
    ]
    versions = [parse_version(text).order for text in ordered]
    assert all(smaller < larger for smaller, larger in pairwise(versions))
