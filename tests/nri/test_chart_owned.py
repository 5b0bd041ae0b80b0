"""Policies that a chart brings along."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.nri.chart_owned import IGNORE, is_left_alone


def policy(value: str | None, manager: str = "gardener-resource-manager") -> dict[str, Any]:
    fields: dict[str, Any] = {"f:metadata": {"f:annotations": {f"f:{IGNORE}": {}}}}
    entry = {"manager": manager, "operation": "Update", "time": "2026-11-30T12:00:00Z", "fieldsV1": fields}
    annotations = {} if value is None else {IGNORE: value}
    return {"metadata": {"annotations": annotations, "managedFields": [entry]}}


@pytest.mark.parametrize(
    ("live", "left_alone"),
    [
        pytest.param(policy("true"), True, id="as the chart renders it"),
        pytest.param(policy("1"), True, id="another way to say true"),
        pytest.param(policy("false"), False, id="said to be false"),
        pytest.param(policy(None), False, id="not said"),
        pytest.param(policy("true", "kubectl-annotate"), False, id="a person wrote it, which has no effect"),
        pytest.param({"metadata": {"annotations": {IGNORE: "true"}}}, False, id="nobody knows who wrote it"),
    ],
)
def test_only_the_resource_managers_own_word_counts(live: dict[str, Any], *, left_alone: bool) -> None:
    assert is_left_alone(live) is left_alone
