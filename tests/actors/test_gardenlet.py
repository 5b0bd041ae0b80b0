import datetime as dt

import pytest

from tests.actors import crds, nodes
from tests.actors.gardenlet import Gardenlet, utc_now
from tests.actors.outcome import Failed, Succeeded, by_target
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot, worker

pytestmark = pytest.mark.control_plane

NRI = {"cri-resmgr-extension": crds.nri()}


def states(garden: Garden, name: str) -> set[str]:
    return {condition["status"] for condition in garden.get_shoot(name)["status"]["conditions"]}


def test_a_new_shoot_is_created_then_cared_for(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    gardenlet = Gardenlet(garden.client, garden.namespace)
    target = f"{garden.namespace}/one"

    assert gardenlet.step() == [f"{target}: Create Processing"]
    status = garden.get_shoot("one")["status"]
    assert (status["observedGeneration"], status["lastOperation"]["progress"]) == (1, 0)

    assert gardenlet.step() == [f"{target}: Create Succeeded"]
    assert gardenlet.step() == [f"{target}: conditions True"]
    assert gardenlet.step() == [f"{target}: label healthy"]
    assert gardenlet.step() == []
    assert len(garden.get_shoot("one")["status"]["conditions"]) == 5


def test_after_a_spec_change_conditions_are_progressing_until_care(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    gardenlet = Gardenlet(garden.client, garden.namespace)
    gardenlet.settle()

    garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"purpose": "testing"}})
    gardenlet.step()
    assert states(garden, "one") == {"True"}  # observed already, healthy still, and not done
    gardenlet.step()
    assert states(garden, "one") == {"Progressing"}
    gardenlet.settle()
    assert states(garden, "one") == {"True"}


@pytest.mark.parametrize("steps", [1, 3])
def test_an_operation_lasts_as_long_as_scripted(garden: Garden, steps: int) -> None:
    garden.create_shoot(shoot("one"))
    gardenlet = Gardenlet(garden.client, garden.namespace, processing_steps=steps)

    processing = [transition for transition in gardenlet.settle() if "Processing" in transition]

    assert len(processing) == steps


def test_a_failed_shoot_waits_for_a_new_generation(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    target = f"{garden.namespace}/one"
    outcomes = {target: Failed("quota exceeded", codes=("ERR_INFRA_QUOTA_EXCEEDED",))}
    gardenlet = Gardenlet(garden.client, garden.namespace, outcome=by_target(outcomes))
    gardenlet.settle()

    status = garden.get_shoot("one")["status"]
    assert status["lastOperation"]["state"] == "Failed"
    assert status["lastErrors"][0]["description"] == "quota exceeded"
    assert status["lastErrors"][0]["codes"] == ["ERR_INFRA_QUOTA_EXCEEDED"]

    outcomes.clear()
    assert gardenlet.step() == []
    garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"purpose": "testing"}})
    gardenlet.settle()
    assert garden.get_shoot("one")["status"]["lastOperation"]["state"] == "Succeeded"
    assert "lastErrors" not in garden.get_shoot("one")["status"]


def test_an_error_is_tried_again(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    answers = iter([Failed("timeout", state="Error"), Failed("timeout", state="Error")])
    gardenlet = Gardenlet(garden.client, garden.namespace, outcome=lambda _: next(answers, Succeeded()))

    transitions = gardenlet.settle()

    assert [line.split(": ")[1] for line in transitions[:6]] == [
        "Create Processing",
        "Create Error",
        "Create Processing",
        "Create Error",
        "Create Processing",
        "Create Succeeded",
    ]


def test_care_finds_what_the_script_calls_unhealthy(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    unhealthy = {f"{garden.namespace}/one": Succeeded({"EveryNodeReady": "node w1-0 is not ready"})}
    Gardenlet(garden.client, garden.namespace, outcome=by_target(unhealthy)).settle()

    found = {c["type"]: (c["status"], c["message"]) for c in garden.get_shoot("one")["status"]["conditions"]}

    assert found.pop("EveryNodeReady") == ("False", "node w1-0 is not ready")
    assert {status for status, _ in found.values()} == {"True"}
    assert garden.get_shoot("one")["metadata"]["labels"]["shoot.gardener.cloud/status"] == "unhealthy"


def test_a_hibernated_shoot_reports_unchecked_conditions(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    gardenlet = Gardenlet(garden.client, garden.namespace)
    gardenlet.settle()
    garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"hibernation": {"enabled": True}}})
    gardenlet.settle()

    status = garden.get_shoot("one")["status"]

    assert status["hibernated"] is True
    assert {(c["status"], c["reason"]) for c in status["conditions"]} == {("True", "ConditionNotChecked")}


def test_a_confined_change_waits_for_the_window(garden: Garden) -> None:
    garden.create_shoot(shoot("one", maintenance={"confineSpecUpdateRollout": True}))
    gardenlet = Gardenlet(garden.client, garden.namespace)
    gardenlet.settle()
    garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"purpose": "testing"}})

    assert gardenlet.step() == []
    gardenlet.open_window(f"{garden.namespace}/one")
    assert gardenlet.step() == [f"{garden.namespace}/one: Reconcile Processing"]


def test_definitions_come_and_go_with_the_extension(garden: Garden) -> None:
    garden.create_shoot(shoot("one", extensions=[{"type": "cri-resmgr-extension"}]))
    client = garden.shoot_server("one").client
    gardenlet = Gardenlet(garden.client, garden.namespace, shoot_client=lambda _: client, crds=NRI)
    gardenlet.settle()
    assert len(client.get(crds.COLLECTION)["items"]) == 3

    disabled = [{"type": "cri-resmgr-extension", "disabled": True}]
    garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"extensions": disabled}})
    gardenlet.settle()
    assert client.get(crds.COLLECTION)["items"] == []


def test_nodes_follow_the_worker_pools(garden: Garden) -> None:
    pools = [worker("w1", minimum=2, labels={"config.nri/group": "fast"}), worker("w2")]
    garden.create_shoot(shoot("one", provider={"type": "local", "workers": pools}))
    client = garden.shoot_server("one").client
    gardenlet = Gardenlet(garden.client, garden.namespace, shoot_client=lambda _: client)
    gardenlet.settle()
    groups = {n["metadata"]["name"]: n["metadata"]["labels"].get("config.nri/group") for n in nodes.listed(client)}
    assert groups == {"w1-0": "fast", "w1-1": "fast", "w2-0": None}

    one = [worker("w1", labels={"config.nri/group": "slow"})]
    garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"provider": {"workers": one}}})
    gardenlet.settle()
    groups = {n["metadata"]["name"]: n["metadata"]["labels"].get("config.nri/group") for n in nodes.listed(client)}
    assert groups == {"w1-0": "slow"}


def test_a_step_decides_again_when_somebody_writes_between_its_read_and_its_write(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    purposes = iter(["testing"])

    def now_that_somebody_writes() -> dt.datetime:
        for purpose in purposes:
            garden.client.merge_patch(garden.shoot_path("one"), {"spec": {"purpose": purpose}})
        return utc_now()

    Gardenlet(garden.client, garden.namespace, now=now_that_somebody_writes).step()

    found = garden.get_shoot("one")
    assert found["spec"]["purpose"] == "testing"
    assert found["status"]["observedGeneration"] == found["metadata"]["generation"] == 2


def test_in_the_background_shoots_become_healthy(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))

    with Gardenlet(garden.client, garden.namespace).run_in_background(interval=0):
        while "healthy" not in garden.get_shoot("one")["metadata"]["labels"].get("shoot.gardener.cloud/status", ""):
            pass
