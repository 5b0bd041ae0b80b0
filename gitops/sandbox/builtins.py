"""The built-in kinds of a shoot and of the garden, with their small rules."""

import base64
import re
from collections.abc import Iterable

from gitops.sandbox import pods, shoots
from gitops.sandbox.kinds import Column, Resource, Rules, resource, spec_changed
from gitops.sandbox.validation import SUBDOMAIN
from gitops.sandbox.wire import Cause, Manifest, invalid_value

CRDS = "customresourcedefinitions"
GARDENER = "core.gardener.cloud"


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


def _default_registration(manifest: Manifest) -> None:
    for item in manifest.get("spec", {}).get("resources") or ():
        item.setdefault("primary", True)
        item.setdefault("reconcileTimeout", "3m0s")
    deployment = manifest.get("spec", {}).get("deployment")
    if deployment is not None:
        deployment.setdefault("policy", "OnDemand")


def _validate_crd(manifest: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    spec = manifest["spec"]
    wanted = f"{spec['names']['plural']}.{spec['group']}"
    if manifest["metadata"]["name"] != wanted:
        yield invalid_value("metadata.name", manifest["metadata"]["name"], 'must be spec.names.plural+"."+spec.group')
    if not re.fullmatch(SUBDOMAIN, spec["group"]):
        yield invalid_value("spec.group", spec["group"], "must be a lowercase RFC 1123 subdomain")


def _default_crd(manifest: Manifest) -> None:
    names = manifest.setdefault("spec", {}).setdefault("names", {})
    kind = names.get("kind", "")
    names.setdefault("singular", kind.lower())
    names.setdefault("listKind", f"{kind}List")
    manifest["spec"].setdefault("conversion", {"strategy": "None"})


def _prepare_crd(manifest: Manifest, old: Manifest | None) -> None:
    if old is None:
        stored = [version["name"] for version in manifest["spec"]["versions"] if version.get("storage")]
        names = {"plural": "", "kind": ""}
        manifest["status"] = {"conditions": None, "acceptedNames": names, "storedVersions": stored}


def _age_free(path: str) -> Column:
    """Return a column that shows one field."""
    *_, last = path.split(".")

    def cell(manifest: Manifest) -> object:
        value: object = manifest
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        return "" if value is None else value

    return Column(last[:1].upper() + last[1:], cell)


def _data_count(manifest: Manifest) -> object:
    return len(manifest.get("data") or {}) + len(manifest.get("binaryData") or {})


def _node_ready(manifest: Manifest) -> object:
    conditions = manifest.get("status", {}).get("conditions") or ()
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return "Ready" if ready else "NotReady"


def _ready_ratio(manifest: Manifest) -> object:
    statuses = manifest.get("status", {}).get("containerStatuses") or ()
    ready = sum(1 for item in statuses if item.get("ready"))
    return f"{ready}/{len(manifest['spec']['containers'])}"


_GENERATED = Rules(raises_generation=spec_changed)
_DATA = Column("Data", _data_count)
_STATUS = ("status",)
_EXTENSIONS = "apiextensions.k8s.io"
_RBAC = "rbac.authorization.k8s.io"


def common() -> tuple[Resource, ...]:
    """Return what every cluster serves."""
    return (
        resource(
            "",
            "v1",
            "Namespace",
            namespaced=False,
            subresources=_STATUS,
            short_names=("ns",),
            columns=(Column("Status", lambda m: m.get("status", {}).get("phase", "")),),
            rules=Rules(default=_default_namespace, prepare=_prepare_namespace),
        ),
        resource(
            "",
            "v1",
            "Node",
            namespaced=False,
            subresources=_STATUS,
            short_names=("no",),
            columns=(Column("Status", _node_ready), Column("Roles", lambda _m: "<none>")),
        ),
        resource("", "v1", "ConfigMap", short_names=("cm",), columns=(_DATA,), rules=Rules(validate=_validate_data)),
        resource(
            "",
            "v1",
            "Secret",
            columns=(_age_free("type"), _DATA),
            rules=Rules(default=_default_secret, validate=_validate_data),
        ),
        resource(
            "",
            "v1",
            "Pod",
            subresources=_STATUS,
            short_names=("po",),
            categories=("all",),
            columns=(
                Column("Ready", _ready_ratio),
                Column("Status", lambda m: m.get("status", {}).get("phase", "")),
            ),
            rules=Rules(default=lambda m: pods.default_pod(m.setdefault("spec", {})), validate=pods.validate_pod),
        ),
        resource("", "v1", "Event", short_names=("ev",), columns=(_age_free("reason"), _age_free("message"))),
        resource("", "v1", "ServiceAccount", short_names=("sa",)),
        resource(
            "apps",
            "v1",
            "DaemonSet",
            subresources=_STATUS,
            short_names=("ds",),
            categories=("all",),
            columns=(_age_free("status.desiredNumberScheduled"), _age_free("status.numberReady")),
            blind_update=True,
            rules=Rules(
                default=pods.default_daemon_set,
                prepare=pods.prepare_daemon_set,
                raises_generation=spec_changed,
                validate=pods.validate_daemon_set,
            ),
        ),
        resource("coordination.k8s.io", "v1", "Lease"),
        resource(_RBAC, "v1", "ClusterRole", namespaced=False),
        resource(_RBAC, "v1", "ClusterRoleBinding", namespaced=False),
        resource(_RBAC, "v1", "Role"),
        resource(_RBAC, "v1", "RoleBinding"),
        resource(
            _EXTENSIONS,
            "v1",
            "CustomResourceDefinition",
            CRDS,
            namespaced=False,
            subresources=_STATUS,
            short_names=("crd", "crds"),
            rules=Rules(
                default=_default_crd,
                prepare=_prepare_crd,
                raises_generation=spec_changed,
                validate=_validate_crd,
            ),
        ),
    )


def gardener() -> tuple[Resource, ...]:
    """Return what a garden serves besides."""
    plain = Rules(raises_generation=spec_changed)
    return (
        shoots.shoot_resource(),
        resource(
            GARDENER,
            "v1beta1",
            "Project",
            namespaced=False,
            subresources=_STATUS,
            rules=plain,
            columns=(_age_free("spec.namespace"),),
        ),
        resource(
            GARDENER,
            "v1beta1",
            "CloudProfile",
            namespaced=False,
            short_names=("cprofile", "cpfl"),
            rules=plain,
            columns=(_age_free("spec.type"),),
        ),
        resource(GARDENER, "v1beta1", "Seed", namespaced=False, subresources=_STATUS, rules=plain),
        resource(
            GARDENER,
            "v1beta1",
            "ControllerRegistration",
            namespaced=False,
            short_names=("ctrlreg",),
            rules=Rules(default=_default_registration, raises_generation=spec_changed),
        ),
        resource(
            GARDENER,
            "v1beta1",
            "ControllerDeployment",
            namespaced=False,
            short_names=("ctrldeploy",),
            rules=plain,
        ),
        resource(
            GARDENER,
            "v1",
            "ControllerDeployment",
            namespaced=False,
            short_names=("ctrldeploy",),
            storage_version="v1beta1",
            rules=plain,
        ),
        resource(
            GARDENER,
            "v1beta1",
            "ControllerInstallation",
            namespaced=False,
            short_names=("ctrlinst",),
            subresources=_STATUS,
            rules=plain,
        ),
        resource(GARDENER, "v1beta1", "InternalSecret", rules=Rules(default=_default_secret)),
        resource("security.gardener.cloud", "v1alpha1", "CredentialsBinding"),
    )
