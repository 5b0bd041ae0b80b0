"""Is an extension well on a seed? Every combination that matters, in one table."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from gitops.gardener.installation_gate import (
    TWO_LOOKS,
    SeedVerdict,
    extension_gate,
    installation_gate,
    worst,
)
from gitops.manifest import Manifest
from gitops.verdict import Status, current, failed, in_progress

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
WELL = {"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"}


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def source(kind: str, version: str = "7") -> Manifest:
    return {"kind": kind, "metadata": {"name": "nri", "resourceVersion": version}}


REGISTRATION, DEPLOYMENT = source("ControllerRegistration"), source("ControllerDeployment")


def installation(
    conditions: dict[str, str] | None = None,
    *,
    caught_up: datetime = NOON - timedelta(hours=1),
    looked: datetime = NOON - timedelta(hours=2),
    reason: str = "",
    **spec: Any,
) -> Manifest:
    """One that is caught up and well, unless told otherwise."""
    reference = {"name": "nri", "resourceVersion": "7"}
    fields: dict[str, Any] = {f"f:{key}": {"f:resourceVersion": {}} for key in ("registrationRef", "deploymentRef")}
    manager = {"manager": "gcm", "operation": "Update", "time": stamp(caught_up), "fieldsV1": {"f:spec": fields}}
    return {
        "metadata": {"creationTimestamp": stamp(caught_up), "managedFields": [manager]},
        "spec": {"seedRef": {"name": "a"}, "registrationRef": reference, "deploymentRef": reference, **spec},
        "status": {
            "conditions": [
                {"type": kind, "status": status, "reason": reason, "lastUpdateTime": stamp(looked)}
                for kind, status in (WELL if conditions is None else conditions).items()
            ]
        },
    }


def gate(of: Manifest, registration: Manifest = REGISTRATION, deployment: Manifest | None = DEPLOYMENT) -> Status:
    return installation_gate(of, registration, deployment, NOON).status


@pytest.mark.parametrize(
    "statuses", list(product(("True", "False", "Unknown", None), repeat=4)), ids=lambda s: "-".join(map(str, s))
)
def test_only_one_combination_of_conditions_is_well(statuses: tuple[str | None, ...]) -> None:
    conditions = {kind: status for kind, status in zip(WELL, statuses, strict=True) if status is not None}

    assert (gate(installation(conditions)) is Status.CURRENT) is (conditions == WELL)


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(installation(deploymentRef={"name": "nri", "resourceVersion": "6"}), id="an old deployment"),
        pytest.param(installation(registrationRef={"name": "nri", "resourceVersion": "6"}), id="an old registration"),
        pytest.param(installation(deploymentRef={"name": "other", "resourceVersion": "7"}), id="another deployment"),
        pytest.param(installation(deploymentRef=None), id="no deployment"),
        pytest.param({}, id="nothing at all"),
        pytest.param({"spec": [], "status": "x"}, id="of no known shape"),
    ],
)
def test_an_installation_that_is_about_something_else_is_waited_for(of: Manifest) -> None:
    assert gate(of) is Status.IN_PROGRESS


def test_an_extension_without_a_deployment_has_none_to_catch_up_with() -> None:
    assert gate(installation(deploymentRef=None), deployment=None) is Status.CURRENT


@pytest.mark.parametrize(
    ("caught_up", "looked", "status"),
    [
        pytest.param(timedelta(0), timedelta(hours=1), Status.IN_PROGRESS, id="nobody has looked since"),
        pytest.param(timedelta(0), timedelta(0), Status.CURRENT, id="looked in the very second"),
        pytest.param(TWO_LOOKS, timedelta(hours=1), Status.CURRENT, id="looked twice, and nothing moved"),
        pytest.param(TWO_LOOKS - timedelta(seconds=1), timedelta(hours=1), Status.IN_PROGRESS, id="looked once maybe"),
    ],
)
def test_conditions_from_before_it_caught_up_do_not_count(
    caught_up: timedelta, looked: timedelta, status: Status
) -> None:
    assert gate(installation(caught_up=NOON - caught_up, looked=NOON - looked)) is status


def test_a_chart_that_cannot_be_rendered_is_hopeless_unless_that_is_old_news() -> None:
    broken = {**WELL, "Valid": "False"}

    assert gate(installation(broken, reason="ChartCannotBeRendered")) is Status.FAILED
    assert gate(installation(broken, reason="OCIChartCannotBePulled")) is Status.IN_PROGRESS
    assert gate(installation(broken, reason="ChartCannotBeRendered", caught_up=NOON)) is Status.IN_PROGRESS


def extension(generation: Any = 2, observed: Any = 2, **conditions: str) -> Manifest:
    listed = [{"type": kind, "status": status} for kind, status in conditions.items()]
    return {"metadata": {"generation": generation}, "status": {"observedGeneration": observed, "conditions": listed}}


@pytest.mark.parametrize(
    ("of", "status"),
    [
        pytest.param(extension(Installed="True"), Status.CURRENT, id="installed, nothing else is said"),
        pytest.param(extension(Installed="False"), Status.IN_PROGRESS, id="not installed"),
        pytest.param(extension(), Status.IN_PROGRESS, id="nothing is said"),
        pytest.param(extension(2, 1, Installed="True"), Status.IN_PROGRESS, id="an old generation"),
        pytest.param(extension(None, None, Installed="True"), Status.IN_PROGRESS, id="no generation"),
        pytest.param({}, Status.IN_PROGRESS, id="nothing at all"),
        *(
            pytest.param(extension(Installed="True", **{kind: "Unknown"}), Status.IN_PROGRESS, id=f"{kind} unknown")
            for kind in ("ControllerInstallationsHealthy", "RuntimeHealthy", "AdmissionHealthy")
        ),
        pytest.param(extension(Installed="True", RequiredRuntime="False"), Status.CURRENT, id="not needed there"),
    ],
)
def test_an_operator_extension_is_done_when_the_operator_says_so_about_this_generation(
    of: Manifest, status: Status
) -> None:
    assert extension_gate(of).status is status


def test_the_worst_seed_speaks_first_and_all_that_are_not_well_are_named() -> None:
    verdicts = [
        SeedVerdict("nri", "a", current("well")),
        SeedVerdict("nri", "b", in_progress("on its way")),
        SeedVerdict("nri", "c", failed("broken")),
    ]

    assert worst(verdicts).status is Status.FAILED
    assert worst(verdicts).message == "nri on seed c: broken; nri on seed b: on its way"
    assert worst(verdicts[:1]).open
    assert worst([]).open


def test_the_gate_changes_nothing() -> None:
    of = installation()
    before = copy.deepcopy(of)

    gate(of)

    assert of == before
