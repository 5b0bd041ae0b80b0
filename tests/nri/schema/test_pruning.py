from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.nri.schema.objections import objections
from gitops.nri.schema.pruning import Pruned, pruned_by_crd, pruned_by_release, unknown_fields

_VERSIONS = Path(__file__).parents[2] / "data" / "crds" / "versions"


def _policy(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": "default"},
        "spec": {"reservedResources": {"cpu": "1"}, **spec},
    }


def _crd(release: str) -> dict[str, Any]:
    crd: dict[str, Any] = yaml.safe_load((_VERSIONS / f"balloonspolicies-{release}.yaml").read_text())
    return crd


_NEW = _policy(
    balloonTypes=[{"name": "irq", "irqMode": "sink", "irqClaim": ["eth*"], "minCPUs": 1, "schedulingClass": "rt"}],
    cpuClasses=[{"name": "turbo", "minFreq": "turbo"}],
    control={"rdt": {"enable": True, "partitions": {"p": {"classes": {}}}}},
)


@pytest.mark.parametrize(
    ("release", "pruned"),
    [
        ("v0.14.0", {}),
        ("v0.13.1", {"balloonTypes.0.irqMode": "v0.14.0", "balloonTypes.0.irqClaim": "v0.14.0"}),
        (
            "v0.9.4",
            {
                "balloonTypes.0.irqMode": "v0.14.0",
                "balloonTypes.0.irqClaim": "v0.14.0",
                "balloonTypes.0.schedulingClass": "v0.12.1",
                "cpuClasses": "v0.13.0",
                "control.rdt.partitions": "v0.10.0",
            },
        ),
    ],
)
def test_a_field_that_an_older_crd_would_prune_names_the_release_that_brought_it(
    release: str, pruned: dict[str, str]
) -> None:
    by_release = pruned_by_release(_NEW, release)

    assert {".".join(str(step) for step in found.at[1:]): found.since for found in by_release} == pruned
    assert set(pruned_by_crd(_NEW, _crd(release))) == set(by_release)
    assert all(str(found.since) in found.message for found in by_release)


def test_a_key_in_the_wrong_case_names_the_right_one() -> None:
    (found,) = unknown_fields(_policy(balloonTypes=[{"name": "a", "MinCpus": 1}]))

    assert found == Pruned(("spec", "balloonTypes", 0, "MinCpus"), None, "minCPUs")
    assert found.message == "MinCpus is dropped silently: keys are case-sensitive, write minCPUs"


def test_a_key_that_nobody_knows_is_told() -> None:
    (found,) = unknown_fields(_policy(ballonTypes=[]))

    assert (found.since, found.meant) == (None, None)


def test_a_crd_that_does_not_serve_the_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not serve v1"):
        pruned_by_crd({**_NEW, "apiVersion": "config.nri/v1"}, _crd("v0.14.0"))


def test_what_is_not_a_release_is_told() -> None:
    with pytest.raises(ValueError, match="'latest' is not a release"):
        pruned_by_release(_NEW, "latest")


@pytest.mark.parametrize(
    ("spec", "rule", "place"),
    [
        ({"reservedResources": None}, "schema-required", "reservedResources"),
        ({"balloonTypes": [{}]}, "schema-required", "balloonTypes.0.name"),
        (
            {"balloonTypes": [{"name": "a", "allocatorPriority": "HIGH"}]},
            "schema-value",
            "balloonTypes.0.allocatorPriority",
        ),
        ({"balloonTypes": [{"name": "a", "loads": ["x", "x"]}]}, "schema-duplicate", "balloonTypes.0.loads.1"),
        ({"balloonTypes": [{"name": "a", "memoryTypes": ["hbm"]}]}, "schema-value", "balloonTypes.0.memoryTypes.0"),
        ({"cpuClasses": [{"name": "a", "minFreq": 800000}]}, "schema-type", "cpuClasses.0.minFreq"),
        ({"cpuClasses": [{"name": "a", "turboPriority": -1}]}, "schema-value", "cpuClasses.0.turboPriority"),
        ({"schedulingClasses": [{"name": "a", "flags": ["reclaim"]}]}, "schema-value", "schedulingClasses.0.flags"),
    ],
)
def test_what_the_api_server_refuses_is_told_even_where_the_plugin_would_not_mind(
    spec: dict[str, Any], rule: str, place: str
) -> None:
    (found,) = objections(_policy(**spec))

    assert (found.rule, ".".join(str(step) for step in found.at[1:])) == (rule, place)


def test_a_sound_policy_meets_no_objection() -> None:
    assert objections(_NEW) == ()
