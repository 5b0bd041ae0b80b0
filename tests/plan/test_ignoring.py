from __future__ import annotations

from typing import Any

import pytest

from gitops.manifest import Element, Path
from gitops.ownership import FIELD_MANAGER
from gitops.plan.ignoring import ignored_by, with_live_values
from tests.plan.apply_model import applied, updated
from tests.plan.fleet import core, ignoring, policy


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        pytest.param(("spec", "hibernation"), True, id="the path itself"),
        pytest.param(("spec", "hibernation", "enabled"), True, id="below it"),
        pytest.param(("spec",), False, id="above it"),
        pytest.param(("spec", "hibernationX"), False, id="another name that begins alike"),
    ],
)
def test_a_path_covers_all_below_it(path: Path, *, ignored: bool) -> None:
    reason = ignored_by([ignoring("Shoot", "spec", "hibernation")], "Shoot")

    assert bool(reason(path)) is ignored


def test_a_rule_is_for_one_kind() -> None:
    assert not ignored_by([ignoring("ConfigMap", "data")], "Shoot")(("data",))


RULE = [ignoring("ConfigMap", "data", "size")]


def config(**data: str) -> Any:
    return core("ConfigMap", "c", data=data)


def test_an_ignored_field_of_ours_keeps_its_live_value() -> None:
    live = applied(None, config(size="1", other="a"), FIELD_MANAGER)

    assert with_live_values(config(size="2", other="b"), live, RULE) == config(size="1", other="b")


def test_an_ignored_field_that_somebody_took_over_is_not_claimed_back() -> None:
    live = updated(applied(None, config(size="1", other="a"), FIELD_MANAGER), config(size="9", other="a"), "autoscaler")

    assert with_live_values(config(size="2", other="b"), live, RULE) == config(other="b")


def test_an_ignored_field_that_somebody_removed_is_not_put_back() -> None:
    live = updated(applied(None, config(size="1", other="a"), FIELD_MANAGER), config(other="a"), "kubectl-edit")

    assert with_live_values(config(size="2", other="b"), live, RULE) == config(other="b")


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(ignoring("ConfigMap", "data", "absent"), id="not declared"),
        pytest.param(ignoring("ConfigMap", "spec", "x"), id="its holder is not declared"),
        pytest.param(ignoring("Secret", "data", "size"), id="another kind"),
        pytest.param(ignoring("ConfigMap", "data", Element("name", "x")), id="an element where there is no list"),
    ],
)
def test_other_fields_are_as_declared(rule: Any) -> None:
    live = applied(None, config(size="1"), FIELD_MANAGER)

    assert with_live_values(config(size="2"), live, [rule]) == config(size="2")


def test_a_whole_part_can_be_ignored() -> None:
    ours, live = policy(pinCPU=True), applied(None, policy(pinCPU=False), FIELD_MANAGER)

    assert with_live_values(ours, live, [ignoring("BalloonsPolicy", "spec")])["spec"] == {"pinCPU": False}
