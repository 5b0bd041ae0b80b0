"""What becomes of a Shoot: extensions, worker pools, the patch and its guard."""

from __future__ import annotations

import copy
import json
from datetime import timedelta
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.gardener.shoot_merge import Terms, missing_for_creation, new_shoot, patch_of
from gitops.gardener.shoot_record import read_record, timestamp
from gitops.manifest import Element, Manifest, Path, is_prefix
from gitops.ownership.field_record import RECORD_ANNOTATION
from tests.gardener.shoots import NOON, live_shoot, merged, nothing_ignored, reconciled, shoot, spec_after, written

DNS = {"type": "shoot-dns-service", "providerConfig": {"apiVersion": "x/v1", "syncProvidersFromShootSpecDNS": True}}
NRI = {"type": "nri", "disabled": False}
ON = {"type": "nri"}


def extensions(*entries: Any) -> Any:
    return {"extensions": list(entries)}


@pytest.mark.parametrize(
    ("declared", "live", "becomes"),
    [
        pytest.param([[NRI]], [DNS], [DNS, ON], id="enabled beside a foreign one"),
        pytest.param([[NRI]], [{"type": "nri", "disabled": True}], [NRI], id="switched on"),
        pytest.param([[NRI]], [{"type": "nri"}, DNS], [{"type": "nri"}, DNS], id="on already"),
        pytest.param([[NRI], []], [DNS], [DNS], id="removed, alone in its entry"),
        pytest.param(
            [[NRI], []],
            [{"type": "nri", "providerConfig": {"a": 1}}],
            [{"type": "nri", "providerConfig": {"a": 1}, "disabled": True}],
            id="removed, with a foreign configuration: switched off",
        ),
        pytest.param(
            [[{"type": "nri", "disabled": True}], []],
            [{"type": "nri", "disabled": True, "providerConfig": {"a": 1}}],
            [{"type": "nri", "providerConfig": {"a": 1}, "disabled": True}],
            id="a disabled one is declared no longer: still switched off",
        ),
        pytest.param(
            [[NRI], [], [NRI]],
            [{"type": "nri", "providerConfig": {"a": 1}}],
            [{"type": "nri", "providerConfig": {"a": 1}, "disabled": False}],
            id="removed and declared again",
        ),
        pytest.param(
            [[{**NRI, "providerConfig": {"a": 1, "b": 2}}], [{**NRI, "providerConfig": {"a": 1}}]],
            [],
            [{**ON, "providerConfig": {"a": 1}}],
            id="a field of the configuration is declared no longer",
        ),
        pytest.param(
            [[{**NRI, "providerConfig": {"a": 1}}], [NRI]], [], [ON], id="the configuration is declared no longer"
        ),
        pytest.param(
            [[NRI, {"type": "old", "disabled": True}]],
            [{"type": "old"}],
            [{"type": "old", "disabled": True}, ON],
            id="takes over from another",
        ),
    ],
)
def test_extensions(declared: list[Any], live: list[Any], becomes: list[Any]) -> None:
    specs = [{"region": "eu", **extensions(*entries)} for entries in declared]

    assert spec_after(*specs, live={"region": "eu", "extensions": live}) == {"region": "eu", "extensions": becomes}


def test_the_last_extension_takes_the_list_along() -> None:
    assert spec_after(extensions(NRI), {}, live={"region": "eu"}) == {"region": "eu"}


def test_a_shoot_of_which_nothing_is_declared_any_more_gives_everything_back() -> None:
    live = live_shoot({"region": "eu"})

    after = reconciled(shoot(), reconciled(shoot(extensions(NRI)), live))

    assert after["spec"] == {"region": "eu"}
    record = read_record(after)
    assert record is not None
    assert record.fields == frozenset()


POOL = {"name": "a", "machine": {"type": "large"}, "minimum": 1, "maximum": 2}
OTHER = {"name": "b", "machine": {"type": "small"}}


def workers(*pools: Any) -> Any:
    return {"provider": {"type": "local", "workers": list(pools)}}


def test_a_pool_that_was_declared_whole_is_removed_whole() -> None:
    live = workers(OTHER, {**POOL, "cri": {"name": "containerd"}, "labels": {"foreign": "x"}})

    assert spec_after(workers(POOL), workers(), live=live) == workers(OTHER)


def test_a_pool_of_which_only_labels_were_declared_stays() -> None:
    labelled = {"name": "a", "labels": {"config.nri/group": "gold"}}

    assert spec_after(workers(labelled), workers(), live=workers(POOL)) == workers(POOL)


def test_a_second_run_writes_nothing() -> None:
    declared = shoot({**extensions(NRI), **workers(POOL), "kubernetes": {"version": "1.35"}}, labels={"a": "b"})
    live = live_shoot({**extensions(DNS), **workers(OTHER), "kubernetes": {"version": "1.35.3"}})

    first = merged(declared, live)
    second = merged(declared, written(first))

    assert first.writes
    assert not second.writes
    assert second.differences == ()


def test_fields_in_force_already_are_recorded_once() -> None:
    declared = shoot({"region": "eu"})

    first = merged(declared, live_shoot({"region": "eu"}))

    assert first.differences == ()
    assert first.writes
    assert not first.changes_spec
    assert not merged(declared, written(first)).writes


def test_what_the_overlay_ignores_is_neither_written_nor_owned() -> None:
    def ignored(path: Path) -> str:
        return "ignored" if is_prefix(("spec", "hibernation"), path) else ""

    declared = shoot({"hibernation": {"enabled": False}, "region": "eu"})
    outcome = merged(declared, live_shoot({"hibernation": {"enabled": True}, "region": "eu"}), ignored=ignored)

    assert outcome.merged["spec"] == {"hibernation": {"enabled": True}, "region": "eu"}
    assert [difference.kept for difference in outcome.differences] == ["ignored"]
    assert outcome.record.fields == {("spec", "region")}


@pytest.mark.parametrize(
    "ignored_path",
    [
        pytest.param(("spec", "extensions"), id="all extensions"),
        pytest.param(("spec", "extensions", Element("type", "nri")), id="this one"),
        pytest.param(("spec", "extensions", Element("type", "nri"), "disabled"), id="its switch"),
    ],
)
@pytest.mark.parametrize("declared", [[NRI], []], ids=["still declared", "declared no longer"])
def test_an_extension_that_is_ignored_from_now_on_is_not_switched_off(declared: list[Any], ignored_path: Path) -> None:
    def ignored(path: Path) -> str:
        return "ignored" if is_prefix(ignored_path, path) else ""

    entry = {**NRI, "providerConfig": {"foreign": True}}
    before = reconciled(shoot(extensions(NRI)), live_shoot(extensions(entry)))

    assert reconciled(shoot(extensions(*declared)), before, ignored=ignored)["spec"] == extensions(entry)


def test_a_created_shoot_has_nothing_left_to_write() -> None:
    def ignored(path: Path) -> str:
        return "ignored" if is_prefix(("spec", "hibernation"), path) else ""

    declared = shoot({"region": "eu", "hibernation": {"enabled": False}})

    created = new_shoot(declared, Terms("dev", frozenset({("v1", "ConfigMap")}), ignored))

    assert created["spec"] == declared["spec"]
    assert not merged(declared, created, ignored=ignored).writes
    assert new_shoot(declared, Terms("dev"))["metadata"]["annotations"].keys() == {RECORD_ANNOTATION}


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        pytest.param({"region": "eu", "cloudProfile": {"name": "p"}, "provider": {"type": "t"}}, (), id="complete"),
        pytest.param({"region": "eu", "cloudProfileName": "p", "provider": {"type": "t"}}, (), id="the old name"),
        pytest.param(None, ("/spec/cloudProfile/name", "/spec/region", "/spec/provider/type"), id="nothing"),
        pytest.param({"cloudProfileName": "p", "provider": {}}, ("/spec/region", "/spec/provider/type"), id="a part"),
    ],
)
def test_what_a_shoot_lacks_to_be_created(spec: Any, missing: tuple[str, ...]) -> None:
    assert missing_for_creation(shoot(spec)) == missing


def test_the_patch_begins_with_the_version_it_was_computed_from() -> None:
    outcome = merged(shoot(extensions(NRI)), live_shoot(extensions(DNS)))

    assert patch_of(outcome, NOON)[0] == {"op": "replace", "path": "/metadata/resourceVersion", "value": "100"}


_VALUES = st.sampled_from([0, 1, True, False, "1", "", "x", 1.5])
_MAPS = st.dictionaries(st.sampled_from(["a", "b/c", "d~e", "0"]), _VALUES, max_size=3)
_ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from("pqrst")}, optional={"disabled": st.booleans(), "providerConfig": _MAPS}
    ),
    max_size=4,
    unique_by=lambda entry: entry["type"],
)
_SPECS = st.fixed_dictionaries(
    {"region": _VALUES}, optional={"extensions": _ENTRIES, "dns": _MAPS, "zones": st.lists(_VALUES)}
)


@given(_SPECS, _SPECS, _SPECS)
def test_the_patch_turns_the_live_shoot_into_the_merged_one(before: Any, declared: Any, live: Any) -> None:
    known = reconciled(shoot(before), live_shoot(live))
    outcome = merged(shoot(declared), known)

    after = jsonpatch.apply_patch(copy.deepcopy(known), patch_of(outcome, NOON))

    assert text(after["spec"]) == text(outcome.merged["spec"])
    assert untimed(after) == untimed(outcome.merged)
    record = read_record(after)
    assert record is not None
    assert record.fields == outcome.record.fields


@given(_SPECS, _SPECS, _SPECS)
def test_a_run_after_a_run_writes_nothing_whatever_was_there(before: Any, declared: Any, live: Any) -> None:
    known = reconciled(shoot(before), live_shoot(live))

    after = reconciled(shoot(declared), known)

    assert not merged(shoot(declared), after).writes


@given(_SPECS, _SPECS)
def test_foreign_extensions_stay_byte_for_byte(declared: Any, live: Any) -> None:
    ours = {entry["type"] for entry in declared.get("extensions", [])}

    after = spec_after(declared, {}, live=live)

    foreign = [text(entry) for entry in live.get("extensions", []) if entry["type"] not in ours]
    assert [text(entry) for entry in after.get("extensions", []) if entry["type"] not in ours] == foreign


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def untimed(manifest: Manifest) -> Manifest:
    annotations = {k: v for k, v in manifest["metadata"].get("annotations", {}).items() if k != RECORD_ANNOTATION}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def test_a_change_of_the_spec_is_dated_and_another_change_is_not() -> None:
    live = live_shoot({"region": "eu"})
    changed = written(merged(shoot(extensions(NRI)), live))

    labelled = written(merged(shoot(extensions(NRI), labels={"a": "b"}), changed), NOON + timedelta(hours=1))
    recorded = written(merged(shoot({"region": "eu"}), live))

    assert date(changed) == NOON
    assert date(labelled) == NOON
    assert date(recorded) is None


def date(manifest: Manifest) -> Any:
    record = read_record(manifest)
    assert record is not None
    return record.changed_at


def test_a_change_in_the_second_an_operation_ended_is_dated_after_it() -> None:
    live = live_shoot({"region": "eu"})
    live["status"]["lastOperation"] = {"lastUpdateTime": timestamp(NOON + timedelta(seconds=5))}

    after = written(merged(shoot(extensions(NRI)), live))

    assert date(after) == NOON + timedelta(seconds=6)


def test_another_overlay_takes_over_in_one_write() -> None:
    first = reconciled(shoot(extensions(NRI)), live_shoot({}), overlay="dev")

    outcome = merged(shoot(extensions(NRI)), first, overlay="prod")

    assert outcome.writes
    assert outcome.previous_overlay == "dev"
    assert not merged(shoot(extensions(NRI)), written(outcome), overlay="prod").writes


def test_no_value_is_kept_in_the_annotation() -> None:
    secret = "hunter2-do-not-store"  # noqa: S105 - what must not be found
    declared = shoot(extensions({**NRI, "providerConfig": {"token": secret, "list": [secret]}}), labels={"x": secret})

    after = reconciled(declared, live_shoot({}))

    assert secret not in after["metadata"]["annotations"][RECORD_ANNOTATION]
    assert secret in text(after["spec"])


def test_kinds_inside_are_only_added_to() -> None:
    declared = shoot({"region": "eu"})
    outcome = merged(declared, new_shoot(declared, Terms("dev", frozenset({("v1", "Secret")}))))

    assert outcome.record.kinds == {("v1", "Secret")}


def test_the_live_shoot_is_not_changed() -> None:
    live = live_shoot(extensions(DNS))
    untouched = copy.deepcopy(live)

    outcome = merged(shoot(extensions(NRI)), live)
    patch_of(outcome, NOON)

    assert live == untouched
    assert not nothing_ignored(("spec",))
