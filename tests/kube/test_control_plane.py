"""What a real API server and a real Gardener API make of our requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gitops.errors import Absent, ApiError, Conflict, Forbidden, Rejected
from gitops.kube.cluster import Access, Cluster, Conflicts, Mode
from gitops.kube.kubeconfig import connect, open_garden
from gitops.kube.statuses import Unserved
from gitops.manifest import GARDEN, Manifest, Ref, ref_of
from tests.actors import crds
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"
POLICY: Manifest = {
    "apiVersion": "config.nri/v1alpha1",
    "kind": "BalloonsPolicy",
    "metadata": {"name": "default", "namespace": "kube-system"},
    "spec": {"reservedResources": {"cpu": "1"}},
}
REF = ref_of("t", POLICY)


def named(name: str, **spec: object) -> Manifest:
    return {**POLICY, "metadata": {"name": name, "namespace": "kube-system"}, "spec": {**POLICY["spec"], **spec}}


@pytest.fixture
def gardener(garden: Garden) -> Iterator[Cluster]:
    """The garden through our door, with the Shoot `one`."""
    garden.create_shoot(shoot("one"))
    transport = open_garden({"KUBECONFIG": str(garden.kubeconfig)})
    yield Cluster(transport, target=GARDEN)
    transport.close()


Open = Callable[[Access], Cluster]


@pytest.fixture
def open_shoot(garden: Garden, gardener: Cluster) -> Iterator[Open]:
    """The Shoot `one` through our door, by a real adminkubeconfig or viewerkubeconfig; it serves the policy kinds."""
    server = garden.shoot_server("one")
    crds.install(server.client, crds.nri())
    crds.wait_until_established(server.client, crds.nri())
    transports = []

    def open_(access: Access) -> Cluster:
        transports.append(connect(gardener.request_kubeconfig(server.target, access, 600).config))
        return Cluster(transports[-1], target=server.target)

    yield open_
    for transport in transports:
        transport.close()


@pytest.fixture
def admin(open_shoot: Open) -> Cluster:
    return open_shoot(Access.ADMIN)


@pytest.fixture
def somebody(garden: Garden, admin: Cluster) -> Client:  # noqa: ARG001 - the policy kinds are there
    """Another client of the same shoot."""
    return garden.shoot_server("one").client


def test_an_applied_policy_is_read_back_and_deleted(admin: Cluster) -> None:
    applied = admin.apply(POLICY, ownership=Conflicts.REFUSE, mode=Mode.WRITE)

    assert applied["metadata"]["managedFields"][0]["manager"] == "shoot-gitops"
    assert admin.get(REF) == applied
    listing = admin.list("config.nri/v1alpha1", "BalloonsPolicy")
    assert listing.items == (applied,)
    assert listing.server_time is not None

    metadata = applied["metadata"]
    admin.delete(REF, uid=metadata["uid"], resource_version=metadata["resourceVersion"], mode=Mode.WRITE)
    with pytest.raises(Absent):
        admin.get(REF)


def test_dry_runs_leave_no_trace(admin: Cluster) -> None:
    would_be = admin.apply(POLICY, ownership=Conflicts.REFUSE, mode=Mode.DRY_RUN)
    assert would_be["spec"]["reservedResources"] == {"cpu": "1"}
    with pytest.raises(Absent):
        admin.get(REF)

    created = admin.create(POLICY)
    metadata = created["metadata"]
    admin.delete(REF, uid=metadata["uid"], resource_version=metadata["resourceVersion"], mode=Mode.DRY_RUN)
    assert admin.get(REF) == created


def test_a_field_of_somebody_else_is_a_conflict_until_forced(admin: Cluster, somebody: Client) -> None:
    admin.apply(POLICY, ownership=Conflicts.REFUSE, mode=Mode.WRITE)
    somebody.merge_patch(f"{POLICIES}/default", {"spec": {"reservedResources": {"cpu": "2"}}})

    for mode in Mode:
        with pytest.raises(Conflict) as caught:
            admin.apply(POLICY, ownership=Conflicts.REFUSE, mode=mode)
        ((field, message),) = caught.value.causes
        assert field == ".spec.reservedResources.cpu"
        assert 'conflict with "' in message

    forced = admin.apply(POLICY, ownership=Conflicts.FORCE, mode=Mode.WRITE)
    assert forced["spec"]["reservedResources"] == {"cpu": "1"}


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda c: c.apply(named("default", foo=1), ownership=Conflicts.FORCE, mode=Mode.WRITE), ".spec.foo"),
        (lambda c: c.apply(named("default", foo=1), ownership=Conflicts.FORCE, mode=Mode.DRY_RUN), ".spec.foo"),
        (
            lambda c: c.apply(named("default", balloonTypes="x"), ownership=Conflicts.FORCE, mode=Mode.WRITE),
            ".spec.balloonTypes",
        ),
        (lambda c: c.create(named("other", foo=1)), "spec.foo"),
        (lambda c: c.patch(REF, [{"op": "add", "path": "/spec/foo", "value": 1}]), "spec.foo"),
    ],
    ids=["apply", "dry run", "wrong type", "create", "patch"],
)
def test_a_field_that_the_schema_does_not_know_is_rejected_with_its_path(
    call: Callable[[Cluster], Manifest], field: str, admin: Cluster
) -> None:
    before = admin.create(POLICY)

    with pytest.raises(Rejected) as caught:
        call(admin)

    assert [cause[0] for cause in caught.value.causes] == [field]
    assert len(str(caught.value)) < 300
    assert admin.get(REF) == before


def test_a_stale_patch_is_a_conflict_and_a_fresh_one_is_written_by_our_manager(admin: Cluster) -> None:
    version = admin.create(POLICY)["metadata"]["resourceVersion"]
    guarded = [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/spec/reservedResources/cpu", "value": "3"},
    ]

    assert admin.patch(REF, guarded)["spec"]["reservedResources"] == {"cpu": "3"}
    with pytest.raises(Conflict):
        admin.patch(REF, guarded)


@pytest.mark.parametrize("wrong", ["uid", "resourceVersion"])
def test_an_object_that_is_not_the_one_that_was_seen_is_not_deleted(wrong: str, admin: Cluster) -> None:
    metadata = {**admin.create(POLICY)["metadata"], wrong: "1"}

    with pytest.raises(Conflict):
        admin.delete(REF, uid=metadata["uid"], resource_version=metadata["resourceVersion"], mode=Mode.WRITE)

    assert admin.get(REF)


def test_creating_twice_is_a_conflict(admin: Cluster) -> None:
    admin.create(POLICY)

    with pytest.raises(Conflict) as caught:
        admin.create(POLICY)

    assert caught.value.reason == "AlreadyExists"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda c: c.get(REF), Absent),
        (lambda c: c.create({**POLICY, "metadata": {"name": "x", "namespace": "nowhere"}}), Absent),
        (lambda c: c.list("topology.node.k8s.io/v1alpha2", "NodeResourceTopology"), Unserved),
        (lambda c: c.list("config.nri/v1", "BalloonsPolicy"), Unserved),
        (lambda c: c.list("config.nri/v1alpha1", "NoSuchPolicy"), Unserved),
        (lambda c: c.list("example.com/v1", "Widget"), Unserved),
        (lambda c: c.get(Ref("t", "v1", "Node", "", "x")), Absent),
    ],
    ids=["object", "namespace", "group", "version", "kind", "unknown group", "node"],
)
def test_an_absent_object_is_told_from_an_unserved_kind(
    call: Callable[[Cluster], object], expected: type[Absent], admin: Cluster
) -> None:
    with pytest.raises(Absent) as caught:
        call(admin)

    assert type(caught.value) is expected


def test_kinds_beyond_the_table_are_discovered(admin: Cluster) -> None:
    leases = admin.list("coordination.k8s.io/v1", "Lease", namespace="kube-system").items

    assert {lease["kind"] for lease in leases} <= {"Lease"}
    assert admin.list("storage.k8s.io/v1", "StorageClass").items == ()


def test_a_viewer_reads_and_writes_nothing_not_even_dry(open_shoot: Open, somebody: Client) -> None:
    somebody.post(POLICIES, POLICY)
    viewer = open_shoot(Access.VIEWER)

    assert viewer.get(REF)["spec"]["reservedResources"] == {"cpu": "1"}
    for mode in Mode:
        with pytest.raises(Forbidden):
            viewer.apply(POLICY, ownership=Conflicts.REFUSE, mode=mode)


def test_lists_longer_than_a_page_are_complete(admin: Cluster, somebody: Client) -> None:
    for number in range(501):
        somebody.post(
            "/api/v1/namespaces/default/configmaps", {"metadata": {"name": f"c{number}", "labels": {"many": "yes"}}}
        )

    items = admin.list("v1", "ConfigMap", label_selector="many=yes").items

    assert len({item["metadata"]["name"] for item in items}) == 501


def test_a_shoot_kubeconfig_says_when_it_expires(garden: Garden, gardener: Cluster) -> None:
    garden.shoot_server("one")

    issued = gardener.request_kubeconfig(f"{garden.namespace}/one", Access.ADMIN, 600)

    assert issued.server_time is not None
    assert 595 <= (issued.expires - issued.server_time).total_seconds() <= 605


@pytest.mark.parametrize(
    ("name", "seconds", "expected"),
    [("one", 599, Rejected), ("nope", 600, Absent), ("one", 600, ApiError)],
    ids=["too short", "no shoot", "no address yet"],
)
def test_a_shoot_kubeconfig_that_is_not_issued_is_an_error(
    name: str, seconds: int, expected: type[ApiError], garden: Garden, gardener: Cluster
) -> None:
    with pytest.raises(expected):
        gardener.request_kubeconfig(f"{garden.namespace}/{name}", Access.ADMIN, seconds)


def test_the_garden_guards_its_shoots(garden: Garden, gardener: Cluster) -> None:
    ref = Ref(GARDEN, "core.gardener.cloud/v1beta1", "Shoot", garden.namespace, "one")
    before = gardener.get(ref)
    stale = {"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}

    with pytest.raises(Conflict):
        gardener.patch(ref, [stale, {"op": "add", "path": "/metadata/labels/x", "value": "y"}])
    with pytest.raises(Rejected, match="non-registered extension"):
        gardener.patch(ref, [{"op": "add", "path": "/spec/extensions", "value": [{"type": "nope"}]}])
    with pytest.raises(Rejected) as caught:
        gardener.patch(ref, [{"op": "add", "path": "/spec/foo", "value": 1}])

    assert caught.value.causes == (("spec.foo", 'unknown field "spec.foo"'),)
    assert gardener.get(ref) == before


def test_requests_carry_our_name(garden: Garden, gardener: Cluster) -> None:
    gardener.list("core.gardener.cloud/v1beta1", "Shoot", namespace=garden.namespace)

    assert any("shoots" in str(request) for request in garden.requests("shoot-gitops/"))
