"""Plans to be told: a small one that holds a bit of everything, huge ones, and any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from gitops.manifest import GARDEN, Element, Ref
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Cost, FieldChange, Plan, ShootPlan, WavePlan

REVISION = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
DIGEST = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
DISABLED = ("spec", "extensions", Element("type", "cri-resmgr-extension"), "disabled")
BALLOONS = [
    {"name": "latency", "minCPUs": 2, "maxCPUs": 4, "namespaces": ["default", "trading"]},
    {"name": "batch", "minCPUs": 1, "maxCPUs": 16, "namespaces": ["batch"]},
]


def shoot_ref(shoot: str) -> Ref:
    """The Shoot itself, in the garden."""
    namespace, _, name = shoot.partition("/")
    return Ref(GARDEN, "core.gardener.cloud/v1beta1", "Shoot", namespace, name)


def policy_ref(shoot: str, name: str = "default") -> Ref:
    """A policy inside a shoot."""
    return Ref(shoot, "config.nri/v1alpha1", "BalloonsPolicy", "kube-system", name)


def enabling(shoot: str, since: str = "2026-11-03T10:02:00Z") -> Change:
    """Somebody disabled the extension with kubectl."""
    fields = (FieldChange(DISABLED, live=True, desired=False, manager="kubectl-patch", since=since),)
    return Change(shoot_ref(shoot), Action.CONFIGURED, fields)


def resizing(shoot: str, nodes: int = 4) -> Change:
    """A balloon grows in git."""
    grown = [{**BALLOONS[0], "minCPUs": 3}, BALLOONS[1]]
    field = FieldChange(("spec", "balloonTypes"), BALLOONS, grown, "shoot-gitops", "2026-11-01T08:00:00Z")
    reason = f"{nodes} node{'' if nodes == 1 else 's'} will use it"
    return Change(policy_ref(shoot), Action.CONFIGURED, (field,), reason=reason)


def unchanged(shoot: str) -> ShootPlan:
    """As declared."""
    changes = Change(shoot_ref(shoot), Action.UNCHANGED), Change(policy_ref(shoot), Action.UNCHANGED)
    return ShootPlan(shoot, changes)


def example_plan() -> Plan:
    """A canary with a bit of everything, a fleet of which many change alike."""
    canary, held, asleep = "garden-local/local", "garden-local/held", "garden-local/asleep"
    volume = ("spec", "provider", "workers", Element("name", "w1"), "volume", "size")
    ignored = FieldChange(
        ("spec", "hibernation", "enabled"),
        live=True,
        desired=False,
        manager="kubectl-edit",
        since="2026-11-02T20:00:00Z",
        ignored="ignored by the overlay",
    )
    shoot = Change(
        shoot_ref(canary),
        Action.CONFIGURED,
        (
            *enabling(canary).fields,
            FieldChange(volume, "50Gi", "100Gi", "gardenctl", "2026-10-30T17:45:10Z"),
            ignored,
            FieldChange(("spec", "seedName"), ABSENT, "x" * 140, ""),
        ),
        Cost.NODE_ROLL,
        "replaces the machines of worker pool w1",
    )
    group = Change(
        policy_ref(canary, "group.batch"),
        Action.CREATED,
        (FieldChange(("spec",), ABSENT, {"balloonTypes": BALLOONS, "pinCPU": True, "pinMemory": False}, ""),),
        reason="2 nodes will use it",
    )
    changes = (
        shoot,
        resizing(canary),
        group,
        Change(policy_ref(canary, "node.a"), Action.UNCHANGED),
        Change(policy_ref(canary, "old"), Action.PRUNED, reason="declared no longer"),
    )
    note = "2 of 6 nodes would have no configuration, among them node-5, node-6"
    foreign = "managed by Flux (kustomization apps): remove it there, or let this overlay take it over (spec.adopt)"
    first = WavePlan(
        "canary",
        (
            ShootPlan(canary, changes, (note,)),
            ShootPlan(
                held,
                (
                    Change(shoot_ref(held), Action.UNCHANGED),
                    Change(policy_ref(held), Action.SKIPPED, reason=foreign),
                ),
            ),
            ShootPlan(
                asleep,
                (
                    Change(shoot_ref(asleep), Action.UNCHANGED),
                    Change(policy_ref(asleep), Action.DEFERRED, reason="the shoot is hibernated"),
                ),
            ),
        ),
    )
    drifted = [f"garden-prod/s-{number:02}" for number in range(1, 13)]
    alike = (
        ShootPlan(name, (enabling(name, f"2026-11-03T10:02:{number:02}Z"), resizing(name, number + 2)))
        for number, name in enumerate(drifted)
    )
    still = (unchanged(f"garden-prod/t-{number}") for number in range(5))
    warnings = ("overlays/dev/overlay.yaml:31: wave 'late' has no shoots [empty-wave]",)
    return Plan("dev", REVISION, (first, WavePlan("fleet", (*alike, *still)), WavePlan("late", ())), warnings)


def big_plan(shoots: int) -> Plan:
    """Drift of three kinds over a whole landscape, and no two shoots written at the same time."""
    plans = []
    for number in range(shoots):
        name = f"garden-p{number % 50}/s-{number:05}"
        change = enabling(name, f"2026-11-{number % 28 + 1:02}T10:00:00Z")
        if number % 3 == 1:
            change = replace(change, fields=(replace(change.fields[0], manager="somebody"),))
        policy = resizing(name, number % 40 + 2) if number % 3 == 2 else Change(policy_ref(name), Action.UNCHANGED)
        plans.append(ShootPlan(name, (change, policy)))
    return Plan("prod", REVISION, (WavePlan("fleet", tuple(plans)),))


TEXTS = st.text(st.sampled_from("ab 1\n\t\x1b\u202e|`*_<>&@#[]/:-+~é…"), max_size=12) | st.sampled_from(
    [
        "a\nPlan: 0 to create",
        "\x1b[31mred",
        "`` ` ```",
        "</details><script>",
        "@everyone",
        "a|b",
        "\u202eflipped",
        "(sensitive)",
        "\n```\n",
        "line\r\n  ~ configured  Shoot x/y",
        "#12",
        "\x85\u2028",
        "\ud800",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def _tuples(elements: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(elements, max_size=most).map(tuple)


_PATHS = _tuples(TEXTS | st.builds(Element, TEXTS, TEXTS), 3)
_FIELDS = st.builds(
    FieldChange, _PATHS, VALUES | st.just(ABSENT), VALUES | st.just(ABSENT), TEXTS, ignored=st.just("") | TEXTS
)
_CHANGES = st.builds(
    Change,
    st.builds(Ref, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS),
    st.sampled_from(Action),
    _tuples(_FIELDS, 2),
    st.sampled_from(Cost),
    TEXTS,
)
_SHOOTS = st.builds(ShootPlan, TEXTS, _tuples(_CHANGES, 2), _tuples(TEXTS, 1))
_WAVES = st.builds(WavePlan, TEXTS, _tuples(_SHOOTS, 3))
PLANS = st.builds(Plan, TEXTS, st.just(REVISION), _tuples(_WAVES, 2), _tuples(TEXTS, 2))
"""Plans of any shape, full of texts that want to be more than texts."""
