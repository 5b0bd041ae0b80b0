"""A shoot observed through its real API server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gitops.errors import Refused
from gitops.kube.cluster import Access, Cluster, Conflicts, Mode
from gitops.kube.kubeconfig import connect, open_garden
from gitops.live.access import ShootAccess
from gitops.live.garden import check_identity, observe_garden
from gitops.live.shoots import observe_shoot
from gitops.manifest import GARDEN, Ref
from gitops.ownership.applyset import applyset_id, member_labels, members
from tests.actors import crds
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

POLICIES = ("config.nri/v1alpha1", "BalloonsPolicy")
CONFIG_MAPS = ("v1", "ConfigMap")


@pytest.fixture
def gardener(garden: Garden) -> Iterator[Cluster]:
    transport = open_garden({}, file=garden.kubeconfig)
    yield Cluster(transport, target=GARDEN)
    transport.close()


@pytest.fixture
def access(gardener: Cluster) -> Iterator[ShootAccess]:
    access = ShootAccess(gardener, connect, clock=lambda: datetime.now(UTC))
    yield access
    access.close()


def test_the_gardens_shoots_are_observed_behind_its_identity(garden: Garden, gardener: Cluster) -> None:
    garden.create_shoot(shoot("one"))
    garden.create_shoot(shoot("two"))

    check_identity(gardener, garden.identity)
    observed = observe_garden(gardener, [garden.namespace])

    assert list(observed.shoots) == [f"{garden.namespace}/one", f"{garden.namespace}/two"]
    assert observed.server_time is not None
    with pytest.raises(Refused, match=garden.identity):
        check_identity(gardener, "another")


def test_a_shoot_with_a_policy_costs_three_requests(garden: Garden, access: ShootAccess) -> None:
    garden.create_shoot(shoot("one"))
    server = garden.shoot_server("one")
    crds.install(server.client, crds.nri())
    crds.wait_until_established(server.client, crds.nri())
    server.client.post("/api/v1/nodes", {"metadata": {"name": "n1"}})
    policies = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"
    policy = {"apiVersion": POLICIES[0], "kind": POLICIES[1], "metadata": {"name": "default"}}
    server.client.post(policies, {**policy, "spec": {"reservedResources": {"cpu": "1"}}})

    observed = observe_shoot(access.cluster(server.target, Access.VIEWER), server.target, [POLICIES])

    assert list(observed.objects) == [Ref(server.target, *POLICIES, "kube-system", "default")]
    assert [node["metadata"]["name"] for node in observed.nodes] == ["n1"]
    assert len(garden.requests("shoot-gitops/")) + len(server.requests("shoot-gitops/")) == 3


def test_a_shoot_without_the_policy_kind_is_observed_without_it(garden: Garden, access: ShootAccess) -> None:
    garden.create_shoot(shoot("one"))
    target = garden.shoot_server("one").target

    observed = observe_shoot(access.cluster(target, Access.VIEWER), target, [POLICIES])

    assert observed.unserved == {POLICIES}


def test_our_members_are_found_among_all_config_maps(garden: Garden, access: ShootAccess) -> None:
    garden.create_shoot(shoot("one"))
    target = garden.shoot_server("one").target
    ours = Ref(target, *CONFIG_MAPS, "kube-system", "ours")
    cluster = access.cluster(target, Access.ADMIN)
    metadata = {"name": ours.name, "namespace": ours.namespace, "labels": member_labels("dev")}
    cluster.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, ownership=Conflicts.REFUSE, mode=Mode.WRITE
    )
    cluster.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreign", "namespace": "kube-system"}}
    )
    foreign, absent = (Ref(target, *CONFIG_MAPS, "kube-system", name) for name in ("foreign", "absent"))

    observed = observe_shoot(
        cluster, target, [CONFIG_MAPS], wanted=[ours, foreign, absent], applyset=applyset_id("dev")
    )

    assert set(observed.objects) == {ours, foreign}
    assert set(members(observed.objects, "dev")) == {ours}
