import pytest

from tests.control_plane.audit import Request

SHOOT = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-x/shoots/one"


@pytest.mark.parametrize(
    ("verb", "uri", "writes"),
    [
        pytest.param("get", SHOOT, False, id="get"),
        pytest.param("list", "/api/v1/nodes?limit=500", False, id="list"),
        pytest.param("patch", SHOOT, True, id="patch"),
        pytest.param("patch", f"{SHOOT}?fieldManager=gitops&dryRun=All", False, id="dry run"),
        pytest.param("create", f"{SHOOT}/adminkubeconfig", False, id="credential"),
        pytest.param("create", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", False, id="own rights"),
        pytest.param("create", "/api/v1/namespaces/kube-system/configmaps", True, id="create"),
        pytest.param("delete", "/api/v1/namespaces/kube-system/configmaps/kubeconfig", True, id="delete"),
    ],
)
def test_a_request_that_changes_something_is_a_write(verb: str, uri: str, *, writes: bool) -> None:
    assert Request(verb, uri, 200, "admin", "program/1").writes is writes
