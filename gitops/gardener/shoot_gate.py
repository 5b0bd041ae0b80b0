"""Is a Shoot what was asked for? Generic status rules are wrong for this kind; these are Gardener's.

What makes Shoots different (gardener v1.149, paths below github.com/gardener/gardener):

- gardenlet writes `status.observedGeneration` when an operation *starts*, in one update with
  `lastOperation.state: Processing` (pkg/gardenlet/controller/shoot/shoot/reconciler.go,
  `updateShootStatusOperationStart`). The generation alone proves nothing.
- On success it sets the conditions to `Progressing`, a fourth value besides True, False and Unknown, until they
  are checked again (`patchShootStatusOperationSuccess`), so a True older than the operation's end is stale.
- `lastErrors` outlive the attempt that made them until an operation succeeds; they speak about the present only
  while the state is Error or Failed.
- With `spec.maintenance.confineSpecUpdateRollout` a change of the spec leaves the generation as it is
  (pkg/apiserver/registry/core/shoot/strategy.go) and is rolled out in the maintenance window.
- Hibernated shoots report every condition True with reason `ConditionNotChecked`
  (pkg/gardenlet/controller/shoot/care/health.go).
- The label `shoot.gardener.cloud/status` says `healthy` for a Shoot that was never reconciled
  (pkg/utils/gardener/shoot_status.go); it is not read here.

`maintenance.gardener.cloud/operation` does not close the gate. It is a wish for the next window, by whomever,
says nothing about the generation that was asked for, and may stand for days; the message mentions it.
`gardener.cloud/operation` does: the apiserver takes it away at once where it can, and what stays is work ahead.

Of the constraints only `ManualInPlaceWorkersUpdated` closes the gate: while it is not True the reconciliation has
succeeded and some nodes still run the old configuration (docs/usage/shoot/shoot_status.md). The others speak of
later operations (hibernation, maintenance, rotation) or of the operators' business, and are mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gitops.gardener.error_codes import USER_ERRORS, user_errors
from gitops.gardener.times import read_time
from gitops.manifest import Manifest, get
from gitops.verdict import Status, Verdict, current, deferred, failed, in_progress

CONTROL_PLANE_CONDITIONS = (
    "APIServerAvailable",
    "ControlPlaneHealthy",
    "ObservabilityComponentsHealthy",
    "SystemComponentsHealthy",
)
"""What every Shoot must report (`GetShootConditionTypes` in pkg/utils/gardener/shoot.go)."""

NODE_CONDITION = "EveryNodeReady"
"""What a Shoot with workers must report as well."""

_OPERATION = "gardener.cloud/operation"
_MAINTENANCE_OPERATION = "maintenance.gardener.cloud/operation"
_IGNORE = "shoot.gardener.cloud/ignore"
_BLOCKING_CONSTRAINT = "ManualInPlaceWorkersUpdated"
_RECONCILING_TYPES = ("Create", "Reconcile", "Restore")
_SHOWN_ERRORS = 3


def shoot_gate(shoot: Manifest, *, changed_at: datetime | None) -> Verdict:
    """Whether Gardener has done what the Shoot's spec asks for, and the shoot is well.

    One limit: where spec changes are confined to the window, an operation that was already running when the spec
    was changed ends after the change without having seen it, and Gardener does not record when operations start.
    Whoever writes to such a Shoot must not do so while its operation is Processing.

    Args:
        shoot: The live Shoot, of any shape; what cannot be read counts as not there.
        changed_at: When our last change of its spec was made, by the server's clock and with a time zone. Used only
            where the generation cannot tell, see `confineSpecUpdateRollout`. None: we never changed it.
    """
    return (
        _deletion(shoot)
        or _observation(shoot)
        or _operation(shoot)
        or _leftovers(shoot)
        or _hibernation(shoot)
        or _window(shoot, changed_at)
        or _conditions(shoot)
        or _constraints(shoot)
        or _current(shoot)
    )


def _deletion(shoot: Manifest) -> Verdict | None:
    if since := get(shoot, "metadata", "deletionTimestamp"):
        return Verdict(Status.TERMINATING, f"the Shoot is being deleted since {since}")
    if get(shoot, "status", "lastOperation", "type") == "Delete":
        return Verdict(Status.TERMINATING, f"the shoot is being deleted: {_told(shoot)}")
    return None


def _observation(shoot: Manifest) -> Verdict | None:
    if not get(shoot, "status", "lastOperation", "state"):
        return in_progress("Gardener has never reconciled it: there is no status.lastOperation yet")
    generation = _integer(get(shoot, "metadata", "generation"))
    if generation is None:
        return Verdict(Status.UNKNOWN, "it has no metadata.generation, so nothing tells what its status is about")
    observed = _integer(get(shoot, "status", "observedGeneration"))
    if observed == generation:
        return None
    seen = "none" if observed is None else f"generation {observed}"
    ignored = get(shoot, "metadata", "annotations", _IGNORE)
    hint = f"; the annotation {_IGNORE}={ignored} may keep it from starting" if ignored else ""
    return in_progress(f"Gardener has not started on generation {generation}: it has observed {seen}{hint}")


def _operation(shoot: Manifest) -> Verdict | None:
    state = get(shoot, "status", "lastOperation", "state")
    if state == "Failed":
        return failed(
            f"{_told(shoot)}{_errors(shoot)}. Gardener does not retry by itself: once the cause is gone, a person "
            f"sets the annotation {_OPERATION}=retry, or a new spec is written"
        )
    if state == "Error":
        return _retried(shoot)
    if state in ("Processing", "Pending", "Aborted"):
        return in_progress(_told(shoot))
    if state != "Succeeded":
        return Verdict(Status.UNKNOWN, f"Gardener knows no such operation state: {_told(shoot)}")
    if get(shoot, "status", "lastOperation", "type") not in _RECONCILING_TYPES:
        return in_progress(f"{_told(shoot)}; it is done when a Reconcile or Restore has followed")
    return None


def _retried(shoot: Manifest) -> Verdict:
    errors = get(shoot, "status", "lastErrors")
    solvable = user_errors(code for error in _maps(errors) for code in _items(error.get("codes")))
    if not solvable:
        return in_progress(f"{_told(shoot)}{_errors(shoot)}. Gardener retries it")
    meaning = ", ".join(f"{code}: {USER_ERRORS[code]}" for code in solvable)
    return failed(f"{_told(shoot)}{_errors(shoot)}. Gardener retries in vain until a user solves it ({meaning})")


def _leftovers(shoot: Manifest) -> Verdict | None:
    if get(shoot, "status", "lastErrors"):
        return in_progress(f"{_told(shoot)}, and errors are still reported{_errors(shoot)}")
    if pending := get(shoot, "metadata", "annotations", _OPERATION):
        return in_progress(f"the annotation {_OPERATION}={pending} is still waiting for Gardener")
    return None


def _hibernation(shoot: Manifest) -> Verdict | None:
    if get(shoot, "spec", "hibernation", "enabled"):
        return deferred(
            "it is hibernated: its API server is off and nothing in it can be checked; "
            "wake it up (spec.hibernation.enabled: false) and run again"
        )
    if get(shoot, "status", "hibernated"):
        return in_progress("it is waking up from hibernation: status.hibernated is still true")
    return None


def _window(shoot: Manifest, changed_at: datetime | None) -> Verdict | None:
    if changed_at is None or not get(shoot, "spec", "maintenance", "confineSpecUpdateRollout"):
        return None
    ended = read_time(get(shoot, "status", "lastOperation", "lastUpdateTime"))
    if ended is not None and ended >= changed_at:
        return None
    changed = changed_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return deferred(
        f"the change of {changed} waits for its maintenance window{_window_text(shoot)}, "
        "because spec.maintenance.confineSpecUpdateRollout is true"
    )


def _window_text(shoot: Manifest) -> str:
    """Such as ` 220000+0100-230000+0100 (21:00-22:00 UTC)`; the offset is fixed, so there is one UTC time."""
    begin = get(shoot, "spec", "maintenance", "timeWindow", "begin")
    end = get(shoot, "spec", "maintenance", "timeWindow", "end")
    if begin is None or end is None:
        return ""
    try:
        moments = [datetime.strptime(f"19700102{at}", "%Y%m%d%H%M%S%z") for at in (begin, end)]
    except ValueError:
        return f" {begin}-{end}"
    opens, closes = (moment.astimezone(UTC).strftime("%H:%M") for moment in moments)
    return f" {begin}-{end} ({opens}-{closes} UTC)"


def _conditions(shoot: Manifest) -> Verdict | None:
    conditions = _items(get(shoot, "status", "conditions"))
    not_true = [c for c in conditions if not isinstance(c, Mapping) or c.get("status") != "True"]
    if not_true:
        checked_again = sorted(str(get(c, "type")) for c in not_true if get(c, "status") == "Progressing")
        bad_first = sorted((c for c in not_true if get(c, "status") != "Progressing"), key=_badness)
        texts = [_condition_text(c) for c in bad_first]
        texts += [f"still being checked: {', '.join(checked_again)}"] if checked_again else []
        return in_progress("; ".join(texts))
    reported = {str(c.get("type")): c for c in conditions}
    required = _required_conditions(shoot)
    if missing := [kind for kind in required if kind not in reported]:
        return in_progress(f"not reported yet: condition {', '.join(missing)}")
    ended = read_time(get(shoot, "status", "lastOperation", "lastUpdateTime"))
    for kind in required:
        checked = read_time(reported[kind].get("lastUpdateTime"))
        if ended and checked and checked < ended:
            return in_progress(
                f"condition {kind} is True as of {reported[kind]['lastUpdateTime']}, before the operation ended"
            )
    return None


def _badness(condition: Any) -> tuple[int, str]:
    """False before Unknown before anything else."""
    statuses = ("False", "Unknown")
    status = get(condition, "status")
    return (statuses.index(status) if status in statuses else len(statuses), _condition_text(condition))


def _required_conditions(shoot: Manifest) -> tuple[str, ...]:
    workerless = not get(shoot, "spec", "provider", "workers")
    return CONTROL_PLANE_CONDITIONS if workerless else (*CONTROL_PLANE_CONDITIONS, NODE_CONDITION)


def _constraints(shoot: Manifest) -> Verdict | None:
    for constraint in _maps(get(shoot, "status", "constraints")):
        if constraint.get("type") == _BLOCKING_CONSTRAINT and constraint.get("status") != "True":
            return in_progress(
                f"nodes still run the old configuration until somebody selects them for the in-place update: "
                f"{_condition_text(constraint, 'constraint')}"
            )
    return None


def _current(shoot: Manifest) -> Verdict:
    notes = [
        _condition_text(constraint, "constraint")
        for constraint in _maps(get(shoot, "status", "constraints"))
        if constraint.get("status") == "False"
    ]
    if later := get(shoot, "metadata", "annotations", _MAINTENANCE_OPERATION):
        notes.append(f"{_MAINTENANCE_OPERATION}={later} waits for the maintenance window")
    noted = f" (noted: {'; '.join(notes)})" if notes else ""
    return current(f"{_told(shoot)}; generation {get(shoot, 'metadata', 'generation')}, every condition is True{noted}")


def _told(shoot: Manifest) -> str:
    """The operation in Gardener's words: `Reconcile is Processing, 42 %: Waiting for machines`."""
    operation = get(shoot, "status", "lastOperation")
    kind, state = get(operation, "type") or "operation", get(operation, "state")
    progress = get(operation, "progress")
    percent = f", {progress} %" if state == "Processing" and progress is not None else ""
    description = _sentence(get(operation, "description"))
    return f"{kind} is {state}{percent}: {description}" if description else f"{kind} is {state}{percent}"


def _errors(shoot: Manifest) -> str:
    """Gardener's own error texts with their codes, after a colon; empty when there are none."""
    errors = get(shoot, "status", "lastErrors")
    texts = [f"{_sentence(error.get('description'))}{_codes(error)}" for error in _maps(errors)[:_SHOWN_ERRORS]]
    more = len(_items(errors)) - len(texts)
    texts += [f"and {more} more"] if more else []
    return f": {'; '.join(texts)}" if texts else ""


def _condition_text(condition: Any, noun: str = "condition") -> str:
    if not isinstance(condition, Mapping):
        return f"a {noun} cannot be read: {condition!r}"
    reason, message = condition.get("reason"), _sentence(condition.get("message"))
    because = f" ({reason})" if reason else ""
    told = f": {message}" if message else ""
    return f"{noun} {condition.get('type')} is {condition.get('status')}{because}{told}{_codes(condition)}"


def _codes(holder: Mapping[str, Any]) -> str:
    codes = [str(code) for code in _items(holder.get("codes"))]
    return f" [{', '.join(codes)}]" if codes else ""


def _sentence(text: Any) -> str:
    """A text that goes on: without line breaks and the closing full stop."""
    return " ".join(str(text or "").split()).rstrip(".")


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in _items(value) if isinstance(item, Mapping)]


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
