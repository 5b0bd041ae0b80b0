from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.desired.compose import Desired, DesiredShoot, compose
from gitops.desired.documents import DocumentCache, parse
from gitops.desired.overlay import Concurrency, Gate, Unit
from gitops.desired.render import render, render_shoot, to_yaml
from gitops.manifest import GARDEN, Element, Ref, get
from gitops.nri.prerequisites.wanted import Demand, Prerequisites
from gitops.ownership.owners import Tool
from tests.desired.in_memory import (
    OVERLAY,
    OVERLAY_FILE,
    POLICY,
    POLICY_FILE,
    REVISION,
    SHOOT,
    SHOOT_FILE,
    Files,
    overlay,
    repository,
)

TWO = SHOOT.replace("name: one", "name: two").replace("{cpu: balloons}", "{size: large}")


def composed(spec: str = "", **files: str) -> Desired:
    return compose(Files(repository(overlay=overlay(spec)) | {"clusters/two.yaml": TWO} | files), "dev")


def extensions(shoot: DesiredShoot) -> Any:
    return get(shoot.shoot, "spec", "extensions")


def policy(shoot: DesiredShoot) -> Any:
    (manifest,) = shoot.objects.values()
    return manifest["spec"]


def test_every_shoot_gets_what_the_overlay_gives_to_every_shoot() -> None:
    desired = composed()
    target = "garden-dev/one"
    ref = Ref(target, "config.nri/v1alpha1", "BalloonsPolicy", "kube-system", "default")

    assert desired.revision == REVISION
    assert list(desired.shoots) == ["garden-dev/one", "garden-dev/two"]
    assert list(desired.shoots[target].objects) == [ref]
    assert desired.shoots[target].objects[ref] == parse(POLICY.encode(), "")[0].manifest
    assert desired.shoots[target].shoot == parse(SHOOT.encode(), "")[0].manifest


def test_origins_name_file_and_line_of_the_shoot_and_of_what_is_inside() -> None:
    desired = composed(**{POLICY_FILE: "# a comment\n---\n" + POLICY})
    origins = desired.shoots["garden-dev/one"].origins
    assert {(ref.target, ref.kind): (origin.file, origin.line) for ref, origin in origins.items()} == {
        (GARDEN, "Shoot"): (SHOOT_FILE, 1),
        ("garden-dev/one", "BalloonsPolicy"): (POLICY_FILE, 3),
    }


def test_policies_go_where_their_selector_says() -> None:
    text = OVERLAY.replace(
        "  - path: ../../policies\n", "  - {path: ../../policies, shoots: {matchLabels: {size: large}}}\n"
    )
    desired = composed(**{OVERLAY_FILE: text})
    assert {target: len(shoot.objects) for target, shoot in desired.shoots.items()} == {
        "garden-dev/one": 0,
        "garden-dev/two": 1,
    }


def test_a_folder_is_read_as_a_whole_and_a_file_by_itself() -> None:
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
    desired = composed(
        **{
            "policies/deep/er/more.yml": config_map,
            "policies/x.json": '{"kind": "List", "items": []}',
            "policies.yaml": "[",
        }
    )
    assert [ref.kind for ref in desired.shoots["garden-dev/one"].objects] == ["BalloonsPolicy", "ConfigMap"]


PLUGIN_CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: nri-memory-qos-config.default, namespace: kube-system}
data: {config.yaml: "classes: []"}
"""
PLUGIN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nri-memory-qos, namespace: kube-system}
spec:
  template:
    spec:
      volumes: [{name: config, configMap: {name: nri-memory-qos-config.default}}]
"""


def test_a_plugin_that_reads_its_config_map_once_is_restarted_by_a_checksum() -> None:
    def checksum(config: str) -> Any:
        desired = composed(**{"policies/config.yaml": config, "policies/plugin.yaml": PLUGIN})
        (plugin,) = [one for ref, one in desired.shoots["garden-dev/one"].objects.items() if ref.kind == "DaemonSet"]
        assert desired.warnings == ()
        return get(plugin, "spec", "template", "metadata", "annotations", "shoot-gitops/config-checksum")

    assert checksum(PLUGIN_CONFIG)
    assert checksum(PLUGIN_CONFIG) != checksum(PLUGIN_CONFIG.replace("[]", "[a]"))


def test_a_plugins_config_map_without_its_daemon_set_is_warned_of() -> None:
    (warning,) = composed(**{"policies/config.yaml": PLUGIN_CONFIG}).warnings

    assert (warning.file, warning.rule) == ("policies/config.yaml", "never-read")


def test_a_node_wave_that_names_no_policy_is_warned_of() -> None:
    (warning,) = composed("  nodeWaves:\n  - policies: [group.x, default]\n").warnings

    assert warning.rule == "empty-node-wave"
    assert "'group.x'" in warning.message


ENTRY = {"type": "a", "disabled": False}
FOREIGN = {"type": "dns", "providerConfig": {"x": 1}}


@pytest.mark.parametrize(
    ("rule", "declared", "expected"),
    [
        pytest.param("{type: a, state: Enabled}", None, [ENTRY], id="enabled"),
        pytest.param("{type: a, state: Disabled}", None, [{"type": "a", "disabled": True}], id="disabled"),
        pytest.param(
            "{type: a, state: Enabled, providerConfig: {k: v}}",
            None,
            [{**ENTRY, "providerConfig": {"k": "v"}}],
            id="config",
        ),
        pytest.param(
            "{type: a, state: Enabled, providerConfig: {}}", None, [{**ENTRY, "providerConfig": {}}], id="empty-config"
        ),
        pytest.param(
            "{type: a, state: Enabled, replaces: [old, older]}",
            None,
            [ENTRY, {"type": "old", "disabled": True}, {"type": "older", "disabled": True}],
            id="replaces",
        ),
        pytest.param("{type: a, state: Enabled}", [FOREIGN], [FOREIGN, ENTRY], id="foreign-entries-stay"),
        pytest.param(
            "{type: a, state: Enabled, replaces: [dns]}",
            [FOREIGN, {"type": "a", "disabled": True, "providerConfig": {"own": 1}}],
            [{**FOREIGN, "disabled": True}, {**ENTRY, "providerConfig": {"own": 1}}],
            id="merged-by-type",
        ),
    ],
)
def test_extensions_are_merged_by_type(rule: str, declared: Any, expected: Any) -> None:
    shoot = SHOOT
    if declared is not None:
        shoot += "  extensions:\n" + "".join(f"  {line}\n" for line in to_yaml(declared).splitlines())
    desired = composed(f"  extensions:\n  - {rule}\n", **{SHOOT_FILE: shoot})
    assert extensions(desired.shoots["garden-dev/one"]) == expected


def test_a_shoot_may_declare_nothing_but_its_name() -> None:
    bare = SHOOT.split("spec:")[0]
    desired = composed("  extensions:\n  - {type: a, state: Enabled}\n", **{SHOOT_FILE: bare})
    assert desired.shoots["garden-dev/one"].shoot["spec"] == {"extensions": [ENTRY]}


def test_an_extension_leaves_shoots_alone_that_it_is_not_for() -> None:
    desired = composed("  extensions:\n  - {type: a, state: Enabled, shoots: {matchLabels: {cpu: balloons}}}\n")
    assert extensions(desired.shoots["garden-dev/one"]) == [ENTRY]
    assert desired.shoots["garden-dev/two"].shoot == parse(TWO.encode(), "")[0].manifest


def test_two_rules_may_replace_the_same_type() -> None:
    rules = (
        "  extensions:\n  - {type: a, state: Enabled, replaces: [c]}\n  - {type: b, state: Enabled, replaces: [c]}\n"
    )
    types = [entry["type"] for entry in extensions(composed(rules).shoots["garden-dev/one"])]
    assert types == ["a", "c", "b"]


def test_rules_for_different_shoots_do_not_contradict() -> None:
    rules = (
        "  extensions:\n  - {type: a, state: Enabled, shoots: {matchLabels: {cpu: balloons}}}\n"
        "  - {type: a, state: Disabled, shoots: {matchLabels: {size: large}}}\n"
    )
    desired = composed(rules)
    assert [extensions(shoot)[0]["disabled"] for shoot in desired.shoots.values()] == [False, True]


def test_patches_come_after_extensions_and_only_where_their_selector_says() -> None:
    spec = """\
  extensions:
  - {type: a, state: Enabled}
  patches:
  - target: {kind: Shoot}
    shoots: {matchLabels: {size: large}}
    patch: |
      - {op: add, path: /spec/extensions/0/providerConfig, value: {k: v}}
  - target: {kind: BalloonsPolicy}
    shoots: {matchLabels: {size: large}}
    patch:
    - {op: replace, path: /spec/reservedResources/cpu, value: "2"}
  - path: ../../patches/more.yaml
"""
    more = POLICY.split("spec:")[0] + "spec: {pinCPU: false}\n"
    desired = composed(spec, **{"patches/more.yaml": more})
    one, two = desired.shoots.values()
    assert (extensions(one), extensions(two)) == ([ENTRY], [{**ENTRY, "providerConfig": {"k": "v"}}])
    assert policy(one) == {"reservedResources": {"cpu": "1"}, "pinCPU": False}
    assert policy(two) == {"reservedResources": {"cpu": "2"}, "pinCPU": False}


def test_a_patch_may_take_a_policy_from_some_shoots() -> None:
    spec = "  patches:\n  - target: {kind: BalloonsPolicy}\n    shoots: {matchLabels: {size: large}}\n    patch: |\n"
    spec += "      {kind: X, metadata: {name: x}, $patch: delete}\n"
    assert [len(shoot.objects) for shoot in composed(spec).shoots.values()] == [1, 0]


def test_selectors_see_the_labels_that_git_declares_and_not_those_of_patches() -> None:
    spec = """\
  patches:
  - target: {kind: Shoot}
    patch: [{op: add, path: /metadata/labels/new, value: label}]
  extensions:
  - {type: a, state: Enabled, shoots: {matchLabels: {new: label}}}
"""
    desired = composed(spec)
    assert extensions(desired.shoots["garden-dev/one"]) is None
    assert [warning.rule for warning in desired.warnings] == ["selects-nothing"]


def test_a_shoot_is_in_the_first_wave_that_matches() -> None:
    waves = """\
  waves:
  - {name: first, shoots: {matchLabels: {size: large}}}
  - {name: second, shoots: {matchExpressions: [{key: size, operator: Exists}]}}
  - {name: rest}
"""
    desired = composed(**{OVERLAY_FILE: OVERLAY.replace("  waves:\n  - {name: all}\n", waves)})
    assert {target: shoot.wave for target, shoot in desired.shoots.items()} == {
        "garden-dev/one": "rest",
        "garden-dev/two": "first",
    }
    assert [(warning.line, warning.rule) for warning in desired.warnings] == [(11, "empty-wave")]


def test_ignored_paths_may_name_elements_of_lists_and_escape_slashes() -> None:
    spec = """\
  ignore:
  - {kind: Shoot, paths: [/spec/hibernation/enabled, "/spec/extensions/[type=x]/disabled"]}
  - {kind: Shoot, paths: [/metadata/labels/a~1b~0c], shoots: {matchLabels: {size: large}}}
"""
    one, two = composed(spec).shoots.values()
    assert one.ignored[0].paths == (
        ("spec", "hibernation", "enabled"),
        ("spec", "extensions", Element("type", "x"), "disabled"),
    )
    assert [rule.paths for rule in two.ignored][1:] == [(("metadata", "labels", "a/b~c"),)]
    assert len(one.ignored) == 1


def test_what_an_overlay_leaves_out_has_its_default() -> None:
    read = composed().overlay
    assert read.gate == Gate(timedelta(minutes=45), timedelta(minutes=5))
    assert (read.adopt, read.max_deletions) == (frozenset(), 10)
    (wave,) = read.waves
    assert (wave.max_concurrent, wave.max_failures, wave.soak) == (Concurrency(1, Unit.SHOOTS), 0, timedelta(0))


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        ("", Prerequisites()),
        ("  prerequisites: {}\n", Prerequisites(image="busybox:stable")),
        (
            "  prerequisites: {dbus: Install, nri: Enable, cgroupV2: Require, image: 'tools:1', pullSecret: pull}\n",
            Prerequisites(Demand.REPAIR, Demand.REPAIR, Demand.REQUIRE, "tools:1", "pull"),
        ),
        ("  prerequisites: {dbus: Require, nri: Ignore}\n", Prerequisites(dbus=Demand.REQUIRE)),
    ],
    ids=["nothing", "empty", "all", "some"],
)
def test_what_is_asked_of_nodes_is_read(declared: str, read: Prerequisites) -> None:
    assert composed(declared).overlay.prerequisites == read


def test_what_is_to_be_verified_is_read() -> None:
    read = composed("  verification: {placement: Require, instance: balloons}\n").overlay.verification

    assert (read.placement, read.instance) == (True, "balloons")
    assert not composed().overlay.verification.placement


def test_what_an_overlay_says_is_read() -> None:
    spec = "  gate: {timeout: 1h30m, quarantineAfter: 90s}\n  adopt: [Helm, Flux]\n  prune: {maxDeletions: 0}\n"
    spec += "  nodeWaves:\n  - policies: [group.canary, node.*]\n  - policies: [default]\n"
    text = overlay(spec).replace("{name: all}", "{name: all, maxConcurrent: 25%, maxFailures: 2, soak: 1.5h}")
    read = composed(**{OVERLAY_FILE: text}).overlay
    assert read.gate == Gate(timedelta(minutes=90), timedelta(seconds=90))
    assert (read.adopt, read.max_deletions) == (frozenset({Tool.HELM, Tool.FLUX}), 0)
    assert read.node_waves == (("group.canary", "node.*"), ("default",))
    (wave,) = read.waves
    assert (wave.max_concurrent, wave.max_failures, wave.soak) == (
        Concurrency(25, Unit.PERCENT),
        2,
        timedelta(minutes=90),
    )


@pytest.mark.parametrize(
    ("concurrency", "size", "expected"),
    [
        (Concurrency(3, Unit.SHOOTS), 100, 3),
        (Concurrency(25, Unit.PERCENT), 10, 2),
        (Concurrency(25, Unit.PERCENT), 3, 1),
        (Concurrency(1, Unit.PERCENT), 0, 1),
        (Concurrency(100, Unit.PERCENT), 7, 7),
    ],
)
def test_a_share_of_a_wave_is_rounded_down_and_at_least_one(concurrency: Concurrency, size: int, expected: int) -> None:
    assert concurrency.of(size) == expected


def test_a_cache_saves_reading_what_did_not_change() -> None:
    cache: DocumentCache = {}
    first = Files(repository())
    compose(first, "dev", cache)
    second = Files(repository(policy=POLICY.replace('"1"', '"2"')))

    desired = compose(second, "dev", cache)

    assert second.reads == [POLICY_FILE]
    assert policy(desired.shoots["garden-dev/one"]) == {"reservedResources": {"cpu": "2"}}


def test_shoots_share_the_policy_that_no_patch_tells_apart() -> None:
    spec = "  patches:\n  - target: {kind: BalloonsPolicy}\n    patch: [{op: add, path: /spec/pinCPU, value: true}]\n"
    one, two = composed(spec).shoots.values()
    assert policy(one) is policy(two)


def test_the_rendered_stream_is_the_composed_state() -> None:
    desired = composed("  extensions:\n  - {type: a, state: Enabled}\n")
    for (target, text), shoot in zip(render(desired), desired.shoots.values(), strict=True):
        assert text.startswith(f"# {target}, wave all\n")
        manifests = [document.manifest for document in parse(text.encode(), "")]
        assert manifests == [shoot.shoot, *shoot.objects.values()]


LABELS = st.dictionaries(st.sampled_from(["cpu", "size", "tier"]), st.sampled_from(["a", "b"]), max_size=3)
NAMES = st.lists(st.sampled_from([f"s{number}" for number in range(6)]), min_size=1, unique=True)


@given(NAMES, st.data())
def test_composing_is_deterministic_whatever_the_order_of_files(names: list[str], data: st.DataObject) -> None:
    spec = """\
  extensions:
  - {type: x, state: Enabled, shoots: {matchLabels: {cpu: a}}}
  patches:
  - target: {kind: BalloonsPolicy}
    shoots: {matchExpressions: [{key: size, operator: NotIn, values: [a]}]}
    patch: [{op: add, path: /spec/pinCPU, value: true}]
"""
    shoots = {
        f"clusters/{name}.yaml": SHOOT.replace("name: one", f"name: {name}").replace(
            "{cpu: balloons}", to_yaml(data.draw(LABELS)).strip().replace("\n", "\n    ").join(["\n    ", ""]) or "{}"
        )
        for name in names
    }
    files = {OVERLAY_FILE: overlay(spec), POLICY_FILE: POLICY} | shoots
    shuffled = dict(data.draw(st.permutations(list(files.items()))))

    first, second = compose(Files(files), "dev"), compose(Files(shuffled), "dev")

    assert first == second
    assert [render_shoot(shoot) for shoot in first.shoots.values()] == [text for _, text in render(second)]
    assert list(first.shoots) == sorted(f"garden-dev/{name}" for name in names)
