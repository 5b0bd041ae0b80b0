"""The garden wave: registrations of extensions before everything else, and image vectors that follow wave by wave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitops.errors import Refused
from gitops.kube.transport import Request
from gitops.look import plan
from gitops.plan.changes import Action
from gitops.record.record import record_document
from gitops.report.registrations_status import registrations_lines, registrations_status
from gitops.rollout.rollout import RunOutcome, WaveOutcome
from tests.actors.installations import Installations
from tests.actors.operator import MARKS
from tests.end_to_end.fleet import NAMES, NOW, Fleet
from tests.end_to_end.repository import TYPE
from tests.end_to_end.requests import Requests

NAME = "extension-roller"
ROLLER = "roller"
CORE = "/apis/core.gardener.cloud/v1beta1"
VERSIONS = pytest.mark.parametrize("version", ["v1", "v1beta1"])


def declare(fleet: Fleet, version: str = "v1", **values: Any) -> None:
    """Declare an extension that this garden does not know, and enable it everywhere."""
    fleet.repository.registration(
        NAME, {"kind": "Extension", "type": ROLLER, "workerlessSupported": True}, version=version, **values
    )
    fleet.repository.overlay["spec"]["extensions"] = [{"type": ROLLER, "state": "Enabled"}]
    fleet.repository.overlay["spec"].pop("policies", None)
    fleet.repository.commit()


def declare_images(fleet: Fleet, tag: str, form: str = "String") -> None:
    """Declare an image vector for it."""
    image = {"name": "agent", "repository": "registry.example/agent", "tag": tag}
    vector = {"extension": NAME, "registration": "ControllerDeployment", "form": form, "inline": {"images": [image]}}
    fleet.repository.overlay["spec"]["imageVectors"] = [vector]
    fleet.repository.commit()


def seeds_of(fleet: Fleet) -> Installations:
    """Whoever brings extensions to two seeds."""
    now = getattr(fleet, "clock", None)
    return Installations(fleet.client, "seed-a", "seed-b", **({"now": now.now} if now is not None else {}))


def with_seeds(actor: Installations) -> Requests:
    """The seeds act whenever somebody looks at them."""

    def act(request: Request) -> None:
        if request.method == "GET" and request.path.endswith("/controllerinstallations"):
            actor.step()

    return Requests(before=act)


def objects(requests: Requests) -> list[str]:
    """What a run wrote, without its record."""
    return [write for write in requests.writes if "/configmaps/" not in write]


@VERSIONS
def test_registrations_are_written_once_and_every_seed_catches_up_before_any_shoot(fleet: Fleet, version: str) -> None:
    declare(fleet, version, replicaCount=1)
    actor = seeds_of(fleet)
    requests = with_seeds(actor)

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    written = objects(requests)
    assert written[:2] == [
        f"POST /apis/core.gardener.cloud/{version}/controllerdeployments",
        f"POST {CORE}/controllerregistrations",
    ]
    assert sorted(written[2:]) == sorted(f"PATCH {fleet.shoot_path(name)}" for name in NAMES)
    garden, *waves = record_document(record)["waves"]
    assert garden["name"] == "garden"
    assert garden["shoots"] == [{"shoot": None, "outcome": "Converged", "writes": 2, "message": ""}]
    assert {(s["extension"], s["seed"]): s["status"] for s in garden["seeds"]} == {
        (NAME, "seed-a"): "Current",
        (NAME, "seed-b"): "Current",
    }
    assert [wave["outcome"] for wave in waves] == ["Passed", "Passed"]


def test_a_second_run_writes_nothing_and_asks_one_list_per_kind(fleet: Fleet) -> None:
    declare(fleet, replicaCount=1)
    declare_images(fleet, "v1")
    actor = seeds_of(fleet)
    fleet.reconcile(with_seeds(actor))
    fleet.settle()
    requests = with_seeds(actor)

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED
    assert requests.writes == []
    asked = [request.path for request in requests.sent]
    assert sorted(path for path in asked if "/controller" in path) == [
        "/apis/core.gardener.cloud/v1/controllerdeployments",
        f"{CORE}/controllerinstallations",
        f"{CORE}/controllerregistrations",
    ]
    assert not fleet.plan().plan.pending


def test_a_broken_seed_stops_the_run_before_any_shoot_is_touched(fleet: Fleet) -> None:
    declare(fleet)
    fleet.repository.overlay["spec"]["gate"]["timeout"] = f"{int(fleet.poll.total_seconds() * 100)}s"
    fleet.repository.commit()
    actor = seeds_of(fleet)
    actor.unhealthy["seed-b"] = {"Healthy": "False"}
    before = {name: fleet.shoot(name)["metadata"]["resourceVersion"] for name in NAMES}
    requests = with_seeds(actor)

    stopped = fleet.reconcile(requests)

    assert stopped.result.outcome is RunOutcome.STOPPED
    assert f"{NAME} on seed seed-b: condition Healthy is False" in stopped.result.message
    assert [wave.outcome for wave in stopped.result.waves] == [WaveOutcome.NOT_STARTED] * 2
    assert {name: fleet.shoot(name)["metadata"]["resourceVersion"] for name in NAMES} == before
    garden = record_document(stopped)["waves"][0]
    assert garden["outcome"] == "Stopped"
    assert {found["seed"]: found["status"] for found in garden["seeds"]} == {
        "seed-a": "Current",
        "seed-b": "InProgress",
    }

    assert said_of_registrations(fleet) == [
        "Registrations InProgress, well in 1 of 2 places.",
        f"    {NAME} on seed-b: condition Healthy is False (Looked): Healthy is False",
    ]

    actor.unhealthy.clear()
    assert fleet.reconcile(with_seeds(actor)).result.outcome is RunOutcome.CONVERGED
    assert said_of_registrations(fleet) == ["Registrations Current, well in 2 of 2 places."]


def said_of_registrations(fleet: Fleet) -> list[str]:
    """What `gitops status` says of them."""
    with fleet.world(Requests()) as world:
        planned, outlook = plan(world, fleet.composed())
    status = registrations_status(outlook, planned.plan, None, NOW)
    assert status is not None
    return registrations_lines(status)


@pytest.mark.parametrize("form", ["String", "Object"])
def test_a_new_image_vector_rolls_each_shoot_by_exactly_one_trigger(fleet: Fleet, form: str) -> None:
    declare(fleet, replicaCount=1)
    actor = seeds_of(fleet)
    fleet.reconcile(with_seeds(actor))
    fleet.settle()
    specs = {name: fleet.shoot(name)["spec"] for name in NAMES}
    generations = {name: fleet.shoot(name)["metadata"]["generation"] for name in NAMES}
    declare_images(fleet, "v2", form)
    requests = with_seeds(actor)

    plan = fleet.plan().plan
    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    reasons = {change.reason for change in plan.changes() if change.ref.kind == "Shoot"}
    assert reasons == {f"rolls image vector of {NAME} by one reconcile"}
    assert any("at its next periodic reconcile" in warning for warning in plan.warnings)
    written = objects(requests)
    assert written[0] == f"PATCH /apis/core.gardener.cloud/v1/controllerdeployments/{NAME}"
    assert sorted(written[1:]) == sorted(f"PATCH {fleet.shoot_path(name)}" for name in NAMES)
    assert {name: fleet.shoot(name)["spec"] for name in NAMES} == specs
    assert {name: fleet.shoot(name)["metadata"]["generation"] for name in NAMES} == {
        name: generation + 1 for name, generation in generations.items()
    }
    values = fleet.client.get(f"/apis/core.gardener.cloud/v1/controllerdeployments/{NAME}")["helm"]["values"]
    assert values["replicaCount"] == 1
    assert isinstance(values["imageVectorOverwrite"], str if form == "String" else dict)
    fleet.settle()
    again = with_seeds(actor)
    assert fleet.reconcile(again).result.outcome is RunOutcome.CONVERGED
    assert again.writes == []


def test_a_confined_shoot_takes_the_images_in_its_window(fleet: Fleet) -> None:
    declare(fleet)
    actor = seeds_of(fleet)
    fleet.reconcile(with_seeds(actor))
    fleet.patch_shoot("three", {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}})
    fleet.settle()
    generation = fleet.shoot("three")["metadata"]["generation"]
    declare_images(fleet, "v2")

    waiting = fleet.reconcile(with_seeds(actor))

    three = next(s for w in waiting.result.waves for s in w.shoots if s.shoot == fleet.target("three"))
    assert waiting.result.outcome is RunOutcome.WAITING
    assert "window" in three.message
    assert three.writes == 1
    assert fleet.shoot("three")["metadata"]["generation"] == generation
    fleet.open_window("three")
    done = with_seeds(actor)
    assert fleet.reconcile(done).result.outcome is RunOutcome.CONVERGED
    assert objects(done) == []


def refused(fleet: Fleet, match: str) -> None:
    requests = Requests()
    with pytest.raises(Refused, match=match):
        fleet.reconcile(requests)
    assert requests.writes == []


def test_an_extension_is_not_enabled_before_it_is_registered(fleet: Fleet) -> None:
    fleet.repository.overlay["spec"]["extensions"] = [{"type": "unheard", "state": "Enabled"}]
    fleet.repository.commit()

    refused(
        fleet, "no registration in this garden has a primary resource of kind Extension and type unheard.*resources"
    )


def test_an_entry_that_is_only_disabled_must_be_registered_too(fleet: Fleet) -> None:
    fleet.repository.overlay["spec"]["extensions"] = [{"type": TYPE, "state": "Enabled", "replaces": ["unheard"]}]
    fleet.repository.commit()

    refused(fleet, "type unheard: an entry that is only disabled must be registered too: leave it out")


def test_images_for_an_extension_that_is_not_there(fleet: Fleet) -> None:
    declare(fleet)
    vector = {
        "extension": "nowhere",
        "registration": "ControllerDeployment",
        "form": "String",
        "inline": {"images": []},
    }
    fleet.repository.overlay["spec"]["imageVectors"] = [vector]
    fleet.repository.commit()

    refused(fleet, r"overlay.yaml:\d+: ControllerDeployment nowhere: there is no such ControllerDeployment")


def mark(fleet: Fleet) -> None:
    """Somebody renders the deployment from an operator Extension."""
    fleet.client.merge_patch(f"/apis/core.gardener.cloud/v1/controllerdeployments/{NAME}", {"metadata": MARKS})


def claim(fleet: Fleet) -> None:
    """Another overlay writes the registration."""
    annotation = {"shoot-gitops/owned": '{"overlay":"prod","fields":{}}'}
    path = f"{CORE}/controllerregistrations/{NAME}"
    fleet.client.merge_patch(path, {"metadata": {"annotations": annotation}})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(mark, f"from the Extension {NAME} .*declare that Extension instead", id="gardener-operator"),
        pytest.param(claim, "overlay prod declares it as well", id="another overlay"),
    ],
)
def test_a_registration_that_somebody_else_writes(fleet: Fleet, change: Callable[[Fleet], None], words: str) -> None:
    declare(fleet)
    fleet.reconcile(with_seeds(seeds_of(fleet)))
    change(fleet)
    declare(fleet, replicaCount=2)

    refused(fleet, words)


def test_what_others_wrote_into_a_registration_stays(fleet: Fleet) -> None:
    declare(fleet, replicaCount=1, gone=True)
    actor = seeds_of(fleet)
    fleet.reconcile(with_seeds(actor))
    path = f"{CORE}/controllerregistrations/{NAME}"
    resources = [*fleet.client.get(path)["spec"]["resources"], {"kind": "Network", "type": "theirs"}]
    fleet.client.merge_patch(path, {"spec": {"resources": resources}})
    deployment = f"/apis/core.gardener.cloud/v1/controllerdeployments/{NAME}"
    fleet.client.merge_patch(deployment, {"helm": {"values": {"theirs": 1, "replicaCount": 5}}})
    declare(fleet, replicaCount=2)

    fields = [
        (change.action, {str(field.path[-1]) for field in change.fields})
        for change in fleet.plan().plan.garden
        if change.ref.kind == "ControllerDeployment"
    ]
    fleet.reconcile(with_seeds(actor))

    assert fields == [(Action.CONFIGURED, {"replicaCount", "gone"})]
    assert fleet.client.get(deployment)["helm"]["values"] == {"replicaCount": 2, "theirs": 1}
    found = {(r["kind"], r["type"]) for r in fleet.client.get(path)["spec"]["resources"]}
    assert found == {("Extension", ROLLER), ("Network", "theirs")}


def test_images_that_are_declared_no_longer_are_taken_back_and_the_shoots_rolled(fleet: Fleet) -> None:
    fleet.reconcile()
    chart = {"ociRepository": {"ref": "registry.example/charts/roller:v1"}, "values": {"theirs": 1}}
    path = f"/apis/core.gardener.cloud/v1/controllerdeployments/{NAME}"
    fleet.client.post(path.removesuffix(f"/{NAME}"), {"metadata": {"name": NAME}, "helm": chart})
    registration = {
        "metadata": {"name": NAME},
        "spec": {
            "resources": [{"kind": "Network", "type": "calico", "primary": False}],
            "deployment": {"deploymentRefs": [{"name": NAME}]},
        },
    }
    fleet.client.post(f"{CORE}/controllerregistrations", registration)
    actor = seeds_of(fleet)
    declare_images(fleet, "v2")
    assert fleet.reconcile(with_seeds(actor)).result.outcome is RunOutcome.CONVERGED
    fleet.settle()
    del fleet.repository.overlay["spec"]["imageVectors"]
    fleet.repository.commit()
    requests = with_seeds(actor)

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert fleet.client.get(path)["helm"] == chart
    assert sorted(objects(requests)) == sorted([f"PATCH {path}", *(f"PATCH {fleet.shoot_path(n)}" for n in NAMES)])
    fleet.settle()
    again = with_seeds(actor)
    fleet.reconcile(again)
    assert objects(again) == []
    assert not [request for request in again.sent if "/controller" in request.path]
