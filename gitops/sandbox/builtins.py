"""The built-in kinds of a shoot and of the garden, with their small rules."""

import base64
import copy
import re
from collections.abc import Iterable

from gitops.sandbox import pods, shoots
from gitops.sandbox.kinds import Column, Resource, Rules, at, spec_changed
from gitops.sandbox.schema import builtin
from gitops.sandbox.validation import SUBDOMAIN
from gitops.sandbox.wire import Cause, Manifest, invalid_value, required

CRDS = "customresourcedefinitions"


def _default_namespace(manifest: Manifest) -> None:
    labels = manifest["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = manifest["metadata"].get("name", "")


def _prepare_namespace(manifest: Manifest, old: Manifest | None) -> None:
    if old is None:
        manifest["spec"] = {"finalizers": ["kubernetes"]}
        manifest["status"] = {"phase": "Active"}


def _default_secret(manifest: Manifest) -> None:
    manifest.setdefault("type", "Opaque")
    for key, value in (manifest.pop("stringData", None) or {}).items():
        manifest.setdefault("data", {})[key] = base64.b64encode(value.encode()).decode()


_KEY = "[-._a-zA-Z0-9]+"
_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    f"'KEY_NAME',  or 'key-name', regex used for validation is '{_KEY}')"
)


def _validate_data(manifest: Manifest, old: Manifest | None) -> Iterable[Cause]:
    for part in ("data", "binaryData"):
        for key in manifest.get(part) or {}:
            if not re.fullmatch(_KEY, key):
                yield invalid_value(f"{part}[{key}]", key, _KEY_TEXT)
    if old and old.get("immutable"):
        for part in ("data", "binaryData", "immutable"):
            if manifest.get(part) != old.get(part):
                text = f"field is immutable when `{part if part == 'immutable' else 'immutable'}` is set"
                yield Cause(part, "FieldValueForbidden", f"Forbidden: {text}")


_UNSAID_OF_EVENTS: Manifest = {
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}


def _default_event(manifest: Manifest) -> None:
    """Go has no word for a time or a source that nobody has set, and prints them."""
    for field, value in copy.deepcopy(_UNSAID_OF_EVENTS).items():
        manifest.setdefault(field, value)


def _validate_event(manifest: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    """Follow kubernetes pkg/apis/core/validation/events.go, as far as Events of the core group go."""
    namespace = (manifest.get("involvedObject") or {}).get("namespace", "")
    own = manifest["metadata"].get("namespace", "")
    if namespace != own and not (namespace == "" and own == "default"):
        yield invalid_value("involvedObject.namespace", namespace, "does not match event.namespace")


def _validate_lease(manifest: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    """Follow kubernetes pkg/apis/coordination/validation."""
    spec = manifest.get("spec") or {}
    if spec.get("leaseDurationSeconds", 1) <= 0:
        yield invalid_value("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
    if spec.get("leaseTransitions", 0) < 0:
        text = "must be greater than or equal to 0"
        yield invalid_value("spec.leaseTransitions", spec["leaseTransitions"], text)


def _default_registration(manifest: Manifest) -> None:
    for item in manifest.get("spec", {}).get("resources") or ():
        item.setdefault("primary", True)
        item.setdefault("reconcileTimeout", "3m0s")
        if item.get("kind") == "Extension":
            before = "BeforeKubeAPIServer"
            lifecycle = {"reconcile": "AfterKubeAPIServer", "delete": before, "migrate": before}
            item.setdefault("lifecycle", lifecycle)
            item.setdefault("clusterCompatibility", ["shoot"])
    deployment = manifest.get("spec", {}).get("deployment")
    if deployment is not None:
        deployment.setdefault("policy", "OnDemand")


def _validate_crd(manifest: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    spec, name = manifest["spec"], manifest["metadata"].get("name")
    names, group = spec["names"], spec.get("group", "")
    for path, value in (
        ("spec.versions", spec.get("versions")),
        ("spec.scope", spec.get("scope")),
        ("spec.names.plural", names.get("plural")),
        ("spec.names.kind", names.get("kind")),
    ):
        if not value:
            yield required(path)
    if name != f"{names.get('plural', '')}.{group}":
        yield invalid_value("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if not re.fullmatch(SUBDOMAIN, group):
        yield invalid_value("spec.group", group, "must be a lowercase RFC 1123 subdomain")


def _default_crd(manifest: Manifest) -> None:
    names = manifest.setdefault("spec", {}).setdefault("names", {})
    kind = names.get("kind", "")
    names.setdefault("singular", kind.lower())
    names.setdefault("listKind", f"{kind}List")
    manifest["spec"].setdefault("conversion", {"strategy": "None"})


def _prepare_crd(manifest: Manifest, old: Manifest | None) -> None:
    if old is None:
        stored = [version["name"] for version in manifest["spec"].get("versions") or () if version.get("storage")]
        names = {"plural": "", "kind": ""}
        manifest["status"] = {"conditions": None, "acceptedNames": names, "storedVersions": stored}


def _data_count(manifest: Manifest) -> object:
    return len(manifest.get("data") or {}) + len(manifest.get("binaryData") or {})


def _node_status(manifest: Manifest) -> object:
    conditions = manifest.get("status", {}).get("conditions") or ()
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return "Ready" if ready else "NotReady"


def _ready_containers(manifest: Manifest) -> object:
    statuses = manifest.get("status", {}).get("containerStatuses") or ()
    ready = sum(1 for item in statuses if item.get("ready"))
    return f"{ready}/{len(manifest['spec']['containers'])}"


def _field(name: str, path: str) -> Column:
    return Column(name, lambda manifest: at(manifest, path) or "")


_COMMON = """
v1                           Namespace                cluster    namespaces ns
v1                           Node                     cluster    nodes no
v1                           ConfigMap                namespaced configmaps cm
v1                           Secret                   namespaced secrets
v1                           Pod                      namespaced pods po
v1                           Event                    namespaced events ev
v1                           ServiceAccount           namespaced serviceaccounts sa
apps/v1                      DaemonSet                namespaced daemonsets ds
coordination.k8s.io/v1       Lease                    namespaced leases
rbac.authorization.k8s.io/v1 ClusterRole              cluster    clusterroles
rbac.authorization.k8s.io/v1 ClusterRoleBinding       cluster    clusterrolebindings
rbac.authorization.k8s.io/v1 Role                     namespaced roles
rbac.authorization.k8s.io/v1 RoleBinding              namespaced rolebindings
apiextensions.k8s.io/v1      CustomResourceDefinition cluster    customresourcedefinitions crd crds
"""
_GARDENER = """
core.gardener.cloud/v1beta1         Shoot                  namespaced shoots
core.gardener.cloud/v1beta1         Project                cluster    projects
core.gardener.cloud/v1beta1         CloudProfile           cluster    cloudprofiles cprofile cpfl
core.gardener.cloud/v1beta1         Seed                   cluster    seeds
core.gardener.cloud/v1beta1         ControllerRegistration cluster    controllerregistrations ctrlreg
core.gardener.cloud/v1beta1         ControllerDeployment   cluster    controllerdeployments ctrldeploy
core.gardener.cloud/v1              ControllerDeployment   cluster    controllerdeployments ctrldeploy
core.gardener.cloud/v1beta1         ControllerInstallation cluster    controllerinstallations ctrlinst
core.gardener.cloud/v1beta1         InternalSecret         namespaced internalsecrets
security.gardener.cloud/v1alpha1    CredentialsBinding     namespaced credentialsbindings
"""

_COUNTED = Rules(raises_generation=spec_changed)
_RULES = {
    "Namespace": Rules(default=_default_namespace, prepare=_prepare_namespace),
    "ConfigMap": Rules(validate=_validate_data),
    "Lease": Rules(validate=_validate_lease),
    "Secret": Rules(default=_default_secret, validate=_validate_data),
    "InternalSecret": Rules(default=_default_secret),
    "Event": Rules(default=_default_event, validate=_validate_event),
    "Pod": Rules(default=lambda m: pods.default_pod(m.setdefault("spec", {})), validate=pods.validate_pod),
    "DaemonSet": Rules(
        default=pods.default_daemon_set,
        prepare=pods.prepare_daemon_set,
        raises_generation=spec_changed,
        validate=pods.validate_daemon_set,
    ),
    "CustomResourceDefinition": Rules(
        default=_default_crd, prepare=_prepare_crd, raises_generation=spec_changed, validate=_validate_crd
    ),
    "Shoot": shoots.RULES,
    "ControllerRegistration": Rules(default=_default_registration, raises_generation=spec_changed),
    **dict.fromkeys(("Project", "CloudProfile", "Seed", "ControllerDeployment", "ControllerInstallation"), _COUNTED),
}
_COLUMNS = {
    "Namespace": (_field("Status", "status.phase"),),
    "Node": (Column("Status", _node_status), _field("Version", "status.nodeInfo.kubeletVersion")),
    "ConfigMap": (Column("Data", _data_count),),
    "Secret": (_field("Type", "type"), Column("Data", _data_count)),
    "Pod": (Column("Ready", _ready_containers), _field("Status", "status.phase")),
    "Event": (_field("Reason", "reason"), _field("Message", "message")),
    "DaemonSet": (_field("Desired", "status.desiredNumberScheduled"), _field("Ready", "status.numberReady")),
    "Project": (_field("Namespace", "spec.namespace"),),
    "CloudProfile": (_field("Type", "spec.type"),),
    "Shoot": shoots.COLUMNS,
}
_ZERO: dict[str, Manifest] = {
    "Event": _UNSAID_OF_EVENTS,
    "DaemonSet": {"spec": {"template": {"metadata": {}, "spec": {"containers": None}}, "updateStrategy": {}}},
    "CustomResourceDefinition": {"spec": {"names": {}}},
    "Lease": {"spec": {}},
    "Shoot": {"spec": {"kubernetes": {}, "provider": {}}},
}


def common() -> tuple[Resource, ...]:
    """Return what every cluster serves."""
    return tuple(_resource(*line.split()) for line in _COMMON.strip().splitlines())


def gardener() -> tuple[Resource, ...]:
    """Return what a garden serves besides."""
    return tuple(_resource(*line.split()) for line in _GARDENER.strip().splitlines())


def _resource(api_version: str, kind: str, scope: str, plural: str, *short_names: str) -> Resource:
    group, _, version = api_version.rpartition("/")
    schema = builtin(group, version, kind)
    status = ("status",) if "status" in schema.properties else ()
    return Resource(
        group,
        version,
        kind,
        plural,
        schema,
        namespaced=scope == "namespaced",
        storage_version="v1beta1" if kind == "ControllerDeployment" else version,
        subresources=(*status, *shoots.KUBECONFIGS) if kind == "Shoot" else status,
        short_names=short_names,
        categories=("all",) if kind in {"Pod", "DaemonSet"} else (),
        columns=_COLUMNS.get(kind, ()),
        rules=_RULES.get(kind, Rules()),
        zero=_ZERO.get(kind, {}),
        blind_update=kind != "Shoot",
    )
