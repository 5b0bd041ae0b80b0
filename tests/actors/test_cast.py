import pytest

from tests.actors import crds
from tests.actors.cast import Cast
from tests.actors.gardenlet import Gardenlet
from tests.actors.policy_agents import PolicyAgents, refuse
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

EXTENSIONS = [{"type": "cri-resmgr-extension"}]
POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"
POLICY = {
    "apiVersion": "config.nri/v1alpha1",
    "kind": "BalloonsPolicy",
    "metadata": {"name": "default"},
    "spec": {"reservedResources": {"cpu": "1"}},
}


def test_a_shoot_with_the_extension_has_nodes_that_answer_to_policies(garden: Garden) -> None:
    garden.create_shoot(shoot("one", extensions=EXTENSIONS))
    gardenlet = Gardenlet(
        garden.client, garden.namespace, shoot_client=garden.shoot_client, crds={"cri-resmgr-extension": crds.nri()}
    )

    def one_node_refuses(_target: str, client: Client) -> PolicyAgents:
        return PolicyAgents(client, verdict=refuse("w1-0", "not enough CPUs"))

    cast = Cast([gardenlet], garden.shoot_clients, one_node_refuses)
    cast.settle()
    garden.shoot_client("one").post(POLICIES, POLICY)

    assert cast.settle() == [f"{garden.namespace}/one: w1-0: default 1 Failure"]
