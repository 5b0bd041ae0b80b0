"""What a landscape holds before the tool came: complete Shoots and everything they refer to.

Partial manifests are completed to what a real Shoot needs. Extensions that are about to be introduced are
left out; another one, with a providerConfig that refers to an entry of spec.resources, is put in.
"""

import base64
import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from gitops.sandbox import inside
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.gardenlet import conditions
from gitops.sandbox.nodes import machine_size, technical_id
from gitops.sandbox.options import Options
from gitops.sandbox.shoot_defaults import GARDENER
from gitops.sandbox.wire import Manifest

SEED = "sandbox"
FOREIGN_EXTENSION = "shoot-dns-service"
_FOREIGN_RESOURCE = "dns-credentials"
_VERSIONS = ("1.32.9", "1.33.5", "1.34.5", "1.35.2")


def completed(declared: Manifest, absent: Collection[str]) -> Manifest:
    """Return a whole Shoot for a declared one."""
    shoot = copy.deepcopy(declared)
    metadata, spec = shoot["metadata"], shoot.setdefault("spec", {})
    metadata.pop("managedFields", None)
    shoot.pop("status", None)
    if not spec.get("cloudProfileName"):
        spec.setdefault("cloudProfile", {"kind": "CloudProfile", "name": "local"})
    if not spec.get("secretBindingName"):
        spec.setdefault("credentialsBindingName", "credentials")
    spec.setdefault("region", "local")
    spec.setdefault("seedName", SEED)
    spec.setdefault("kubernetes", {}).setdefault("version", _VERSIONS[-1])
    provider = spec.setdefault("provider", {})
    provider.setdefault("type", "local")
    for worker in provider.get("workers") or ():
        worker.setdefault("machine", {}).setdefault("type", "local")
        worker.setdefault("minimum", 2)
        worker.setdefault("maximum", max(2, worker["minimum"]))
    if provider.get("workers"):
        networking = spec.setdefault("networking", {})
        networking.setdefault("type", "calico")
        for name, block in (("pods", "10.3.0.0/16"), ("services", "10.4.0.0/16"), ("nodes", "10.10.0.0/16")):
            networking.setdefault(name, block)
    _add_foreign(spec, absent)
    return shoot


def _add_foreign(spec: Manifest, absent: Collection[str]) -> None:
    kept = [item for item in spec.get("extensions") or () if item["type"] not in absent]
    if all(item["type"] != FOREIGN_EXTENSION for item in kept):
        config = {
            "apiVersion": "service.dns.extensions.gardener.cloud/v1alpha1",
            "kind": "DNSConfig",
            "providers": [{"type": "aws-route53", "secretName": _FOREIGN_RESOURCE}],
        }
        kept.insert(0, {"type": FOREIGN_EXTENSION, "providerConfig": config})
        reference = {"kind": "Secret", "apiVersion": "v1", "name": _FOREIGN_RESOURCE}
        resources = spec.setdefault("resources", [])
        if all(item["name"] != _FOREIGN_RESOURCE for item in resources):
            resources.append({"name": _FOREIGN_RESOURCE, "resourceRef": reference})
    spec["extensions"] = kept


def surroundings(shoots: Sequence[Manifest], identity: str, extensions: Iterable[str]) -> Iterator[Manifest]:
    """Yield what the garden holds besides the Shoots, in an order in which it can be created."""
    namespaces = sorted({shoot["metadata"]["namespace"] for shoot in shoots})
    for name in ("default", "kube-system", "garden", *namespaces):
        labels = {
            "gardener.cloud/role": "project",
            "project.gardener.cloud/name": name.removeprefix("garden-"),
        }
        metadata: Manifest = {"name": name, **({"labels": labels} if name in namespaces else {})}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    data = {"cluster-identity": identity}
    yield _object("v1", "ConfigMap", "cluster-identity", "kube-system", data=data)
    owner = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "admin"}
    core = f"{GARDENER}/v1beta1"
    yield _object(core, "Seed", SEED, spec={"provider": {"type": "local", "region": "local"}})
    for namespace in namespaces:
        project = namespace.removeprefix("garden-")
        yield _object(core, "Project", project, spec={"namespace": namespace, "owner": owner})
        for name in ("credentials", _FOREIGN_RESOURCE):
            secret = {"stub": base64.b64encode(b"nothing secret").decode()}
            yield _object("v1", "Secret", name, namespace, data=secret)
        binding = _object("security.gardener.cloud/v1alpha1", "CredentialsBinding", "credentials", namespace)
        reference = {"apiVersion": "v1", "kind": "Secret", "name": "credentials", "namespace": namespace}
        yield {**binding, "provider": {"type": "local"}, "credentialsRef": reference}
    for name in sorted({_profile_name(shoot) for shoot in shoots}):
        yield _profile(name, [shoot for shoot in shoots if _profile_name(shoot) == name])
    for kind in sorted({*extensions, *(item["type"] for shoot in shoots for item in shoot["spec"]["extensions"])}):
        yield from _registration(kind)


def _object(version: str, kind: str, name: str, namespace: str = "", **rest: Manifest) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def _profile_name(shoot: Manifest) -> str:
    spec = shoot["spec"]
    return str((spec.get("cloudProfile") or {}).get("name") or spec.get("cloudProfileName"))


def _profile(name: str, shoots: Sequence[Manifest]) -> Manifest:
    machines, images, versions = {"local"}, {"local": {"1.0.0"}}, set(_VERSIONS)
    for shoot in shoots:
        wanted = str(shoot["spec"]["kubernetes"]["version"])
        if wanted.count(".") == 2:
            versions.add(wanted)
        elif not any(version.startswith(f"{wanted}.") for version in versions):
            versions.add(f"{wanted}.0")
        for worker in shoot["spec"]["provider"].get("workers") or ():
            machines.add(worker["machine"]["type"])
            image = worker["machine"].get("image") or {}
            if image.get("name"):
                images.setdefault(image["name"], set()).add(image.get("version") or "1.0.0")
    spec: Manifest = {
        "type": shoots[0]["spec"]["provider"]["type"],
        "regions": [{"name": region} for region in sorted({shoot["spec"]["region"] for shoot in shoots})],
        "kubernetes": {"versions": [{"version": version} for version in sorted(versions, reverse=True)]},
        "machineImages": [
            {
                "name": image,
                "versions": [
                    {"version": version, "cri": [{"name": "containerd"}], "architectures": ["amd64"]}
                    for version in sorted(found)
                ],
            }
            for image, found in sorted(images.items())
        ],
        "machineTypes": [_machine(machine) for machine in sorted(machines)],
    }
    return _object(f"{GARDENER}/v1beta1", "CloudProfile", name, spec=spec)


def _machine(name: str) -> Manifest:
    cpu, memory = machine_size(name)
    return {"name": name, "cpu": cpu, "gpu": "0", "memory": memory, "usable": True, "architecture": "amd64"}


def _registration(kind: str) -> Iterator[Manifest]:
    core = f"{GARDENER}/v1beta1"
    deployment = _object(core, "ControllerDeployment", kind)
    yield {**deployment, "type": "helm", "providerConfig": {"chart": "", "values": {"replicaCount": 1}}}
    resources = [{"kind": "Extension", "type": kind}]
    spec: Manifest = {"deployment": {"deploymentRefs": [{"name": kind}]}, "resources": resources}
    yield _object(core, "ControllerRegistration", kind, spec=spec)


def installation(kind: str, registration: Manifest, deployment: Manifest, now: str) -> Manifest:
    """Return the healthy installation of an extension on the seed, caught up with its deployment."""
    references = {
        "seedRef": {"name": SEED, "apiVersion": f"{GARDENER}/v1beta1", "kind": "Seed"},
        "registrationRef": {"name": kind, "resourceVersion": registration["metadata"]["resourceVersion"]},
        "deploymentRef": {"name": kind, "resourceVersion": deployment["metadata"]["resourceVersion"]},
    }
    states = (("Valid", "True"), ("Installed", "True"), ("Healthy", "True"), ("Progressing", "False"))
    listed = [
        {
            "type": name,
            "status": status,
            "reason": "Sandbox",
            "message": "the sandbox says so",
            "lastTransitionTime": now,
            "lastUpdateTime": now,
        }
        for name, status in states
    ]
    found = _object(f"{GARDENER}/v1beta1", "ControllerInstallation", f"{kind}-sandbox", spec=references)
    return {**found, "status": {"conditions": listed}}


def populate(
    garden: Cluster, declared: Sequence[Manifest], options: Options, url: Callable[[str], str]
) -> Iterator[tuple[str, Manifest]]:
    """Fill a garden; yields each Shoot's `<namespace>/<name>` and the Shoot as it has settled."""
    whole = [completed(shoot, options.extensions) for shoot in declared]
    for manifest in surroundings(whole, options.identity, options.extensions):
        inside.create(garden, manifest)
    for registration in list(garden.all_of("controllerregistrations")):
        _install(garden, registration)
    settled = [_settled(garden, shoot, url) for shoot in whole]
    for shoot in settled:
        yield _name(shoot), shoot
    shoots = garden.collection(garden.resource(GARDENER, "v1beta1", "shoots"))
    for index in range(options.copies if settled else 0):
        original = settled[index % len(settled)]
        metadata = {**original["metadata"], "name": f"{original['metadata']['name']}-{index:04}"}
        metadata["uid"] = garden.new_uid()
        copied = {**original, "metadata": metadata}
        status = {
            **original["status"],
            "uid": metadata["uid"],
            "advertisedAddresses": _addresses(copied, url),
        }
        copied["status"] = {**status, "technicalID": technical_id(copied)}
        garden.store.put(shoots, copied)
        yield _name(copied), copied


def _name(shoot: Manifest) -> str:
    return f"{shoot['metadata']['namespace']}/{shoot['metadata']['name']}"


def _addresses(shoot: Manifest, url: Callable[[str], str]) -> list[Manifest]:
    return [{"name": "external", "url": url(_name(shoot))}]


def _install(garden: Cluster, registration: Manifest) -> None:
    """Install an extension on the seed."""
    kind = registration["metadata"]["name"]
    deployment = garden.find("controllerdeployments", "", kind) or {}
    made = installation(kind, registration, deployment, garden.now())
    status = {"status": made.pop("status")}
    inside.create(garden, made, "gardener-controller-manager")
    path = f"/apis/{GARDENER}/v1beta1/controllerinstallations/{made['metadata']['name']}/status"
    inside.patch(garden, path, status, "gardenlet")


def _settled(garden: Cluster, shoot: Manifest, url: Callable[[str], str]) -> Manifest:
    """Create a Shoot, let its first operation be over, and return it."""
    inside.create(garden, shoot, "gardener-dashboard")
    namespace, name = shoot["metadata"]["namespace"], shoot["metadata"]["name"]
    path = f"/apis/{GARDENER}/v1beta1/namespaces/{namespace}/shoots/{name}"
    now = garden.now()
    is_hibernated = bool((shoot["spec"].get("hibernation") or {}).get("enabled"))
    operation = {"type": "Create", "state": "Succeeded", "progress": 100, "lastUpdateTime": now}
    status = {
        "observedGeneration": 1,
        "lastOperation": {**operation, "description": "Shoot cluster has been successfully created."},
        "conditions": conditions(shoot, "True", now, "ConditionNotChecked" if is_hibernated else ""),
        "hibernated": is_hibernated,
        "gardener": {"id": "sandbox", "name": "gardenlet-sandbox", "version": "v1.149.3"},
        "technicalID": technical_id(shoot),
        "uid": (garden.find("shoots", namespace, name) or {})["metadata"]["uid"],
        "advertisedAddresses": _addresses(shoot, url),
    }
    inside.patch(garden, f"{path}/status", {"status": status}, "gardenlet")
    metadata = {
        "annotations": {"shoot.gardener.cloud/tasks": None},
        "labels": {"shoot.gardener.cloud/status": "healthy"},
        "finalizers": ["gardener"],
    }
    inside.patch(garden, path, {"metadata": metadata}, "gardenlet")
    return garden.find("shoots", namespace, name) or {}
