"""What the fields of a Shoot mean for ownership: keyed lists, equality, fields that Gardener moves.

Rules are those of gardener/gardener v1.149: types in pkg/apis/core/v1beta1/types_shoot.go, defaults and
mutation in plugin/pkg/shoot and pkg/controllermanager/controller/shoot/maintenance.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gitops.manifest import Element, Manifest, Path, get
from gitops.ownership.equality import same, same_duration, same_quantity, same_text
from gitops.ownership.lists import KeyedList, ListKeys
from gitops.ownership.merge import ABSENT, MergeRules

SHOOT_LISTS: ListKeys = {
    ("spec", "accessRestrictions"): KeyedList("name"),
    ("spec", "extensions"): KeyedList("type"),
    ("spec", "resources"): KeyedList("name", defined_by=("resourceRef",)),
    ("spec", "tolerations"): KeyedList("key"),
    ("spec", "kubernetes", "kubeAPIServer", "admissionPlugins"): KeyedList("name"),
    ("spec", "provider", "workers"): KeyedList("name", defined_by=("machine", "type")),
    ("spec", "provider", "workers", "cri", "containerRuntimes"): KeyedList("type"),
    ("spec", "provider", "workers", "dataVolumes"): KeyedList("name", defined_by=("size",)),
}
"""Lists whose elements have a unique key by validation, whatever their list type says to an API server."""

_QUANTITIES = re.compile(
    r"/(kubeReserved|evictionHard|evictionSoft|evictionMinimumReclaim)/[^/]+$"
    r"|/(volume|dataVolumes/[^/]+)/size$|/containerLogMaxSize$"
)
_DURATIONS = re.compile(
    r"(Period|Timeout|Duration|Interval|Delay(After[A-Z][a-z]+)?|Age|TTL|Time|Threshold|HalfLife|Expiration|Stabilization"
    r"|evictionSoftGracePeriod/.+)$"
)
_TEXTS = re.compile(r"/(maxSurge|maxUnavailable)$")
_VERSIONS = re.compile(r"^/spec/(kubernetes|provider/workers/[^/]+/(machine/image|kubernetes))/version$")
_OPAQUE = re.compile(r"/(providerConfig|infrastructureConfig|controlPlaneConfig)(/|$)")
_RELEASED = re.compile(
    r"^/spec/(region|cloudProfile(Name)?|(secret|credentials)BindingName|seedName|schedulerName|purpose|networking)(/|$)"
    r"|^/spec/(kubernetes/version|provider/type|maintenance/timeWindow|dns/domain|controlPlane/highAvailability)(/|$)"
    r"|^/spec/provider/workers/[^/]+/(machine|minimum|maximum|maxSurge|maxUnavailable|cri|volume|zones)(/|$)"
)
_SECRET_BINDING = ("spec", "secretBindingName")
"""Must go in the very write that sets `credentialsBindingName` (gardener pkg/api/core/validation/shoot.go)."""
_VERSION = re.compile(r"^v?(\d+)(?:\.(\d+))?(?:\.(\d+)(?:[-+].*)?)?$")


def shoot_rules(declared: Manifest, ignored: Callable[[Path], str]) -> MergeRules:
    """The rules for merging one Shoot.

    Args:
        declared: the Shoot as git declares it.
        ignored: why the overlay leaves a path alone, or empty.
    """
    scheduled = bool(get(declared, "spec", "hibernation", "schedules"))

    def keep(path: Path, live: Any, desired: Any) -> str:
        if not ignored(path) and path == _SECRET_BINDING and get(declared, "spec", "credentialsBindingName"):
            return ""
        return ignored(path) or _moved_by_gardener(path, live, desired, scheduled=scheduled)

    return MergeRules(SHOOT_LISTS, same_in_shoot, keep)


def same_in_shoot(path: Path, live: Any, desired: Any) -> bool:
    """Whether a live value means what is declared."""
    where = _plain(path)
    if live is ABSENT:
        return _means_absent(where, desired)
    if desired == {}:
        return isinstance(live, dict)
    if _OPAQUE.search(where):
        return same(live, desired)
    if _VERSIONS.match(where):
        return same_text(live, desired) or _is_release_of(str(live), str(desired))
    for pattern, equal in ((_QUANTITIES, same_quantity), (_DURATIONS, same_duration), (_TEXTS, same_text)):
        if pattern.search(where):
            return equal(live, desired)
    return same(live, desired)


def _means_absent(where: str, desired: Any) -> bool:
    """What says nothing is not stored; but inside a provider's own configuration `{}` may say much."""
    if _OPAQUE.search(where):
        return False
    return desired in ({}, []) or (desired is False and where.endswith("/disabled"))


def _moved_by_gardener(path: Path, live: Any, desired: Any, *, scheduled: bool) -> str:
    if scheduled and path == ("spec", "hibernation", "enabled"):
        return "the hibernation schedules declared beside it switch it"
    if desired is ABSENT:
        return _released(path)
    if _VERSIONS.match(_plain(path)) and isinstance(live, str):
        running, wanted = _version(live), _version(str(desired))
        if running is not None and wanted is not None and running[: len(wanted)] > wanted:
            return (
                f"{desired} is behind the running {live}: Gardener's maintenance moved on, and a downgrade "
                "is refused or rolls machines back; update it in git"
            )
    return ""


def _released(path: Path) -> str:
    """A Shoot cannot be without these fields, or would get a new default: declared no longer means let go."""
    if isinstance(path[-1], str) and _RELEASED.match(_plain(path)):
        return "declared no longer; a Shoot must have it, so the live value stays"
    return ""


def _is_release_of(live: str, declared: str) -> bool:
    """`1.35` declares any patch of that minor (ShootMutator, plugin/pkg/shoot/mutator)."""
    running, wanted = _version(live), _version(declared)
    return running is not None and wanted is not None and len(wanted) < 3 and running[: len(wanted)] == wanted


def _version(text: str) -> tuple[int, ...] | None:
    match = _VERSION.match(text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else None


def _plain(path: Path) -> str:
    return "".join("/" + (step.value if isinstance(step, Element) else step) for step in path)
