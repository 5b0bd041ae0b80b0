"""How a new image vector comes to a shoot."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.gardener.extension_use import Service, serves, services_of
from gitops.gardener.rolling import Vector, vector_digest
from gitops.gardener.shoot_merge import OPERATION, ShootMerge, Terms, merge_shoot, new_shoot, patch_of
from gitops.gardener.shoot_record import read_record
from gitops.manifest import Manifest
from tests.gardener.shoots import NOON, live_shoot, shoot, written

NRI = (Service("Extension", "nri", on_by_default=False),)
OLD, NEW = Vector("nri", "1" * 16, NRI), Vector("nri", "2" * 16, NRI)
SUCCEEDED = {"lastOperation": {"state": "Succeeded", "lastUpdateTime": "2026-11-30T11:00:00Z"}}
ENABLED: dict[str, Any] = {"extensions": [{"type": "nri"}]}


def rolled(declared: Manifest, live: Manifest, *vectors: Vector) -> Manifest:
    """The Shoot after one write, as a server that consumes the annotation has it."""
    after = written(merge_shoot(declared, live, Terms("dev", vectors=vectors)))
    after["metadata"]["annotations"].pop(OPERATION, None)
    return after


def settled(spec: Any = None, **status: Any) -> Manifest:
    """A Shoot that was rolled with the old vector."""
    live = live_shoot(ENABLED if spec is None else spec)
    live["status"] = {**SUCCEEDED, **status}
    return rolled(shoot(), live, OLD)


def merged(live: Manifest, *vectors: Vector, declared: Manifest | None = None) -> ShootMerge:
    return merge_shoot(declared or shoot(), live, Terms("dev", vectors=vectors))


def annotations_after(outcome: ShootMerge) -> dict[str, str]:
    return dict(written(outcome)["metadata"]["annotations"])


def test_a_new_vector_is_one_patch_of_the_digest_and_the_trigger_together() -> None:
    outcome = merged(settled(), NEW)

    assert outcome.writes
    assert outcome.rolls == ("nri",)
    assert annotations_after(outcome)[OPERATION] == "reconcile"
    assert {op["path"].split("/")[1] for op in patch_of(outcome, NOON)} == {"metadata"}


def test_a_shoot_that_was_rolled_is_not_written_again() -> None:
    assert not merged(rolled(shoot(), settled(), NEW), NEW).writes


def test_a_change_of_the_spec_brings_the_vector_without_a_trigger() -> None:
    declared = shoot({"purpose": "testing"})

    outcome = merged(settled(), NEW, declared=declared)

    assert outcome.rolls == ("nri",)
    assert OPERATION not in annotations_after(outcome)
    assert not merged(rolled(declared, settled(), NEW), NEW, declared=declared).writes


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(settled(lastOperation=None), id="never reconciled"),
        pytest.param(settled(lastOperation={"state": "Failed"}), id="its last operation Failed"),
        pytest.param(settled({**ENABLED, "hibernation": {"enabled": True}}), id="hibernated"),
        pytest.param(settled({**ENABLED, "maintenance": {"confineSpecUpdateRollout": True}}), id="confined"),
    ],
)
def test_a_shoot_is_not_reconciled_out_of_turn(live: Manifest) -> None:
    outcome = merged(live, NEW)

    assert outcome.rolls == ("nri",)
    assert OPERATION not in annotations_after(outcome)


def test_a_confined_shoot_waits_for_an_operation_after_the_write() -> None:
    live = settled({**ENABLED, "maintenance": {"confineSpecUpdateRollout": True}})

    record = read_record(written(merged(live, NEW)))

    assert record is not None
    assert record.changed_at == NOON


def test_a_vector_that_is_declared_no_longer_is_rolled_back() -> None:
    assert merged(settled()).rolls == ("nri",)
    assert merged(settled()).triggers


def test_an_extension_that_somebody_switched_off_needs_no_reconcile() -> None:
    live = settled()
    live["spec"] = {"extensions": [{"type": "nri", "disabled": True}]}

    assert merged(live, OLD).rolls == ()
    assert not merged(live, OLD).triggers


def test_a_new_shoot_comes_with_the_vector() -> None:
    created = new_shoot(shoot(ENABLED), Terms("dev", vectors=(NEW,)))

    record = read_record(created)
    assert record is not None
    assert record.vectors == {("nri", NEW.digest)}
    assert OPERATION not in created["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("resource", "spec", "served"),
    [
        pytest.param({"kind": "Extension", "type": "nri"}, ENABLED, True, id="enabled"),
        pytest.param(
            {"kind": "Extension", "type": "nri"}, {"extensions": [{"type": "nri", "disabled": True}]}, False, id="off"
        ),
        pytest.param({"kind": "Extension", "type": "nri"}, {}, False, id="not mentioned"),
        pytest.param({"kind": "Extension", "type": "nri", "autoEnable": ["shoot"]}, {}, True, id="on by default"),
        pytest.param({"kind": "Extension", "type": "nri", "autoEnable": ["seed"]}, {}, False, id="on in seeds"),
        pytest.param(
            {"kind": "Extension", "type": "nri", "clusterCompatibility": ["seed"]}, ENABLED, False, id="not for shoots"
        ),
        pytest.param({"kind": "Network", "type": "calico"}, {"networking": {"type": "calico"}}, True, id="network"),
        pytest.param({"kind": "Network", "type": "cilium"}, {"networking": {"type": "calico"}}, False, id="another"),
        pytest.param({"kind": "Worker", "type": "aws"}, {"provider": {"type": "aws"}}, True, id="provider"),
        pytest.param(
            {"kind": "OperatingSystemConfig", "type": "gardenlinux"},
            {"provider": {"workers": [{"machine": {"image": {"name": "gardenlinux"}}}]}},
            True,
            id="machine image",
        ),
        pytest.param(
            {"kind": "ContainerRuntime", "type": "gvisor"},
            {"provider": {"workers": [{"cri": {"containerRuntimes": [{"type": "gvisor"}]}}]}},
            True,
            id="container runtime",
        ),
    ],
)
def test_an_extension_works_for_the_shoots_that_ask_for_it(resource: Any, spec: Any, *, served: bool) -> None:
    assert serves(services_of([resource]), shoot(spec)) is served


def test_a_digest_tells_values_apart_and_not_their_order() -> None:
    assert vector_digest({"a": 1, "b": 2}) == vector_digest({"b": 2, "a": 1})
    assert vector_digest({"a": 1}) != vector_digest({"a": "1"})
