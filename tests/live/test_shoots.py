import pytest

from gitops.errors import Forbidden, Unreachable
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.live.shoots import Nodes, ShootObservation, observe_shoot
from gitops.manifest import Ref
from gitops.ownership.applyset import applyset_id
from tests.kube.in_memory import Server, listing, named, patient, refusal

TARGET = "garden-local/one"
POLICIES = ("config.nri/v1alpha1", "BalloonsPolicy")
TEMPLATES = ("config.nri/v1alpha1", "TemplatePolicy")
CONFIG_MAPS = ("v1", "ConfigMap")
OURS = applyset_id("dev")


def ref(kind: tuple[str, str], name: str) -> Ref:
    return Ref(TARGET, *kind, "kube-system", name)


def shoot(**answers: Response) -> Server:
    """Answers by the last part of the path; anything else is a kind that is not served."""
    return Server(
        lambda request: answers.get(request.path.rpartition("/")[2], Response(404, {}, b"404 page not found"))
    )


def observe(server: Server, *kinds: tuple[str, str], wanted: tuple[Ref, ...] = ()) -> ShootObservation:
    cluster = Cluster(server, target=TARGET, retry=patient())
    return observe_shoot(cluster, TARGET, kinds, wanted=wanted, applyset=OURS)


def test_policies_and_nodes_of_a_shoot_are_two_requests() -> None:
    server = shoot(
        balloonspolicies=listing(named("default", "kube-system"), named("foreign", "other")),
        nodes=listing(named("n1"), named("n2")),
    )

    observed = observe(server, POLICIES, wanted=(ref(POLICIES, "default"), ref(POLICIES, "new")))

    assert server.requests == [
        Request("GET", "/apis/config.nri/v1alpha1/balloonspolicies", (("limit", "500"),)),
        Request("GET", "/api/v1/nodes", (("limit", "500"),)),
    ]
    assert set(observed.objects) == {
        ref(POLICIES, "default"),
        Ref(TARGET, *POLICIES, "other", "foreign"),
    }
    assert [node["metadata"]["name"] for node in observed.nodes] == ["n1", "n2"]
    assert observed.unserved == frozenset()


def test_nodes_are_read_only_when_asked_for() -> None:
    server = shoot(balloonspolicies=listing())
    cluster = Cluster(server, target=TARGET, retry=patient())

    observed = observe_shoot(cluster, TARGET, [POLICIES], nodes=Nodes.OMIT)

    assert observed.nodes == ()
    assert len(server.requests) == 1


def test_a_kind_asked_for_twice_is_read_once() -> None:
    server = shoot(balloonspolicies=listing(), nodes=listing())

    observe(server, POLICIES, POLICIES)

    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "unserved",
    [Response(404, {}, b"404 page not found\n"), refusal(404, "the server could not find the requested resource")],
    ids=["no group", "no kind"],
)
def test_an_unserved_kind_is_told_from_an_empty_one(unserved: Response) -> None:
    observed = observe(
        shoot(balloonspolicies=listing(), templatepolicies=unserved, nodes=listing()), POLICIES, TEMPLATES
    )

    assert observed.objects == {}
    assert observed.unserved == {TEMPLATES}


def test_a_kind_that_discovery_does_not_know_is_unserved() -> None:
    assert observe(shoot(nodes=listing()), ("example.com/v1", "Widget")).unserved == {("example.com/v1", "Widget")}


@pytest.mark.parametrize(("code", "error"), [(403, Forbidden), (401, Forbidden), (503, Unreachable)])
@pytest.mark.parametrize("what", ["balloonspolicies", "nodes"])
def test_what_cannot_be_read_is_an_error_and_not_empty(what: str, code: int, error: type[Exception]) -> None:
    answers = {"balloonspolicies": listing(), "nodes": listing(), what: refusal(code)}

    with pytest.raises(error):
        observe(shoot(**answers), POLICIES)


def test_of_a_crowded_kind_only_our_members_are_listed() -> None:
    server = shoot(configmaps=listing(named("ours", "kube-system")), nodes=listing())

    observed = observe(server, CONFIG_MAPS, wanted=(ref(CONFIG_MAPS, "ours"),))

    assert set(observed.objects) == {ref(CONFIG_MAPS, "ours")}
    assert server.requests[0] == Request(
        "GET",
        "/api/v1/configmaps",
        (("limit", "500"), ("labelSelector", f"applyset.kubernetes.io/part-of={OURS}")),
    )
    assert len(server.requests) == 2


def test_of_a_crowded_kind_wanted_objects_that_are_not_ours_yet_are_read_by_name() -> None:
    server = Server(
        lambda r: {
            "/api/v1/configmaps": listing(named("ours", "kube-system")),
            "/api/v1/namespaces/kube-system/configmaps/foreign": Response(
                200,
                {},
                b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"foreign","namespace":"kube-system"}}',
            ),
            "/api/v1/nodes": listing(),
        }.get(r.path, refusal(404, "not found", "NotFound", name="new"))
    )
    wanted = tuple(ref(CONFIG_MAPS, name) for name in ("ours", "foreign", "new"))

    observed = observe(server, CONFIG_MAPS, wanted=wanted)

    assert set(observed.objects) == {ref(CONFIG_MAPS, "ours"), ref(CONFIG_MAPS, "foreign")}
    assert len(server.requests) == 4


def test_a_crowded_kind_that_is_read_by_name_only_can_be_unserved_too() -> None:
    kind = ("apps/v9", "Deployment")
    cluster = Cluster(shoot(), target=TARGET, retry=patient())

    observed = observe_shoot(cluster, TARGET, [kind], wanted=[ref(kind, "x")], nodes=Nodes.OMIT)

    assert observed.unserved == {kind}


def test_a_forbidden_object_of_a_crowded_kind_is_an_error() -> None:
    server = Server(lambda r: listing() if r.path == "/api/v1/configmaps" else refusal(403))

    with pytest.raises(Forbidden):
        observe(server, CONFIG_MAPS, wanted=(ref(CONFIG_MAPS, "x"),))
