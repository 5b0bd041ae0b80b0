"""An extension registered as gardener-operator has it: an Extension in the garden's runtime cluster.

The runtime cluster is a plain kube-apiserver with the operator's own CRD.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.desired.whole import compose_whole
from gitops.errors import Refused
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import open_garden
from gitops.kube.transport import Request
from gitops.look import plan
from gitops.manifest import RUNTIME
from gitops.rollout.rollout import RunOutcome, WaveOutcome
from gitops.world import World
from tests.actors import crds
from tests.actors.installations import Installations
from tests.actors.operator import EXTENSIONS, Operator
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.fleet import NAMES, NOW
from tests.end_to_end.requests import Requests

pytestmark = pytest.mark.control_plane

NAME = "extension-roller"
_CRD = Path(__file__).parent.parent / "data" / "crds" / "operator.gardener.cloud_extensions.yaml"
PATH = f"{EXTENSIONS}/{NAME}"


class OperatorFleet(ControlPlaneFleet):
    """The fleet in a landscape that gardener-operator manages.

    Attributes:
        runtime: the runtime cluster, as an administrator.
        operator: at work whenever somebody looks at the Extensions.
        seeds: two seeds, at work whenever somebody looks at them.
    """

    def __init__(self, garden: Garden, folder: Path) -> None:
        super().__init__(garden, folder)
        garden.create_shoot(shoot("runtime"))
        server = self._servers["runtime"] = garden.shoot_server("runtime")
        self.runtime: Client = server.client
        definition = yaml.safe_load(_CRD.read_text())
        crds.install(self.runtime, [definition])
        crds.wait_until_established(self.runtime, [definition])
        self._runtime_kubeconfig = folder / "runtime.kubeconfig"
        self._runtime_kubeconfig.write_text(json.dumps(server.kubeconfig))
        self.operator = Operator(self.runtime, self.client)
        self.seeds = Installations(self.client, "seed-a", "seed-b")

    @contextmanager
    def world(self, requests: Requests) -> Iterator[World]:
        requests.before = self._act
        transport = open_garden({}, file=self._runtime_kubeconfig)
        try:
            with super().world(requests) as world:
                yield replace(world, runtime=Cluster(requests.through(transport), target=RUNTIME))
        finally:
            transport.close()

    def _act(self, request: Request) -> None:
        if request.method != "GET":
            return
        if request.path == EXTENSIONS:
            self.operator.step()
        elif request.path.endswith("/controllerinstallations"):
            self.seeds.step()

    def declare(self, tag: str) -> None:
        """Declare the Extension, and an image vector for it."""
        deployment = {
            "extension": {"helm": {"ociRepository": {"ref": "registry.example/charts/roller:v1"}}, "policy": "OnDemand"}
        }
        extension = {
            "apiVersion": "operator.gardener.cloud/v1alpha1",
            "kind": "Extension",
            "metadata": {"name": NAME},
            "spec": {
                "deployment": deployment,
                "resources": [{"kind": "Extension", "type": "roller", "workerlessSupported": True}],
            },
        }
        self.repository.write("clusters/extension.yaml", extension)
        image = {"name": "agent", "repository": "registry.example/agent", "tag": tag}
        spec = self.repository.overlay["spec"]
        spec["extensions"] = [{"type": "roller", "state": "Enabled"}]
        spec.pop("policies", None)
        spec["imageVectors"] = [
            {"extension": NAME, "registration": "Extension", "form": "Object", "inline": {"images": [image]}}
        ]
        self.repository.commit()


@pytest.fixture
def operated(garden: Garden, tmp_path: Path) -> OperatorFleet:
    return OperatorFleet(garden, tmp_path)


def tags(values: Any) -> list[str]:
    return [image["tag"] for image in values["imageVectorOverwrite"]["images"]]


def test_an_extension_is_written_to_the_runtime_cluster_and_waited_for_on_every_seed(operated: OperatorFleet) -> None:
    operated.declare("v1")
    requests = Requests()

    record = operated.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert next(write for write in requests.writes if "/configmaps/" not in write) == f"POST {EXTENSIONS}"
    assert record.result.registrations is not None
    assert [(found.extension, found.seed) for found in record.result.registrations.seeds] == [
        (f"Extension {NAME}", ""),
        (NAME, "seed-a"),
        (NAME, "seed-b"),
    ]
    deployed = operated.runtime.get(PATH)["spec"]["deployment"]["extension"]
    assert tags(deployed["values"]) == tags(deployed["runtimeClusterValues"]) == ["v1"]

    operated.settle()
    again = Requests()
    assert operated.reconcile(again).result.outcome is RunOutcome.CONVERGED
    assert again.writes == []


def test_a_new_image_vector_goes_through_the_extension_and_rolls_each_shoot_once(operated: OperatorFleet) -> None:
    operated.declare("v1")
    operated.reconcile()
    operated.settle()
    operated.declare("v2")
    requests = Requests()

    record = operated.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    written = [write for write in requests.writes if "/configmaps/" not in write]
    assert written[0] == f"PATCH {PATH}"
    assert sorted(written[1:]) == sorted(f"PATCH {operated.shoot_path(name)}" for name in NAMES)
    rendered = operated.client.get(f"/apis/core.gardener.cloud/v1/controllerdeployments/{NAME}")
    assert tags(rendered["helm"]["values"]) == ["v2"]


def test_a_condition_that_is_not_true_stops_the_run(operated: OperatorFleet) -> None:
    operated.declare("v1")
    operated.repository.overlay["spec"]["gate"]["timeout"] = "4s"
    operated.repository.commit()
    operated.operator.healthy = False

    record = operated.reconcile()

    assert record.result.outcome is RunOutcome.STOPPED
    assert f"Extension {NAME}: condition ControllerInstallationsHealthy is False" in record.result.message
    assert [wave.outcome for wave in record.result.waves] == [WaveOutcome.NOT_STARTED] * 2


def test_an_operator_that_does_not_act_is_waited_for_and_not_believed(operated: OperatorFleet) -> None:
    operated.declare("v1")
    operated.reconcile()
    operated.declare("v2")
    operated.repository.overlay["spec"]["gate"]["timeout"] = "4s"
    operated.repository.commit()
    operated.operator.down = True

    record = operated.reconcile()

    assert record.result.outcome is RunOutcome.STOPPED
    assert "gardener-operator has not done generation 2: it has observed 1" in record.result.message


def test_the_runtime_cluster_must_be_named(operated: OperatorFleet) -> None:
    operated.declare("v1")
    requests = Requests()

    with ControlPlaneFleet.world(operated, requests) as world, operated.artifact() as artifact:
        desired = compose_whole(artifact, "dev", NOW)
        with pytest.raises(Refused, match="--runtime-kubeconfig"):
            plan(world, desired)
