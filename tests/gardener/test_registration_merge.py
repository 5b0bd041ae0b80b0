"""What a registration becomes: declared fields set, everything of others byte for byte as it was."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.errors import Refused
from gitops.gardener.registration_fields import missing_to_be_created
from gitops.gardener.registration_merge import (
    RegistrationMerge,
    merge_registration,
    new_registration,
    read_registration_record,
)
from gitops.manifest import Manifest, Path, is_prefix, pointer
from gitops.ownership.field_record import RECORD_ANNOTATION

V1, V1BETA1 = "core.gardener.cloud/v1", "core.gardener.cloud/v1beta1"


def nothing_ignored(_: Path) -> str:
    return ""


def registration(*resources: Any, **deployment: Any) -> Manifest:
    spec = {"resources": list(resources), **({"deployment": deployment} if deployment else {})}
    return {"apiVersion": V1BETA1, "kind": "ControllerRegistration", "metadata": {"name": "nri"}, "spec": spec}


def deployment(**values: Any) -> Manifest:
    return {
        "apiVersion": V1,
        "kind": "ControllerDeployment",
        "metadata": {"name": "nri"},
        "helm": {"values": values},
    }


def live(manifest: Manifest) -> Manifest:
    stored = copy.deepcopy(manifest)
    stored["metadata"] |= {"resourceVersion": "7", "uid": "u"}
    return stored


def merged(declared: Manifest, on: Manifest, ignored: Any = nothing_ignored) -> RegistrationMerge:
    return merge_registration(declared, on, "dev", ignored)


def after(declared: Manifest, on: Manifest) -> Manifest:
    outcome = merged(declared, on)
    return dict(jsonpatch.apply_patch(copy.deepcopy(on), outcome.patch())) if outcome.writes else on


def resource(kind: str, type_: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "type": type_, **more}


def test_resources_are_told_apart_by_kind_and_type_together() -> None:
    there = live(registration(resource("Extension", "a", primary=True), resource("Network", "a", primary=True)))

    outcome = merged(registration(resource("Network", "a", reconcileTimeout="1m"), resource("Extension", "b")), there)

    assert [pointer(difference.path) for difference in outcome.differences] == [
        "/spec/resources/[kind=Network,type=a]/reconcileTimeout",
        "/spec/resources/[kind=Extension,type=b]/kind",
        "/spec/resources/[kind=Extension,type=b]/type",
    ]
    assert outcome.merged["spec"]["resources"] == [
        resource("Extension", "a", primary=True),
        resource("Network", "a", primary=True, reconcileTimeout="1m"),
        resource("Extension", "b"),
    ]


def test_a_resource_that_is_declared_no_longer_goes_unless_somebody_holds_a_field_in_it() -> None:
    both = registration(resource("Extension", "a"), resource("Extension", "b"))
    there = after(both, live(registration()))
    there["spec"]["resources"][0]["primary"] = True

    left = after(registration(resource("Network", "c")), there)["spec"]["resources"]

    assert left == [resource("Extension", "a", primary=True), resource("Network", "c")]


def test_values_of_others_stay_and_ours_go_when_they_are_declared_no_longer() -> None:
    there = after(deployment(ours={"a": 1}, shared={"b": 2}), live(deployment(theirs=[1], shared={"c": 3})))

    assert after(deployment(shared={"b": 2}), there)["helm"]["values"] == {"theirs": [1], "shared": {"c": 3, "b": 2}}


@pytest.mark.parametrize(
    ("declared", "stored", "writes"),
    [
        pytest.param({"reconcileTimeout": "180s"}, {"reconcileTimeout": "3m0s"}, False, id="a duration in other words"),
        pytest.param({"autoEnable": []}, {}, False, id="an empty list says nothing"),
        pytest.param({"primary": True}, {"primary": True}, False, id="the same"),
        pytest.param({"primary": False}, {"primary": True}, True, id="another"),
    ],
)
def test_what_means_the_same_is_not_written(declared: Any, stored: Any, *, writes: bool) -> None:
    wanted = registration(resource("Extension", "a", **declared))
    record = new_registration(wanted, "dev", nothing_ignored)["metadata"]["annotations"]
    there = live(registration(resource("Extension", "a", **stored)))
    there["metadata"]["annotations"] = record

    assert merged(wanted, there).writes is writes


def test_chart_values_are_compared_to_the_letter() -> None:
    there = after(deployment(timeout="60s", empty={}), live(deployment()))
    there["helm"]["values"]["timeout"] = "1m"

    assert [pointer(d.path) for d in merged(deployment(timeout="60s", empty={}), there).differences] == [
        "/helm/values/timeout"
    ]


def test_an_ignored_field_is_neither_written_nor_owned() -> None:
    there = live(deployment(replicas=5))

    outcome = merged(deployment(replicas=1), there, lambda path: "told so" if path[-1] == "replicas" else "")
    record = read_registration_record(outcome.merged)

    assert [difference.kept for difference in outcome.differences] == ["told so"]
    assert outcome.merged["helm"]["values"] == {"replicas": 5}
    assert record is not None
    assert not record.fields


def test_the_patch_is_guarded_and_a_record_that_cannot_be_read_is_refused() -> None:
    assert merged(deployment(a=1), live(deployment())).patch()[0] == {
        "op": "replace",
        "path": "/metadata/resourceVersion",
        "value": "7",
    }
    broken = live(deployment())
    broken["metadata"]["annotations"] = {RECORD_ANNOTATION: "{"}
    with pytest.raises(Refused, match="ControllerDeployment nri: the annotation"):
        merged(deployment(), broken)


VALUES = st.dictionaries(
    st.sampled_from("abc"), st.one_of(st.integers(0, 2), st.dictionaries(st.sampled_from("xy"), st.integers(0, 1)))
)


@given(first=VALUES, second=VALUES, theirs=VALUES)
def test_what_was_never_declared_is_never_touched_and_a_second_run_writes_nothing(
    first: dict[str, Any], second: dict[str, Any], theirs: dict[str, Any]
) -> None:
    before = live(deployment(**{f"their-{key}": value for key, value in theirs.items()}))

    there = after(deployment(**second), after(deployment(**first), before))

    assert {k: v for k, v in there["helm"].get("values", {}).items() if k.startswith("their-")} == before["helm"][
        "values"
    ]
    assert not merged(deployment(**second), there).writes
    record = read_registration_record(there)
    assert record is not None
    assert all(is_prefix(("helm", "values"), path) for path in record.fields)


@pytest.mark.parametrize(
    ("declared", "missing"),
    [
        pytest.param(deployment(a=1), ("/helm/ociRepository or /helm/rawChart",), id="values only"),
        pytest.param({**deployment(), "helm": {"rawChart": "AAAA"}}, (), id="whole"),
        pytest.param(
            {**deployment(), "apiVersion": V1BETA1},
            ("/type", "/providerConfig/ociRepository or /providerConfig/chart"),
            id="the old version",
        ),
        pytest.param(registration(), ("/spec/resources",), id="a registration of nothing"),
    ],
)
def test_what_is_too_little_to_be_created_is_named(declared: Manifest, missing: tuple[str, ...]) -> None:
    assert missing_to_be_created(declared) == missing
