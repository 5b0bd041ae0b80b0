from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.nri.migration.migrate import Migration, migrate
from gitops.nri.migration.translation import Translation


def _migrate(text: str) -> Migration:
    return migrate(list(yaml.safe_load_all(text)))


def _translation(text: str) -> Translation:
    (translation,) = _migrate(text).translations
    return translation


def _spec(text: str) -> dict[str, Any]:
    policy = _translation(text).policy
    assert policy is not None
    spec: dict[str, Any] = policy["spec"]
    return spec


def _balloons(section: str, constraints: str = "ReservedResources: {CPU: 1}") -> str:
    return f"policy:\n  Active: balloons\n  {constraints}\n  balloons: {section}\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CPU: 1", {"cpu": "1"}),
        ("CPU: 750m", {"cpu": "750m"}),
        ("cpu: cpuset:0-2", {"cpu": "cpuset:0-2"}),
        ("Cpu: '0-2,5'", {"cpu": "cpuset:0-2,5"}),
        ("CPU: /sys/fs/cgroup/cpuset/reserved", {}),
    ],
)
def test_reserved_cpus_keep_their_meaning_as_a_string(old: str, new: dict[str, str]) -> None:
    assert _spec(_balloons("{}", f"reservedresources: {{{old}}}"))["reservedResources"] == new


@pytest.mark.parametrize(
    ("old", "new"), [("cpuset:1-15", {"cpu": "cpuset:1-15"}), ("1-15", {"cpu": "cpuset:1-15"}), (4, None)]
)
def test_available_cpus_must_be_listed(old: str | int, new: dict[str, str] | None) -> None:
    translation = _translation(_balloons("{}", f"AvailableResources: {{CPU: {old}}}"))

    assert translation.policy is not None
    assert translation.policy["spec"].get("availableResources") == new
    assert any("does not say which CPUs" in lost for lost in translation.lost) == (new is None)


def test_keys_in_any_case_get_the_spelling_of_the_crd() -> None:
    spec = _spec(
        _balloons("{pincpu: false, BalloonTypes: [{Name: a, MinCpus: 1, MaxCPUs: 2, ShareIdleCpusInSame: numa}]}")
    )

    assert spec["pinCPU"] is False
    assert spec["balloonTypes"] == [{"name": "a", "minCPUs": 1, "maxCPUs": 2, "shareIdleCPUsInSame": "numa"}]


@pytest.mark.parametrize(("number", "word"), list(enumerate(("high", "normal", "low", "none"))))
def test_priorities_are_words_now(number: int, word: str) -> None:
    spec = _spec(_balloons(f"{{BalloonTypes: [{{Name: a, AllocatorPriority: {number}}}]}}"))

    assert spec["balloonTypes"][0]["allocatorPriority"] == word


def test_what_has_no_counterpart_stands_in_a_comment() -> None:
    migration = _migrate(
        _balloons("{BalloonTypes: [{Name: a, PreferNewBalloon: true}]}") + "dump: {File: /tmp/x}\nrdt: {}\n"
    )

    assert migration.text.startswith(
        "# No counterpart: policy.balloons.BalloonTypes.0.PreferNewBalloon: there is no such setting\n"
        "# No counterpart: dump: there is no such module\n"
        "# No counterpart: rdt: set spec.control.rdt by hand, its form is another one\n"
    )


def test_frequencies_keep_their_unit_and_suspicious_ones_are_told() -> None:
    old = _balloons("{}") + "cpu: {classes: {turbo: {minFreq: 3000, maxFreq: 3600000, uncoreMinFreq: 2000}}}\n"
    translation = _translation(old)

    assert _spec(old)["cpuClasses"] == [{"name": "turbo", "minFreq": "3000kHz", "maxFreq": "3600000kHz"}]
    assert [changed for changed in translation.changed if "write 3000MHz if that was meant" in changed]
    assert [lost for lost in translation.lost if "intel_uncore_frequency" in lost]


def test_a_default_balloon_without_sizes_no_longer_runs_on_reserved_cpus() -> None:
    unsized = _translation(_balloons("{}"))
    sized = _translation(_balloons("{BalloonTypes: [{Name: default, MinCPUs: 1}]}"))

    assert any("default has CPUs of its own now" in changed for changed in unsized.changed)
    assert not any("default has CPUs of its own now" in changed for changed in sized.changed)


@pytest.mark.parametrize("suffix", ["default", "group.fast", "node.worker-1"])
def test_a_config_map_becomes_the_policy_of_the_same_name(suffix: str) -> None:
    config_map = {
        "kind": "ConfigMap",
        "metadata": {"name": f"cri-resmgr-config.{suffix}", "namespace": "kube-system"},
        "data": {"policy": "Active: topology-aware\nReservedResources: {CPU: 750m}\n", "logger": "Debug: a, b\n"},
    }
    (translation,) = migrate([config_map]).translations

    assert translation.policy == {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "TopologyAwarePolicy",
        "metadata": {"name": suffix, "namespace": "kube-system"},
        "spec": {"reservedResources": {"cpu": "750m"}, "log": {"debug": ["a", "b"]}},
    }


def test_a_shoot_tells_its_static_keys_and_the_pools_to_relabel() -> None:
    shoot = {
        "kind": "Shoot",
        "spec": {
            "extensions": [
                {
                    "type": "cri-resmgr-extension",
                    "providerConfig": {"configs": {"force": "x", "group.fast": _balloons("{}")}},
                },
            ],
            "provider": {"workers": [{"name": "w", "labels": {"cri-resource-manager.intel.com/group": "fast"}}]},
        },
    }
    migration = migrate([shoot])

    assert [get["metadata"]["name"] for get in yaml.safe_load_all(migration.text)] == ["group.fast"]
    assert migration.notes == (
        "force: no counterpart; the extension has ignored it since v1.1.0",
        "worker pool w: fast: cri-resource-manager.intel.com/group becomes config.nri/group",
    )


@pytest.mark.parametrize("active", ["podpools", "static-pools", "none", ""])
def test_a_policy_that_is_gone_is_not_migrated(active: str) -> None:
    migration = _migrate(f"policy: {{Active: '{active}'}}")

    assert migration.text == ""
    assert [refusal.rule for refusal in migration.refusals] == ["no-such-policy"]


def test_words_that_some_readers_take_for_booleans_are_quoted() -> None:
    text = _migrate(_balloons("{BalloonTypes: [{Name: 'on'}, {Name: 'y'}, {Name: '1'}]}")).text

    assert '- name: "on"' in text
    assert '- name: "y"' in text
    assert '- name: "1"' in text


def test_an_embedded_configuration_that_is_no_yaml_is_named() -> None:
    with pytest.raises(ValueError, match="policy is not YAML"):
        migrate([{"kind": "ConfigMap", "metadata": {"name": "cri-resmgr-config.default"}, "data": {"policy": "{"}}])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["balloons", "BalloonTypes", "Name", "CPU"]), inner)
    ),
    max_leaves=8,
)
_MODULES = st.dictionaries(st.sampled_from(["cpu", "logger", "instrumentation", "rdt", "classes"]), _JSON)
_SECTIONS = st.dictionaries(st.sampled_from(["balloons", "AvailableResources", "ReservedResources"]), _JSON)


@given(_MODULES, _SECTIONS)
def test_nothing_that_yaml_can_say_breaks_the_migration(modules: dict[str, Any], policy: dict[str, Any]) -> None:
    migrate([{**modules, "policy": {"Active": "balloons", **policy}}])
