"""Every sample of cri-resource-manager and of the extension becomes a policy that the plugin accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.desired.documents import parse_values
from gitops.nri.acceptance.check import Verdict, check
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.warnings import warnings
from gitops.nri.migration.migrate import Migration, migrate
from gitops.nri.schema.objections import objections
from tests.nri.oracle import ask

pytestmark = pytest.mark.oracle("tests/nri/oracle")

_DATA = Path(__file__).parents[2] / "data" / "samples"
_SAMPLES = sorted(path for path in (_DATA / "cri-resmgr").iterdir() if path.name != "sources.txt")
_SAMPLES.append(_DATA / "extension" / "shoot2.yaml")
_INVALID_ON_PURPOSE = {"e2e-balloons-maxballoons-impossible.cfg"}
_MACHINE = Machine(packages=2, nodes=2, cores=8, threads=2, memory=2**36)


def _migrated(path: Path) -> Migration:
    return migrate(parse_values(path.read_bytes(), path.name))


def _policies(migration: Migration) -> list[dict[str, Any]]:
    return [policy for policy in yaml.safe_load_all(migration.text) if policy]


def test_all_samples_are_there() -> None:
    assert len(_SAMPLES) == 17 + 1


@pytest.mark.parametrize("path", _SAMPLES, ids=lambda path: path.name)
def test_a_sample_becomes_policies_that_everybody_accepts(path: Path) -> None:
    migration = _migrated(path)
    policies = _policies(migration)

    assert bool(migration.refusals) == (path.name in _INVALID_ON_PURPOSE)
    assert bool(policies) == (path.name not in _INVALID_ON_PURPOSE)
    for policy in policies:
        assert check(policy, _MACHINE).verdict is Verdict.ACCEPTED
        assert objections(policy) == ()
        assert [found for found in warnings(policy) if found.rule == "key-ignored"] == []
    balloons = [policy for policy in policies if policy["kind"] == "BalloonsPolicy"]
    assert [answer.error for answer in ask((policy["spec"], _MACHINE) for policy in balloons)] == [""] * len(balloons)


def test_the_sample_that_is_invalid_on_purpose_is_refused_with_the_reason() -> None:
    (refusal,) = _migrated(_DATA / "cri-resmgr" / "e2e-balloons-maxballoons-impossible.cfg").refusals

    assert (refusal.name, refusal.rule) == ("default", "type-min-balloons")


@pytest.mark.parametrize("path", _SAMPLES, ids=lambda path: path.name)
def test_migrating_twice_changes_nothing(path: Path) -> None:
    migration = _migrated(path)

    assert _migrated(path).text == migration.text
    assert migrate(_policies(migration)).empty
