"""The generic rules, case by case."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.rollout.kstatus import kstatus
from gitops.verdict import Status
from tests.shapes import json_values

TABLE: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("kstatus.yaml").read_text())
KINDS = sorted({(case["given"]["apiVersion"], case["given"]["kind"]) for case in TABLE})
JSON = json_values(
    ["phase", "conditions", "type", "status", "True", "Ready", "Running", "containerStatuses", "replicas"]
)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in TABLE])
def test_an_object_is_as_far_as_kstatus_says(case: dict[str, Any]) -> None:
    verdict = kstatus(case["given"])

    assert verdict.status is Status(case["status"]), verdict.message
    assert re.search(case.get("message", "."), verdict.message)


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("core.gardener.cloud/v1beta1", "Shoot"),
        ("core.gardener.cloud/v1beta1", "ControllerInstallation"),
        ("config.nri/v1alpha1", "BalloonsPolicy"),
        ("config.nri/v1alpha1", "TopologyAwarePolicy"),
        ("config.nri/v1alpha1", "TemplatePolicy"),
    ],
)
def test_a_kind_with_a_gate_of_its_own_is_refused(api_version: str, kind: str) -> None:
    with pytest.raises(ValueError, match=f"{kind}.*gate of its own"):
        kstatus({"apiVersion": api_version, "kind": kind})


@given(kind=st.sampled_from(KINDS), metadata=JSON, spec=JSON, status=JSON)
def test_there_is_an_answer_for_whatever_json_there_is(
    kind: tuple[str, str], metadata: Any, spec: Any, status: Any
) -> None:
    manifest = {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec, "status": status}

    assert kstatus(manifest).message
