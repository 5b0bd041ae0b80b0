"""The changes of registrations, what forbids them, and the vectors that follow."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitops.desired.compose import Desired, Origin
from gitops.desired.overlay import IgnoreRule
from gitops.gardener.extension_use import Service
from gitops.gardener.registration_fields import registration_ref
from gitops.gardener.registration_merge import new_registration
from gitops.manifest import GARDEN, Manifest, pointer
from gitops.ownership.owners import Tool
from gitops.plan.changes import Action
from gitops.plan.observed import ObservedRegistrations
from gitops.plan.planning import make_plan
from gitops.plan.registrations import plan_registrations, with_left_images, with_vectors
from tests.plan.fleet import declared as declared_shoot
from tests.plan.fleet import desired as desired_shoots
from tests.plan.fleet import live_shoot, observed, overlay

V1, V1BETA1 = "core.gardener.cloud/v1", "core.gardener.cloud/v1beta1"
IMAGES = {"imageVectorOverwrite": "images: []\n"}


def deployment(name: str = "nri", **values: Any) -> Manifest:
    helm = {"ociRepository": {"ref": "registry.example/nri:v1"}, "values": values}
    return {"apiVersion": V1, "kind": "ControllerDeployment", "metadata": {"name": name}, "helm": helm}


def images_only(**values: Any) -> Manifest:
    return {**deployment(), "helm": {"values": values or IMAGES}}


def registration(names: str = "nri") -> Manifest:
    spec = {
        "resources": [{"kind": "Extension", "type": "nri"}],
        "deployment": {"deploymentRefs": [{"name": names}]},
    }
    return {"apiVersion": V1BETA1, "kind": "ControllerRegistration", "metadata": {"name": "nri"}, "spec": spec}


def desired(*manifests: Manifest, **changes: Any) -> Desired:
    found = {registration_ref(manifest): manifest for manifest in manifests}
    origins = {ref: Origin("clusters/nri.yaml", line) for line, ref in enumerate(found, start=1)}
    shoots = desired_shoots(declared_shoot(), by=overlay(**changes))
    return replace(shoots, registrations=dict(sorted(found.items())), origins=origins)


def written(manifest: Manifest, overlay: str = "dev") -> Manifest:
    """As it is after a run of an overlay."""
    stored = copy.deepcopy(new_registration(manifest, overlay, lambda _: ""))
    stored["metadata"] |= {"resourceVersion": "7", "uid": "u"}
    return stored


def bare(manifest: Manifest, **metadata: Any) -> Manifest:
    """As somebody else made it."""
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": "7", **metadata}}


def seen(*manifests: Manifest, **more: Any) -> ObservedRegistrations:
    return ObservedRegistrations({registration_ref(manifest): manifest for manifest in manifests}, **more)


def test_new_ones_are_created_and_written_ones_left_alone() -> None:
    wanted = desired(deployment(a=1), registration())

    plan = plan_registrations(wanted, seen(written(deployment(a=1))))

    assert [(change.ref.kind, change.action) for change in plan.changes] == [
        ("ControllerDeployment", Action.UNCHANGED),
        ("ControllerRegistration", Action.CREATED),
    ]
    assert not plan.problems


def test_adopting_an_object_that_is_as_declared_is_told() -> None:
    (change,) = plan_registrations(desired(deployment(a=1)), seen(bare(deployment(a=1)))).changes

    assert (change.action, change.fields) == (Action.CONFIGURED, ())
    assert change.reason == "records what is owned here; no field changes"


FLUX = {"labels": {"kustomize.toolkit.fluxcd.io/name": "extensions"}}
OPERATOR = {"labels": {"resources.gardener.cloud/managed-by": "gardener"}}


@pytest.mark.parametrize(
    ("live", "more", "rule", "words"),
    [
        pytest.param(
            [bare(deployment(), **OPERATOR)], {}, "foreign-owner", "renders it from the Extension nri", id="operator"
        ),
        pytest.param([bare(deployment(), **FLUX)], {}, "foreign-owner", "managed by Flux", id="flux"),
        pytest.param([written(deployment(), "prod")], {}, "other-overlay", "overlay prod declares it", id="overlay"),
        pytest.param(
            [],
            {"unserved": frozenset({(GARDEN, V1, "ControllerDeployment")})},
            "unserved-registration",
            "does not serve ControllerDeployment of core.gardener.cloud/v1",
            id="not served",
        ),
    ],
)
def test_what_must_not_be_written_forbids_the_run(live: list[Manifest], more: Any, rule: str, words: str) -> None:
    planned = make_plan(desired(deployment(a=1)), shoots(), seen(*live, **more))

    assert [(p.rule, p.file, p.line) for p in planned.problems] == [(rule, "clusters/nri.yaml", 1)]
    assert words in planned.problems[0].message
    assert planned.plan.garden[0].action is Action.SKIPPED


def shoots() -> Any:
    shoot = declared_shoot()
    return {shoot.target: observed(live_shoot(shoot))}


def test_an_adopted_tools_object_is_taken_over() -> None:
    wanted = desired(deployment(a=1), adopt=frozenset({Tool.FLUX}))

    assert not plan_registrations(wanted, seen(bare(deployment(), **FLUX))).problems


@pytest.mark.parametrize(
    ("live", "words"),
    [
        pytest.param([bare(deployment("other"))], "there are other", id="no such deployment"),
        pytest.param([bare(deployment())], "no ControllerRegistration names", id="no registration"),
        pytest.param(
            [bare(deployment()), bare(registration("other"))], "no ControllerRegistration names", id="another"
        ),
    ],
)
def test_images_that_would_reach_nothing_are_refused(live: list[Manifest], words: str) -> None:
    problems = plan_registrations(desired(images_only()), seen(*live)).problems

    assert {problem.rule for problem in problems} == {"missing-registration"}
    assert any(words in problem.message for problem in problems)


def test_changed_images_are_announced_and_other_values_are_not() -> None:
    live = [written(deployment(a=1)), bare(registration())]

    assert plan_registrations(desired(deployment(a=1, **IMAGES)), seen(*live)).warnings
    assert not plan_registrations(desired(deployment(a=2)), seen(*live)).warnings


def test_an_ignored_value_is_kept() -> None:
    rule = IgnoreRule("ControllerDeployment", (("helm", "values", "a"),), None, 1)

    (change,) = plan_registrations(desired(deployment(a=1), ignore=(rule,)), seen(bare(deployment(a=2)))).changes

    assert [(pointer(field.path), field.ignored) for field in change.fields] == [
        ("/helm/values/a", "ignored by the overlay")
    ]


@pytest.mark.parametrize(
    ("manifests", "live"),
    [
        pytest.param([images_only()], [bare(deployment()), bare(registration())], id="registered by others"),
        pytest.param([deployment(**IMAGES), registration()], [], id="registered by us, and not there yet"),
    ],
)
def test_every_shoot_is_told_which_vectors_there_are_and_what_they_serve(
    manifests: list[Manifest], live: list[Manifest]
) -> None:
    (shoot,) = with_vectors(desired(*manifests), seen(*live)).shoots.values()

    (vector,) = shoot.vectors
    assert vector.extension == "nri"
    assert vector.services == (Service("Extension", "nri", on_by_default=False),)


def test_registrations_without_images_bring_no_vectors() -> None:
    wanted = desired(deployment(a=1), registration())

    assert with_vectors(wanted, seen()) is wanted


def values_of(wanted: Desired) -> Mapping[str, Any]:
    (manifest,) = wanted.registrations.values()
    values: Mapping[str, Any] = manifest.get("helm", {}).get("values", {})
    return values


def test_images_that_are_declared_no_longer_go_and_the_rest_of_ours_stays() -> None:
    before = written(images_only(**IMAGES, image={"tag": "v1"}, replicas=2))

    left = with_left_images(desired(), seen(before))
    plan = plan_registrations(left, seen(before))

    assert values_of(left) == {"replicas": 2}
    assert {pointer(field.path) for field in plan.changes[0].fields} == {
        "/helm/values/imageVectorOverwrite",
        "/helm/values/image/tag",
    }


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(bare(images_only()), id="nobody's"),
        pytest.param(written(images_only(), "prod"), id="another overlay's"),
        pytest.param(written(deployment(a=1)), id="ours, without images"),
    ],
)
def test_nothing_else_is_taken_back(live: Manifest) -> None:
    assert not with_left_images(desired(), seen(live)).registrations
