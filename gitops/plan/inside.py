"""The changes of the objects inside one shoot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import ADOPTABLE, Overlay
from gitops.errors import Absent, ApiError, Violation
from gitops.manifest import Manifest, Path, Ref, get, pointer
from gitops.nri.chart_owned import WAYS_OUT, is_left_alone
from gitops.nri.resolution import Stage, is_policy, stage
from gitops.nri.schema.pruning import pruned_by_crd
from gitops.ownership import FIELD_MANAGER
from gitops.ownership.applyset import applyset_id, member_labels, set_of
from gitops.ownership.managers import Writer, owned_paths, writer_of
from gitops.ownership.merge import ABSENT
from gitops.ownership.owners import Tool, foreign_owner
from gitops.plan.changes import Action, Change, FieldChange
from gitops.plan.covering import is_covered
from gitops.plan.diff import comparable, differences
from gitops.plan.ignoring import with_live_values
from gitops.plan.masking import masked
from gitops.plan.observed import Inside
from gitops.plan.policy_effect import with_effect
from gitops.plan.policy_scene import PolicyScene, policy_scene

_PEOPLE = "kubectl"
"""Managers of this name and `kubectl-*` are people: what they changed is drift, not a claim."""
_FIRST = ("Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "Role", "ConfigMap", "Secret")


@dataclass(frozen=True)
class InsidePlan:
    """What happens inside one shoot."""

    changes: tuple[Change, ...]
    """Objects in the order of writing, then what is pruned."""
    problems: tuple[Violation, ...]
    """Why the run must not write at all."""


def writing_order(ref: Ref, node_waves: Sequence[Sequence[str]] = ()) -> tuple[int, int, Ref]:
    """What others need first, then everything else, then policies: `default`, `group.*`, `node.*`.

    A policy is felt by the nodes that use it and by no other, as nothing falls through. So node waves may put the
    policy of one node, or of one group, before all others.
    """
    if _is_policy(ref):
        return (2, _node_wave(ref.name, node_waves) * len(Stage) + int(stage(ref.name)), ref)
    return (0, _FIRST.index(ref.kind), ref) if ref.kind in _FIRST else (1, 0, ref)


def _node_wave(name: str, node_waves: Sequence[Sequence[str]]) -> int:
    matching = (at for at, globs in enumerate(node_waves) if any(fnmatchcase(name, glob) for glob in globs))
    return next(matching, len(node_waves))


def to_apply(desired: DesiredShoot, overlay: Overlay, live: Mapping[Ref, Manifest]) -> dict[Ref, Manifest]:
    """The manifests as they are applied: members of the overlay's set, ignored fields left as they are.

    A new object has its ignored fields from git.
    """
    manifests = {
        ref: with_live_values(manifest, live[ref], desired.ignored) if ref in live else manifest
        for ref, manifest in desired.objects.items()
    }
    ordered = sorted(manifests, key=lambda ref: writing_order(ref, overlay.node_waves))
    return {ref: _member(manifests[ref], overlay.name) for ref in ordered}


def suspects(desired: DesiredShoot, overlay: Overlay, inside: Inside) -> dict[Ref, Manifest]:
    """What must be applied as a dry run to know what it changes, or whether the shoot accepts it."""
    return {
        ref: manifest
        for ref, manifest in to_apply(desired, overlay, inside.objects).items()
        if (ref.api_version, ref.kind) not in inside.unserved and not _settled(manifest, inside.objects.get(ref))
    }


def pending_policies(desired: DesiredShoot, overlay: Overlay, live: Mapping[Ref, Manifest]) -> tuple[Ref, ...]:
    """The declared policies that are not as they should be, whether or not the shoot serves them yet."""
    manifests = to_apply(desired, overlay, live)
    return tuple(ref for ref, one in manifests.items() if is_policy(one) and not _settled(one, live.get(ref)))


def plan_inside(
    desired: DesiredShoot, overlay: Overlay, inside: Inside, scene: PolicyScene | None = None
) -> InsidePlan:
    """Every object that is declared for the shoot, and every one that is ours and declared no longer.

    Args:
        desired: what is declared.
        overlay: which objects are ours, and whose may be taken over.
        inside: what the shoot holds.
        scene: the nodes and their policies; None to look at the live nodes alone.
    """
    scene = scene or policy_scene(desired, overlay, inside, None)
    changes: list[Change] = []
    problems: list[Violation] = []
    for ref, manifest in to_apply(desired, overlay, inside.objects).items():
        if obstacle := _obstacle(ref, manifest, overlay, inside):
            changes.append(Change(ref, Action.SKIPPED, reason=obstacle.message))
            problems.append(_problem(desired, ref, obstacle))
        else:
            changes.append(_change(ref, manifest, inside))
    changes += _prunes(desired, overlay, inside)
    felt = (with_effect(change, scene) if _is_policy(change.ref) else change for change in changes)
    return InsidePlan(tuple(felt), tuple(problems))


@dataclass(frozen=True)
class _Obstacle:
    """Why one object, and so the run, must not be written."""

    rule: str
    message: str


def _problem(desired: DesiredShoot, ref: Ref, obstacle: _Obstacle) -> Violation:
    origin = desired.origins[ref]
    where = f"{ref} in shoot {desired.target}"
    return Violation(origin.file, origin.line, where, obstacle.rule, obstacle.message)


def _member(manifest: Manifest, overlay: str) -> Manifest:
    metadata = manifest["metadata"]
    labels = {**(metadata.get("labels") or {}), **member_labels(overlay)}
    return {**manifest, "metadata": {**metadata, "labels": labels}}


def _settled(manifest: Manifest, live: Manifest | None) -> bool:
    return live is not None and is_covered(manifest, live, owned_paths(live, FIELD_MANAGER, "Apply"))


def _changes_nothing(live: Manifest, outcome: Manifest) -> bool:
    """Whether a dry run left fields and owners as they are, such as where the server rewrites what it is given."""
    owned = (owned_paths(manifest, FIELD_MANAGER, "Apply") for manifest in (live, outcome))
    return not any(differences(comparable(live), comparable(outcome))) and len(set(owned)) == 1


def _obstacle(ref: Ref, manifest: Manifest, overlay: Overlay, inside: Inside) -> _Obstacle | None:
    live = inside.objects.get(ref)
    outcome = inside.dry_runs.get(ref)
    if live is not None and (claim := foreign_claim(live, overlay)):
        return _Obstacle("foreign-owner", claim)
    if isinstance(outcome, ApiError) and not isinstance(outcome, Absent):
        return _Obstacle(
            "refused-by-the-shoot", "; ".join((_refusal(outcome), *_unknown_fields(ref, manifest, inside)))
        )
    if live is None or not isinstance(outcome, Mapping):
        return None
    for path, _, _ in differences(comparable(live), comparable(outcome)):
        writer = writer_of(live, path)
        if writer is not None and _claims(writer):
            claim = f"{pointer(path)} was applied by field manager {writer.manager} at {writer.time}"
            return _Obstacle("field-conflict", f"{claim}: declare the field in one place only")
    return None


def _change(ref: Ref, manifest: Manifest, inside: Inside) -> Change:
    live = inside.objects.get(ref)
    outcome = inside.dry_runs.get(ref)
    becomes = outcome if isinstance(outcome, Mapping) else manifest
    if live is None:
        absent = isinstance(outcome, Absent) or (ref.api_version, ref.kind) in inside.unserved
        reason = f"once the shoot serves it: {outcome or ref.kind + ' is unknown there'}" if absent else ""
        return Change(ref, Action.CREATED, _creation(ref, becomes), reason=reason)
    if _settled(manifest, live) or (isinstance(outcome, Mapping) and _changes_nothing(live, outcome)):
        return Change(ref, Action.UNCHANGED)
    fields = tuple(
        _field(ref, path, here, there, writer_of(live, path))
        for path, here, there in differences(comparable(live), comparable(becomes))
    )
    return Change(ref, Action.CONFIGURED, fields, reason="" if fields else "takes ownership; no field changes")


def _field(ref: Ref, path: Path, here: Any, there: Any, writer: Writer | None) -> FieldChange:
    return FieldChange(
        path,
        masked(ref.kind, path, here),
        masked(ref.kind, path, there),
        manager=writer.manager if writer else "",
        since=writer.time if writer else "",
    )


def _claims(writer: Writer) -> bool:
    """Whether a field was applied by another declarative tool, which would apply it again."""
    person = writer.manager == _PEOPLE or writer.manager.startswith(f"{_PEOPLE}-")
    return writer.operation == "Apply" and writer.manager != FIELD_MANAGER and not person


def _creation(ref: Ref, manifest: Manifest) -> tuple[FieldChange, ...]:
    declared = {
        key: value for key, value in comparable(manifest).items() if key not in {"apiVersion", "kind", "metadata"}
    }
    return tuple(
        FieldChange((key,), ABSENT, masked(ref.kind, (key,), value), manager="") for key, value in declared.items()
    )


def _refusal(error: ApiError) -> str:
    causes = "; ".join(f"{field}: {message}" if field else message for field, message in error.causes)
    return f"the shoot's API server refuses it: {causes or error}"


def _unknown_fields(ref: Ref, manifest: Manifest, inside: Inside) -> tuple[str, ...]:
    """Of a policy that is refused: which fields its CRD does not know, and which release brought them."""
    definitions = inside.surroundings.definitions if inside.surroundings else {}
    definition = definitions.get((ref.api_version, ref.kind))
    return tuple(one.message for one in pruned_by_crd(manifest, definition)) if definition else ()


def foreign_claim(live: Manifest, overlay: Overlay) -> str:
    """Why an object is not ours to write, and what to do about it; empty where it is."""
    owner = foreign_owner(live, applyset=applyset_id(overlay.name))
    if owner is None or owner.tool in overlay.adopt:
        return ""
    if owner.tool is Tool.GARDENER and is_left_alone(live):
        return ""
    if owner.tool is Tool.GARDENER and is_policy(live):
        return f"{owner.claim}: {WAYS_OUT}"
    remedy = "remove it there"
    if owner.tool in ADOPTABLE:
        remedy += f", or let this overlay take it over (spec.adopt: [{owner.tool.value}])"
    return f"{owner.claim}: {remedy}"


def _is_policy(ref: Ref) -> bool:
    return is_policy({"apiVersion": ref.api_version, "kind": ref.kind})


def _prunes(desired: DesiredShoot, overlay: Overlay, inside: Inside) -> Iterator[Change]:
    declared = {ref.identity for ref in desired.objects}
    ours = applyset_id(overlay.name)
    for ref in sorted(inside.objects, key=writing_order, reverse=True):
        live = inside.objects[ref]
        gone = ref.identity not in declared and get(live, "metadata", "deletionTimestamp") is None
        if gone and set_of(live) == ours:
            yield Change(ref, Action.PRUNED, reason="declared no longer")
