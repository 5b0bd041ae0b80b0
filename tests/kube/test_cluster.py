import base64
import json
from datetime import UTC, datetime

import pytest
import yaml

from gitops.errors import Absent, Conflict, CredentialsError, Rejected, Unreachable
from gitops.kube.cluster import Access, Cluster, Conflicts, Mode
from gitops.kube.resources import Resources
from gitops.kube.statuses import Unserved
from gitops.kube.transport import Request, Response
from gitops.manifest import Ref
from tests.kube.in_memory import Server, answer, in_turn, listing, named, patient, refusal

POLICY = Ref("garden-local/one", "config.nri/v1alpha1", "BalloonsPolicy", "kube-system", "default")
POLICY_PATH = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies/default"
MANIFEST = {
    "apiVersion": "config.nri/v1alpha1",
    "kind": "BalloonsPolicy",
    "metadata": {"name": "default", "namespace": "kube-system"},
    "spec": {},
}


def cluster(server: Server) -> Cluster:
    return Cluster(server, target="garden-local/one", retry=patient())


def body(request: Request) -> object:
    return json.loads(request.body or b"null")


def test_a_list_names_the_kind_of_each_item_and_the_servers_time() -> None:
    server = in_turn([listing(named("a"), named("b"))])

    got = cluster(server).list("v1", "Node")

    assert [(i["apiVersion"], i["kind"], i["metadata"]["name"]) for i in got.items] == [
        ("v1", "Node", "a"),
        ("v1", "Node", "b"),
    ]
    assert got.server_time == datetime(2026, 11, 30, 6, tzinfo=UTC)
    assert server.requests == [Request("GET", "/api/v1/nodes", (("limit", "500"),))]


def test_a_list_follows_its_pages_with_the_same_selectors() -> None:
    server = in_turn([listing(named("a"), more="t1"), listing(named("b"), more="t2"), listing(named("c"))])

    got = cluster(server).list("v1", "ConfigMap", namespace="x", label_selector="a=b", field_selector="c=d")

    assert [i["metadata"]["name"] for i in got.items] == ["a", "b", "c"]
    selectors = (("limit", "500"), ("labelSelector", "a=b"), ("fieldSelector", "c=d"))
    assert [r.query for r in server.requests] == [
        selectors,
        (*selectors, ("continue", "t1")),
        (*selectors, ("continue", "t2")),
    ]
    assert {r.path for r in server.requests} == {"/api/v1/namespaces/x/configmaps"}


def test_the_moment_of_a_list_is_that_of_its_first_page() -> None:
    later = answer({"items": []}, Date="Mon, 30 Nov 2026 06:05:00 GMT")

    got = cluster(in_turn([listing(more="t"), later])).list("v1", "Node")

    assert got.server_time == datetime(2026, 11, 30, 6, tzinfo=UTC)


def test_a_list_whose_continuation_expired_starts_again_and_mixes_nothing() -> None:
    server = in_turn([listing(named("old"), more="t"), refusal(410, "expired", "Expired"), listing(named("new"))])

    got = cluster(server).list("v1", "Node")

    assert [i["metadata"]["name"] for i in got.items] == ["new"]


def test_a_list_that_keeps_expiring_is_an_error() -> None:
    server = Server(lambda r: refusal(410, "expired") if "continue" in dict(r.query) else listing(more="t"))

    with pytest.raises(Rejected) as caught:
        cluster(server).list("v1", "Node")

    assert caught.value.status == 410


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(
            lambda c: c.get(POLICY),
            Request("GET", POLICY_PATH),
            id="get",
        ),
        pytest.param(
            lambda c: c.create(MANIFEST),
            Request(
                "POST",
                POLICY_PATH.removesuffix("/default"),
                (("fieldManager", "shoot-gitops"), ("fieldValidation", "Strict")),
                json.dumps(MANIFEST, separators=(",", ":")).encode(),
                "application/json",
            ),
            id="create",
        ),
        pytest.param(
            lambda c: c.patch(POLICY, [{"op": "remove", "path": "/spec/x"}]),
            Request(
                "PATCH",
                POLICY_PATH,
                (("fieldManager", "shoot-gitops"), ("fieldValidation", "Strict")),
                b'[{"op":"remove","path":"/spec/x"}]',
                "application/json-patch+json",
            ),
            id="patch",
        ),
        pytest.param(
            lambda c: c.apply(MANIFEST, ownership=Conflicts.REFUSE, mode=Mode.WRITE),
            Request(
                "PATCH",
                POLICY_PATH,
                (("fieldManager", "shoot-gitops"), ("fieldValidation", "Strict"), ("force", "false")),
                json.dumps(MANIFEST, separators=(",", ":")).encode(),
                "application/apply-patch+yaml",
            ),
            id="apply",
        ),
        pytest.param(
            lambda c: c.apply(MANIFEST, ownership=Conflicts.FORCE, mode=Mode.DRY_RUN),
            Request(
                "PATCH",
                POLICY_PATH,
                (
                    ("fieldManager", "shoot-gitops"),
                    ("fieldValidation", "Strict"),
                    ("force", "true"),
                    ("dryRun", "All"),
                ),
                json.dumps(MANIFEST, separators=(",", ":")).encode(),
                "application/apply-patch+yaml",
            ),
            id="forced dry run",
        ),
    ],
)
def test_each_verb_is_one_request(call: object, expected: Request) -> None:
    server = in_turn([answer(MANIFEST)])

    result = call(cluster(server))  # type: ignore[operator]

    assert result == MANIFEST
    assert server.requests == [expected]


@pytest.mark.parametrize("mode", Mode)
def test_a_delete_names_exactly_what_was_seen(mode: Mode) -> None:
    server = in_turn([answer({"kind": "Status", "status": "Success"})])

    cluster(server).delete(POLICY, uid="u", resource_version="7", mode=mode)

    (request,) = server.requests
    options = body(request)
    assert isinstance(options, dict)
    assert (request.method, request.path) == ("DELETE", POLICY_PATH)
    assert options["preconditions"] == {"uid": "u", "resourceVersion": "7"}
    assert (options.get("dryRun") == ["All"]) is (mode is Mode.DRY_RUN)
    assert request.writes is (mode is Mode.WRITE)


@pytest.mark.parametrize(
    ("method", "path", "query", "writes"),
    [
        ("GET", "/api/v1/nodes", (), False),
        ("PATCH", POLICY_PATH, (), True),
        ("PATCH", POLICY_PATH, (("dryRun", "All"),), False),
        ("POST", "/x/shoots/one/adminkubeconfig", (), False),
        ("POST", "/x/shoots/one/viewerkubeconfig", (), False),
        ("POST", "/x/shoots", (), True),
        ("DELETE", POLICY_PATH, (), True),
    ],
)
def test_writes_are_told_from_reads(method: str, path: str, query: tuple[tuple[str, str], ...], writes: bool) -> None:  # noqa: FBT001 - a table's column
    assert Request(method, path, query).writes is writes


def test_names_are_escaped_in_paths() -> None:
    server = in_turn([answer({})])

    cluster(server).get(Ref("x", "rbac.authorization.k8s.io/v1", "ClusterRole", "", "a:b/../c"))

    assert server.asked == ["GET /apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab%2F..%2Fc"]


def test_an_unknown_kind_costs_one_discovery_for_its_group_version_whoever_asks() -> None:
    resources = Resources()
    found = {
        "resources": [
            {"name": "widgets", "kind": "Widget", "namespaced": True},
            {"name": "widgets/status", "kind": "Widget", "namespaced": True},
            {"name": "gadgets", "kind": "Gadget", "namespaced": False},
        ]
    }
    server = Server(lambda r: answer(found if r.path.endswith("v1") else {"items": []}))

    for target in ("a", "b"):
        shared = Cluster(server, target=target, resources=resources)
        shared.list("example.com/v1", "Widget", namespace="n")
        shared.list("example.com/v1", "Gadget")

    assert server.asked == [
        "GET /apis/example.com/v1",
        "GET /apis/example.com/v1/namespaces/n/widgets",
        "GET /apis/example.com/v1/gadgets",
        "GET /apis/example.com/v1/namespaces/n/widgets",
        "GET /apis/example.com/v1/gadgets",
    ]


def test_a_kind_that_appears_later_is_found_then() -> None:
    lists: list[Response] = [
        answer({"resources": []}),
        answer({"resources": [{"name": "widgets", "kind": "Widget", "namespaced": True}]}),
        listing(),
    ]
    one = cluster(in_turn(lists))

    with pytest.raises(Unserved, match="Widget"):
        one.list("example.com/v1", "Widget")

    assert one.list("example.com/v1", "Widget").items == ()


def test_an_unserved_group_is_an_unserved_kind() -> None:
    one = cluster(in_turn([Response(404, {}, b"404 page not found\n")]))

    with pytest.raises(Unserved):
        one.list("example.com/v1", "Widget")


def test_an_absent_object_is_not_an_unserved_kind() -> None:
    one = cluster(in_turn([refusal(404, "not found", "NotFound", name="default", kind="balloonspolicies")]))

    with pytest.raises(Absent) as caught:
        one.get(POLICY)

    assert not isinstance(caught.value, Unserved)


def test_an_answer_that_is_no_object_is_no_answer() -> None:
    one = cluster(in_turn([Response(200, {}, b"<html>secret")] * 9))

    with pytest.raises(Unreachable) as caught:
        one.get(POLICY)

    assert "secret" not in str(caught.value)


def test_a_conflict_of_an_apply_names_fields_and_managers() -> None:
    cause = {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "kubectl-edit" using config.nri/v1alpha1',
        "field": ".spec.a",
    }
    one = cluster(in_turn([refusal(409, "Apply failed with 1 conflict", "Conflict", causes=[cause])]))

    with pytest.raises(Conflict) as caught:
        one.apply(MANIFEST, ownership=Conflicts.REFUSE, mode=Mode.WRITE)

    assert caught.value.causes == ((".spec.a", 'conflict with "kubectl-edit" using config.nri/v1alpha1'),)


def issued(**status: str) -> Response:
    return answer({"status": status})


def test_a_shoot_kubeconfig_is_parsed_and_shows_nothing_of_itself() -> None:
    config = {"users": [{"name": "u", "user": {"client-key-data": "c2VjcmV0"}}]}
    encoded = base64.b64encode(yaml.safe_dump(config).encode()).decode()
    server = in_turn([issued(kubeconfig=encoded, expirationTimestamp="2026-11-30T06:10:00Z")])

    got = Cluster(server, target="garden").request_kubeconfig("garden-local/one", Access.ADMIN, 600)

    assert got.config == config
    assert got.expires == datetime(2026, 11, 30, 6, 10, tzinfo=UTC)
    assert "c2VjcmV0" not in repr(got)
    (request,) = server.requests
    assert request.path == "/apis/core.gardener.cloud/v1beta1/namespaces/garden-local/shoots/one/adminkubeconfig"
    assert body(request) == {
        "apiVersion": "authentication.gardener.cloud/v1alpha1",
        "kind": "AdminKubeconfigRequest",
        "spec": {"expirationSeconds": 600},
    }
    assert not request.writes


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"kubeconfig": "%%%", "expirationTimestamp": "2026-11-30T06:10:00Z"},
        {"kubeconfig": base64.b64encode(b"a: [secret").decode(), "expirationTimestamp": "2026-11-30T06:10:00Z"},
        {"kubeconfig": base64.b64encode(b"secret").decode(), "expirationTimestamp": "2026-11-30T06:10:00Z"},
        {"kubeconfig": base64.b64encode(b"a: 1").decode(), "expirationTimestamp": "soon"},
    ],
    ids=["nothing", "no base64", "no yaml", "no map", "no time"],
)
def test_an_unusable_shoot_kubeconfig_is_a_credentials_error(status: dict[str, str]) -> None:
    garden = Cluster(in_turn([issued(**status)]), target="garden")

    with pytest.raises(CredentialsError, match="garden-local/one") as caught:
        garden.request_kubeconfig("garden-local/one", Access.VIEWER, 600)

    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__
