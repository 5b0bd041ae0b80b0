"""The status of every kind that is not our subject: the rules of kstatus, which kubectl, Flux and others follow.

Source: sigs.k8s.io/cli-utils pkg/kstatus/status (status.go `Compute`, generic.go, core.go). One rule is ours: an
unschedulable Pod is Failed there once it is 15 seconds old, which needs a clock and is less than a new machine
takes to come; here it is in progress, and the gate's timeout decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.resolution import is_policy
from gitops.verdict import Status, Verdict, current, failed, in_progress

_NO_DEADLINE = 2**31 - 1
"""A Deployment without progress deadline has no Progressing condition; the API writes it as the largest int32."""


def kstatus(manifest: Manifest) -> Verdict:
    """How far a live object has come, by the generic rules and those of the built-in kinds.

    As in kstatus, an object that says nothing about itself is current; so the kinds that have gates of their own
    are refused.

    Args:
        manifest: The live object with its status, of any shape; what cannot be read counts as not there.

    Raises:
        ValueError: the kind is Gardener's or an NRI policy, and its own gate must be asked.
    """
    group, slash, _ = str(manifest.get("apiVersion")).partition("/")
    group, kind = group if slash else "", str(manifest.get("kind"))
    if group == "core.gardener.cloud" or is_policy(manifest):
        raise ValueError(f"{kind}.{group} has a gate of its own; the generic rules would open it too early")
    rule = _RULES.get((group, kind))
    return _generic(manifest) or (rule(manifest) if rule else _ready(manifest))


def _generic(manifest: Manifest) -> Verdict | None:
    if since := get(manifest, "metadata", "deletionTimestamp"):
        return Verdict(Status.TERMINATING, f"it is being deleted since {since}")
    generation, observed = get(manifest, "metadata", "generation"), get(manifest, "status", "observedGeneration")
    if generation is not None and observed is not None and observed != generation:
        return in_progress(f"generation {generation} is asked for, generation {observed} was observed")
    if reconciling := _condition(manifest, "Reconciling", "True"):
        return in_progress(_told(reconciling))
    stalled = _condition(manifest, "Stalled", "True")
    return failed(_told(stalled)) if stalled else None


def _ready(manifest: Manifest) -> Verdict:
    ready = _condition(manifest, "Ready")
    if ready and ready.get("status") != "True":
        return in_progress(_told(ready))
    return current("it is Ready" if ready else "it reports no condition that says otherwise")


def _deployment(manifest: Manifest) -> Verdict:
    progressing = _condition(manifest, "Progressing")
    if progressing and progressing.get("reason") == "ProgressDeadlineExceeded":
        return failed(_told(progressing))
    rolled_out = _whole(manifest, "spec", "progressDeadlineSeconds", default=_NO_DEADLINE) == _NO_DEADLINE or (
        get(progressing, "status") == "True" and get(progressing, "reason") == "NewReplicaSetAvailable"
    )
    wanted = _whole(manifest, "spec", "replicas", default=1)
    exist, updated = _whole(manifest, "status", "replicas"), _whole(manifest, "status", "updatedReplicas")
    up, ready = _whole(manifest, "status", "availableReplicas"), _whole(manifest, "status", "readyReplicas")
    return _first(
        (wanted > exist, f"{exist} of {wanted} replicas exist"),
        (wanted > updated, f"{updated} of {wanted} replicas are updated"),
        (exist > wanted, f"{exist - wanted} replicas are still to go"),
        (updated > up, f"{up} of {updated} replicas are available"),
        (wanted > ready, f"{ready} of {wanted} replicas are ready"),
        (not rolled_out, "its new ReplicaSet is not available"),
        (not _condition(manifest, "Available", "True"), "it is not Available"),
    ) or current(f"all {exist} replicas are available")


def _stateful_set(manifest: Manifest) -> Verdict:
    if get(manifest, "spec", "updateStrategy", "type") == "OnDelete":
        return current("its pods are updated when somebody deletes them (OnDelete)")
    wanted = _whole(manifest, "spec", "replicas", default=1)
    exist, ready = _whole(manifest, "status", "replicas"), _whole(manifest, "status", "readyReplicas")
    updated, now = _whole(manifest, "status", "updatedReplicas"), _whole(manifest, "status", "currentReplicas")
    counted = _first(
        (wanted > exist, f"{exist} of {wanted} replicas exist"),
        (wanted > ready, f"{ready} of {wanted} replicas are ready"),
        (exist > wanted, f"{exist - wanted} replicas are still to go"),
    )
    if counted:
        return counted
    partition = _whole(manifest, "spec", "updateStrategy", "rollingUpdate", "partition", default=-1)
    if partition != -1:
        share = wanted - partition
        return _first((updated < share, f"{updated} of {share} replicas of the partition are updated")) or current(
            f"{updated} replicas of the partition are updated"
        )
    revisions = get(manifest, "status", "currentRevision"), get(manifest, "status", "updateRevision")
    return _first(
        (wanted > now, f"{now} of {wanted} replicas are at the current revision"),
        (revisions[0] != revisions[1], f"revision {revisions[1]} is replacing {revisions[0]}"),
    ) or current(f"all {exist} replicas are ready")


def _replica_set(manifest: Manifest) -> Verdict:
    if failure := _condition(manifest, "ReplicaFailure", "True"):
        return in_progress(_told(failure))
    wanted, exist = _whole(manifest, "spec", "replicas", default=1), _whole(manifest, "status", "replicas")
    labelled = _whole(manifest, "status", "fullyLabeledReplicas")
    up, ready = _whole(manifest, "status", "availableReplicas"), _whole(manifest, "status", "readyReplicas")
    return _first(
        (wanted > labelled, f"{labelled} of {wanted} replicas are labelled"),
        (wanted > up, f"{up} of {wanted} replicas are available"),
        (wanted > ready, f"{ready} of {wanted} replicas are ready"),
        (exist > wanted, f"{exist - wanted} replicas are still to go"),
    ) or current(f"all {exist} replicas are available")


def _daemon_set(manifest: Manifest) -> Verdict:
    wanted = _whole(manifest, "status", "desiredNumberScheduled", default=-1)
    scheduled = _whole(manifest, "status", "currentNumberScheduled")
    updated = _whole(manifest, "status", "updatedNumberScheduled")
    up, ready = _whole(manifest, "status", "numberAvailable"), _whole(manifest, "status", "numberReady")
    observed = get(manifest, "status", "observedGeneration")
    return _first(
        (get(manifest, "metadata", "generation") is None, "it has no metadata.generation"),
        (observed is None or wanted == -1, "its controller has not looked at it yet"),
        (wanted > scheduled, f"{scheduled} of {wanted} pods are scheduled"),
        (wanted > updated, f"{updated} of {wanted} pods are updated"),
        (wanted > up, f"{up} of {wanted} pods are available"),
        (wanted > ready, f"{ready} of {wanted} pods are ready"),
    ) or current(f"all {wanted} pods are available")


def _pod(manifest: Manifest) -> Verdict:
    phase = get(manifest, "status", "phase")
    if phase in ("Succeeded", "Failed"):
        return current(f"it has run to its end: {phase}")
    if phase == "Running":
        return _running_pod(manifest)
    if phase == "Pending":
        unscheduled = _condition(manifest, "PodScheduled", "False")
        return in_progress(_told(unscheduled) if unscheduled else "it is Pending")
    if not phase:
        return in_progress("it has no phase yet")
    return Verdict(Status.UNKNOWN, f"there is no such phase of a Pod: {phase!r}")


def _running_pod(manifest: Manifest) -> Verdict:
    if _condition(manifest, "Ready", "True"):
        return current("it is Ready")
    crashing = [
        str(container.get("name"))
        for container in _maps(get(manifest, "status", "containerStatuses"))
        if get(container, "state", "waiting", "reason") == "CrashLoopBackOff"
    ]
    if crashing:
        return failed(f"containers crash again and again (CrashLoopBackOff): {', '.join(crashing)}")
    return in_progress("it is running and not Ready")


def _job(manifest: Manifest) -> Verdict:
    for done in ("Complete", "Suspended"):
        if _condition(manifest, done, "True"):
            return current(f"it is {done}")
    if failure := _condition(manifest, "Failed", "True"):
        return failed(_told(failure))
    started = get(manifest, "status", "startTime")
    return current(f"it runs since {started}") if started else in_progress("it has not started")


def _claim(manifest: Manifest) -> Verdict:
    phase = get(manifest, "status", "phase")
    return current("it is Bound") if phase == "Bound" else in_progress(f"it is not Bound but {phase or 'new'}")


def _service(manifest: Manifest) -> Verdict:
    if get(manifest, "spec", "type") == "LoadBalancer" and not get(manifest, "spec", "clusterIP"):
        return in_progress("the load balancer has no cluster IP yet")
    return current("it is there")


def _definition(manifest: Manifest) -> Verdict:
    """A CustomResourceDefinition: its API is served when it is Established."""
    if refused := _condition(manifest, "NamesAccepted", "False"):
        return failed(_told(refused))
    established = _condition(manifest, "Established")
    if get(established, "status") == "True":
        return current("it is Established")
    if established and established.get("status") == "False" and established.get("reason") != "Installing":
        return failed(_told(established))
    return in_progress("it is not Established yet")


def _there(_: Manifest) -> Verdict:
    return current("it is there")


_RULES: Mapping[tuple[str, str], Callable[[Manifest], Verdict]] = {
    ("", "ConfigMap"): _there,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Pod"): _pod,
    ("", "Secret"): _there,
    ("", "Service"): _service,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "Deployment"): _deployment,
    ("apps", "ReplicaSet"): _replica_set,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "CronJob"): _there,
    ("batch", "Job"): _job,
    ("policy", "PodDisruptionBudget"): _there,
}


def _first(*waits: tuple[bool, str]) -> Verdict | None:
    """In progress, for the first reason that holds; None when none does."""
    return next((in_progress(reason) for holds, reason in waits if holds), None)


def _told(condition: Mapping[str, Any]) -> str:
    """A condition in its controller's words: `Stalled is True (InstallFailed): no such chart`."""
    reason, message = condition.get("reason"), condition.get("message")
    because = f" ({reason})" if reason else ""
    return f"{condition.get('type')} is {condition.get('status')}{because}" + (f": {message}" if message else "")


def _condition(manifest: Manifest, kind: str, status: str | None = None) -> Mapping[str, Any] | None:
    """The first condition of this type, and of this status unless that is None; None when there is none."""
    for condition in _maps(get(manifest, "status", "conditions")):
        if condition.get("type") == kind and status in (None, condition.get("status")):
            return condition
    return None


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _whole(manifest: Manifest, *keys: str, default: int = 0) -> int:
    value = get(manifest, *keys)
    return value if isinstance(value, int) and not isinstance(value, bool) else default
