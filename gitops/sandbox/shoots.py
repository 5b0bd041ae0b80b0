"""The Shoot's own rules: generation, operation annotations, labels, immutable fields, deletion.

Follows gardener pkg/apiserver/registry/core/shoot/strategy.go, pkg/api/core/validation/shoot.go and the
admission plugins ExtensionLabels, ShootMutator, ShootValidator and DeletionConfirmation.
"""

from collections.abc import Iterable, Iterator, Sequence

from gitops.sandbox import shoot_defaults
from gitops.sandbox.kinds import Column, Context, Rules, at
from gitops.sandbox.shoot_defaults import GARDENER, version_key
from gitops.sandbox.validation import label
from gitops.sandbox.wire import (
    Cause,
    Manifest,
    duplicate,
    forbidden,
    forbidden_field,
    invalid_value,
    required,
    unsupported,
)

OPERATION = "gardener.cloud/operation"
KUBECONFIGS = ("adminkubeconfig", "viewerkubeconfig")
CONFIRMATION = "confirmation.gardener.cloud/deletion"
_STATUS_LABEL = "shoot.gardener.cloud/status"
_NEEDS_RETRY = "maintenance.shoot.gardener.cloud/needs-retry-operation"
_TASKS = "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress"
_PREFIXES = ("provider", "networking", "operatingsystemconfig", "extensions", "dnsrecord", "containerruntime")
_OPERATIONS = (
    "force-in-place-update",
    "maintain",
    "reconcile",
    "retry",
    "rollout-workers",
    "rotate-ca-complete",
    "rotate-ca-start",
    "rotate-ca-start-without-workers-rollout",
    "rotate-credentials-complete",
    "rotate-credentials-start",
    "rotate-credentials-start-without-workers-rollout",
    "rotate-etcd-encryption-key",
    "rotate-etcd-encryption-key-complete",
    "rotate-etcd-encryption-key-start",
    "rotate-observability-credentials",
    "rotate-rollout-workers",
    "rotate-serviceaccount-key-complete",
    "rotate-serviceaccount-key-start",
    "rotate-serviceaccount-key-start-without-workers-rollout",
    "rotate-ssh-keypair",
)
_PURPOSES = ("development", "evaluation", "infrastructure", "production", "testing")


def mutate(new: Manifest, old: Manifest | None, context: Context) -> None:
    """Do what mutating admission does: labels by extension type, creator, completion."""
    annotations = new["metadata"].setdefault("annotations", {})
    if old is None:
        annotations["gardener.cloud/created-by"] = context.user
        annotations["shoot.gardener.cloud/tasks"] = _TASKS
    _label(new)
    shoot_defaults.complete(new, old, context)


def _label(new: Manifest) -> None:
    own = new["metadata"].get("labels") or {}
    prefixes = tuple(f"{name}.extensions.gardener.cloud/" for name in _PREFIXES)
    kept = {key: value for key, value in own.items() if not key.startswith(prefixes)}
    spec = new["spec"]
    kept[f"{prefixes[0]}{spec['provider'].get('type', '')}"] = "true"
    if spec.get("networking", {}).get("type"):
        kept[prefixes[1] + spec["networking"]["type"]] = "true"
    for worker in spec["provider"].get("workers") or ():
        if worker.get("machine", {}).get("image", {}).get("name"):
            kept[prefixes[2] + worker["machine"]["image"]["name"]] = "true"
    for extension in spec.get("extensions") or ():
        if not extension.get("disabled"):
            kept[prefixes[3] + extension.get("type", "")] = "true"
    new["metadata"]["labels"] = kept


def raises_generation(new: Manifest, old: Manifest) -> bool:
    """Tell whether a write raises the generation; consumes the operation annotation as the real one does."""
    if _spec_counts(new, old):
        return True
    if new["metadata"].get("deletionTimestamp") and not old["metadata"].get("deletionTimestamp"):
        return True
    annotations = new["metadata"].get("annotations") or {}
    last = new.get("status", {}).get("lastOperation")
    consumed = "retry" if last and last.get("state") == "Failed" else "reconcile"
    if last and annotations.get(OPERATION) == consumed:
        del annotations[OPERATION]
        return True
    return False


def _spec_counts(new: Manifest, old: Manifest) -> bool:
    if new["spec"] == old["spec"]:
        return False
    if not (new["spec"].get("maintenance") or {}).get("confineSpecUpdateRollout"):
        return True
    if (new.get("status", {}).get("lastOperation") or {}).get("state") == "Failed":
        new["metadata"].setdefault("annotations", {})[_NEEDS_RETRY] = "true"
    return _hibernates(new) != _hibernates(old)


def _hibernates(shoot: Manifest) -> bool:
    return bool((shoot["spec"].get("hibernation") or {}).get("enabled"))


def prepare(new: Manifest, _old: Manifest | None) -> None:
    """Give a Shoot the zero values its status always shows, in place."""
    empty = {
        "gardener": {"id": "", "name": "", "version": ""},
        "hibernated": False,
        "technicalID": "",
        "uid": "",
    }
    new["status"] = {**empty, **(new.get("status") or {})}


def validate(new: Manifest, old: Manifest | None) -> Iterable[Cause]:
    """Yield what makes a Shoot, or the change of one, invalid."""
    spec = new["spec"]
    yield from _validate_operation(new)
    if not (spec.get("cloudProfile") or {}).get("name"):
        yield required("spec.cloudProfile.name", "must specify a cloud profile")
    if not spec["provider"].get("type"):
        yield required("spec.provider.type", "must specify a provider type")
    if not spec["kubernetes"].get("version"):
        yield required("spec.kubernetes.version", "kubernetes version must not be empty")
    if not spec.get("region"):
        yield required("spec.region", "must specify a region")
    if spec["purpose"] not in _PURPOSES:
        yield unsupported("spec.purpose", spec["purpose"], _PURPOSES)
    yield from _validate_lists(spec)
    if old is not None:
        yield from _validate_change(new, old)


def _validate_operation(new: Manifest) -> Iterator[Cause]:
    value = (new["metadata"].get("annotations") or {}).get(OPERATION)
    for part in value.split(";") if value else ():
        if part.partition("=")[0] not in _OPERATIONS:
            yield unsupported(f"metadata.annotations[{OPERATION}]", part, _OPERATIONS)


def _validate_lists(spec: Manifest) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, extension in enumerate(spec.get("extensions") or ()):
        path = f"spec.extensions[{index}].type"
        kind = extension.get("type", "")
        if not kind:
            yield required(path, "field must not be empty")
        elif kind in seen:
            yield duplicate(path, kind)
        else:
            yield from label(path, kind)
        seen.add(kind)
    yield from _duplicates(spec.get("resources"), "spec.resources", "name")
    yield from _duplicates(spec.get("tolerations"), "spec.tolerations", "key")
    yield from _duplicates(spec["provider"].get("workers"), "spec.provider.workers", "name")
    workers = spec["provider"].get("workers") or []
    for index, worker in enumerate(workers):
        path = f"spec.provider.workers[{index}]"
        if worker["maximum"] < worker["minimum"]:
            yield forbidden_field(f"{path}.maximum", "maximum value must not be less than minimum value")
        if not worker.get("machine", {}).get("type"):
            yield required(f"{path}.machine.type", "must specify a machine type")


def _duplicates(items: Sequence[Manifest] | None, path: str, key: str) -> Iterator[Cause]:
    values = [item.get(key, "") for item in items or ()]
    for index, value in enumerate(values):
        if value in values[:index]:
            yield duplicate(f"{path}[{index}].{key}", value)


_IMMUTABLE = (
    "region",
    "provider.type",
    "networking.type",
    "networking.pods",
    "networking.services",
    "secretBindingName",
)


def _validate_change(new: Manifest, old: Manifest) -> Iterator[Cause]:
    for path in _IMMUTABLE:
        before, after = at(old["spec"], path), at(new["spec"], path)
        if before is not None and before != after:
            yield invalid_value(f"spec.{path}", after, "field is immutable")
    was, wanted = (shoot["spec"]["kubernetes"].get("version") or "0" for shoot in (old, new))
    workers = new["spec"]["provider"].get("workers") or []
    if version_key(wanted)[:2] < version_key(was)[:2]:
        text = "kubernetes version downgrade is not supported"
        yield forbidden_field("spec.kubernetes.version", text)
        for index in range(len(workers)):
            yield forbidden_field(f"spec.provider.workers[{index}].kubernetes.version", text)
    if old["spec"]["provider"].get("workers") and not workers:
        text = "cannot switch from a Shoot with workers to a workerless Shoot"
        yield forbidden_field("spec.provider.workers", text)
    if old["metadata"].get("deletionTimestamp") and new["spec"] != old["spec"]:
        changed = [name for name in new["spec"] if new["spec"][name] != old["spec"].get(name)]
        text = "cannot update shoot spec if deletion timestamp is set. Requested changes: "
        yield forbidden_field("spec", text + ", ".join(changed))


def review(new: Manifest, old: Manifest | None, context: Context) -> None:
    """Refuse machine types that the CloudProfile does not have, and extensions that nobody has registered.

    Raises:
        ApiError: 403, as admission plugins answer.
    """
    name = new["metadata"]["name"]
    if old is None or old["spec"] != new["spec"]:
        _review_extensions(new, context)
    profile = context.find("cloudprofiles", "", (new["spec"].get("cloudProfile") or {}).get("name", ""))
    types = sorted(item["name"] for item in profile["spec"].get("machineTypes") or ()) if profile else []
    for index, worker in enumerate(new["spec"]["provider"].get("workers") or ()):
        if types and worker["machine"]["type"] not in types:
            cause = unsupported(f"spec.provider.workers[{index}].machine.type", worker["machine"]["type"], types)
            raise forbidden(GARDENER, "shoots", name, f"{cause.field}: {cause.message}")


def _review_extensions(new: Manifest, context: Context) -> None:
    listed = new["spec"].get("extensions") or ()
    known = {
        item["type"]
        for registration in context.all("controllerregistrations")
        for item in registration["spec"].get("resources") or ()
        if item["kind"] == "Extension"
    }
    problems = [
        f'given Shoot uses non-registered extension type: spec.extensions[{index}].type ("{item["type"]}")'
        for index, item in enumerate(listed)
        if item["type"] not in known
    ]
    if problems:
        count = f"{len(problems)} error{'s' if len(problems) > 1 else ''} occurred:"
        text = "\n".join([count, *(f"\t* {problem}" for problem in problems)])
        raise forbidden(GARDENER, "shoots", new["metadata"]["name"], f"{text}\n\n")


def refuse_unconfirmed(shoot: Manifest) -> None:
    """Refuse to delete a Shoot that does not carry the confirmation.

    Raises:
        ApiError: 403, as the admission plugin DeletionConfirmation answers.
    """
    if (shoot["metadata"].get("annotations") or {}).get(CONFIRMATION) not in {"true", "True", "1", "t", "T"}:
        text = f'must have a "{CONFIRMATION}" annotation to delete'
        raise forbidden(GARDENER, "shoots", shoot["metadata"]["name"], text)


def _hibernation(shoot: Manifest) -> object:
    is_asleep = shoot.get("status", {}).get("hibernated", False)
    if _hibernates(shoot):
        return "Hibernated" if is_asleep else "Hibernating"
    return "Waking Up" if is_asleep else "Awake"


def _last_operation(shoot: Manifest) -> object:
    last = shoot.get("status", {}).get("lastOperation")
    return f"{last['type']} {last['state']} ({last['progress']}%)" if last else "<pending>"


def _condition(kind: str) -> Column:
    names = {"APIServerAvailable": "APIServer", "ControlPlaneHealthy": "Control"}
    names |= {"ObservabilityComponentsHealthy": "Observability", "EveryNodeReady": "Nodes"}

    def cell(shoot: Manifest) -> object:
        conditions = shoot.get("status", {}).get("conditions") or ()
        return next((item["status"] for item in conditions if item["type"] == kind), "<unknown>")

    return Column(names.get(kind, "System"), cell, priority=1)


CONDITIONS = (
    "APIServerAvailable",
    "ControlPlaneHealthy",
    "ObservabilityComponentsHealthy",
    "EveryNodeReady",
    "SystemComponentsHealthy",
)


COLUMNS = (
    Column("CloudProfile", lambda m: at(m, "spec.cloudProfile.name") or "<unknown>"),
    Column("Provider", lambda m: m["spec"]["provider"]["type"]),
    Column("Region", lambda m: m["spec"].get("region", "<unknown>")),
    Column("Seed", lambda m: m["spec"].get("seedName", "<none>"), priority=1),
    Column("K8S Version", lambda m: m["spec"]["kubernetes"]["version"]),
    Column("Hibernation", _hibernation),
    Column("Last Operation", _last_operation),
    Column("Status", lambda m: (m["metadata"].get("labels") or {}).get(_STATUS_LABEL, "<pending>")),
    Column("Purpose", lambda m: m["spec"].get("purpose", "<unknown>"), priority=1),
    Column("Gardener Version", lambda m: m["status"]["gardener"]["version"] or "<unknown>", priority=1),
    *(_condition(kind) for kind in CONDITIONS),
)
RULES = Rules(
    default=shoot_defaults.default,
    mutate=mutate,
    prepare=prepare,
    raises_generation=raises_generation,
    validate=validate,
    review=review,
    delete=refuse_unconfirmed,
)
