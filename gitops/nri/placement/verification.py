"""Do containers run where their policies say? What was observed in, deviations out; what is unknown is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from gitops.manifest import Manifest, get
from gitops.nri.cpuset import cpuset_text
from gitops.nri.placement.choice import balloon_types, chosen_type
from gitops.nri.placement.told import Balloon, Told, Voice, balloon_type
from gitops.nri.resolution import effective_policy, live_nodes, node_name
from gitops.verdict import Verdict, current, in_progress

_SHOWN = 3


@dataclass(frozen=True)
class Deviation:
    """One thing that is not as it should be, or not known to be."""

    node: str
    """Empty where it concerns no single node."""
    pod: str
    """`<namespace>/<name>`; empty where it concerns no single pod."""
    container: str
    rule: str
    """Its stable name in kebab case."""
    message: str

    def __str__(self) -> str:
        whom = "/".join(filter(None, (self.pod, self.container)))
        return ": ".join(filter(None, (" on ".join(filter(None, (whom, self.node))), self.message)))


@dataclass(frozen=True)
class Scene:
    """One shoot as it was observed."""

    nodes: Sequence[Manifest]
    pods: Sequence[Manifest]
    """All that run."""
    policies: Sequence[Manifest]
    """BalloonsPolicies of the plugin's namespace."""
    plugins: Sequence[Manifest]
    """The plugin's DaemonSets; exactly one is right."""
    told: Mapping[str, Told]
    """By node, what its plugin tells."""
    unheard: Mapping[str, str] = field(default_factory=dict)
    """By node, why nothing was heard of its plugin."""


@dataclass(frozen=True)
class Placed:
    """One running container and where it is."""

    node: str
    container: str
    """`<namespace>/<pod>/<container>`."""
    balloon: str
    """Empty where nothing is known."""
    expected: str
    """The type it belongs in; empty where it is left alone or where that cannot be told."""
    reason: str


@dataclass(frozen=True)
class Verification:
    """What came out of it."""

    placed: tuple[Placed, ...]
    deviations: tuple[Deviation, ...]
    told: Mapping[str, Told]
    """By node."""

    @property
    def verdict(self) -> Verdict:
        """As a gate; a plugin that was given a new policy needs a moment, so that nothing fails at once."""
        if not self.deviations:
            return current(f"{len(self.placed)} containers on {len(self.told)} nodes are where they belong")
        more = len(self.deviations) - _SHOWN
        shown = "; ".join(map(str, self.deviations[:_SHOWN])) + (f"; and {more} more" if more > 0 else "")
        return in_progress(f"placement is not as declared: {shown}", hint="gitops verify shows all of it")


def verify(scene: Scene) -> Verification:
    """Check one shoot."""
    nodes = live_nodes(scene.nodes)
    deviations = list(_rollout(scene, nodes))
    placed: list[Placed] = []
    policies = {str(get(policy, "metadata", "name")): policy for policy in scene.policies}
    for node in _where_it_runs(scene, nodes):
        name = node_name(node)
        effective = effective_policy(node, policies)
        if effective is None:
            deviations.append(
                Deviation(name, "", "", "no-policy", "the node has no policy, so nothing is pinned there")
            )
            continue
        look = _NodeLook(name, get(policies[effective], "spec"), scene)
        placed += look.placed()
        deviations += look.deviations()
    return Verification(tuple(placed), tuple(deviations), scene.told)


def _rollout(scene: Scene, nodes: Sequence[Manifest]) -> Iterator[Deviation]:
    if len(scene.plugins) != 1:
        names = ", ".join(
            sorted(f"{get(p, 'metadata', 'namespace')}/{get(p, 'metadata', 'name')}" for p in scene.plugins)
        )
        what = (
            f"more than one plugin runs here, and they break each other's pods: {names}"
            if names
            else "no plugin runs here"
        )
        yield Deviation("", "", "", "plugin", what)
        return
    (plugin,) = scene.plugins
    generation, seen = get(plugin, "metadata", "generation"), get(plugin, "status", "observedGeneration")
    desired, updated = (get(plugin, "status", key) or 0 for key in ("desiredNumberScheduled", "updatedNumberScheduled"))
    if generation != seen or updated < desired:
        yield Deviation(
            "", "", "", "plugin-rollout", f"the plugin's DaemonSet is rolled out on {updated} of {desired} nodes"
        )
    running = _plugin_pods(scene)
    for node in _where_it_belongs(plugin, nodes):
        name = node_name(node)
        if name not in running:
            yield Deviation(name, "", "", "plugin-missing", "the plugin does not run here")
        elif not _is_ready(running[name]):
            yield Deviation(name, "", "", "plugin-not-ready", "the plugin is not ready, so containers start unpinned")


def _where_it_runs(scene: Scene, nodes: Sequence[Manifest]) -> list[Manifest]:
    if len(scene.plugins) != 1:
        return []
    return [node for node in _where_it_belongs(scene.plugins[0], nodes) if node_name(node) in _plugin_pods(scene)]


def _where_it_belongs(plugin: Manifest, nodes: Sequence[Manifest]) -> list[Manifest]:
    selector = get(plugin, "spec", "template", "spec", "nodeSelector") or {}
    return [node for node in nodes if selector.items() <= (get(node, "metadata", "labels") or {}).items()]


def _plugin_pods(scene: Scene) -> dict[str, Manifest]:
    uids = {get(plugin, "metadata", "uid") for plugin in scene.plugins}
    return {
        str(get(pod, "spec", "nodeName")): pod
        for pod in scene.pods
        if any(get(owner, "uid") in uids for owner in get(pod, "metadata", "ownerReferences") or ())
    }


def _is_ready(pod: Manifest) -> bool:
    statuses = get(pod, "status", "containerStatuses")
    return isinstance(statuses, list) and bool(statuses) and all(get(status, "ready") is True for status in statuses)


class _NodeLook:
    """One node under its policy."""

    def __init__(self, node: str, spec: Manifest, scene: Scene) -> None:
        self._node = node
        self._spec = spec
        self._told = scene.told.get(node)
        self._unheard = scene.unheard.get(node, "nothing was heard of its plugin")
        self._pods = {
            f"{get(pod, 'metadata', 'namespace')}/{get(pod, 'metadata', 'name')}": pod
            for pod in scene.pods
            if get(pod, "spec", "nodeName") == node
        }

    def placed(self) -> Iterator[Placed]:
        for name, pod in sorted(self._pods.items()):
            for container in _running(pod):
                choice = chosen_type(self._spec, pod, container)
                full = f"{name}/{container}"
                balloon = self._told.assignments.get(full, "") if self._told else ""
                if not (choice.preserved and not balloon):
                    yield Placed(self._node, full, balloon, choice.type or "", choice.reason)

    def deviations(self) -> Iterator[Deviation]:
        if self._told is None:
            yield self._of("", "unknown", f"where containers run is not known: {self._unheard}")
            return
        yield from self._containers(self._told)
        yield from self._stale(self._told)
        yield from self._overlaps(self._told)
        yield from self._sizes(self._told)

    def _containers(self, told: Told) -> Iterator[Deviation]:
        for placed in self.placed():
            if not placed.balloon:
                message = f"no word of it in the plugin's {told.voice.value}: it may run unpinned"
                yield self._of(placed.container, "unassigned", message)
            elif placed.expected and balloon_type(placed.balloon) != placed.expected:
                message = f"it runs in {placed.balloon} and belongs in {placed.expected}, {placed.reason}"
                yield self._of(placed.container, "wrong-type", message)

    def _stale(self, told: Told) -> Iterator[Deviation]:
        """A log tells of what is gone by its nature; the others tell of the present."""
        types = {entry["name"] for entry in balloon_types(self._spec)}
        for balloon in self._present(told):
            if balloon.type not in types:
                message = (
                    f"the plugin's {told.voice.value} tells of {balloon.name}, which the node's policy does not know"
                )
                yield self._of("", "stale", message)
        gone = sorted(c for c in told.assignments if c.rpartition("/")[0] not in self._pods)
        if gone and told.voice is not Voice.LOG:
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            yield self._of(
                "", "stale", f"the plugin's {told.voice.value} tells of {gone[0]}{more}, which does not run here"
            )

    def _overlaps(self, told: Told) -> Iterator[Deviation]:
        parts = {entry["name"]: _components(entry) for entry in balloon_types(self._spec)}
        for one, other in combinations(self._present(told), 2):
            both = one.cpus & other.cpus
            related = other.type in parts.get(one.type, ()) or one.type in parts.get(other.type, ())
            if both and not related and not (parts.get(one.type) and parts.get(other.type)):
                message = f"{one.name} and {other.name} share the CPUs {cpuset_text(both)}{_by(told)}"
                yield self._of(_somebody_in(one, told), "shared-cpus", message)

    def _sizes(self, told: Told) -> Iterator[Deviation]:
        limits = {entry["name"]: entry for entry in balloon_types(self._spec)}
        for balloon in self._present(told):
            entry = limits.get(balloon.type, {})
            least, most, size = int(entry.get("minCPUs") or 0), int(entry.get("maxCPUs") or 0), len(balloon.cpus)
            # The log has the size from before the container came.
            if size < least and told.voice is not Voice.LOG:
                message = f"{balloon.name} has {size} CPUs and needs at least {least}"
                yield self._of(_somebody_in(balloon, told), "size", message)
            if most > 0 and size > most:
                message = f"{balloon.name} has {size} CPUs and may have {most} at most"
                yield self._of(_somebody_in(balloon, told), "size", message)

    def _present(self, told: Told) -> list[Balloon]:
        """Balloons that are there now: by a log, those only that hold a container that runs."""
        held = {placed.balloon for placed in self.placed()}
        there = [b for b in told.balloons.values() if told.voice is not Voice.LOG or b.name in held]
        return sorted(there, key=lambda balloon: balloon.name)

    def _of(self, container: str, rule: str, message: str) -> Deviation:
        pod, _, name = container.rpartition("/")
        return Deviation(self._node, pod, name, rule, message)


def _running(pod: Manifest) -> Iterator[str]:
    """Containers that run now, sidecars included."""
    for key in ("initContainerStatuses", "containerStatuses"):
        statuses = get(pod, "status", key)
        for status in statuses if isinstance(statuses, list) else []:
            if get(status, "state", "running") is not None:
                yield str(get(status, "name"))


def _components(entry: Mapping[str, object]) -> frozenset[str]:
    components = entry.get("components")
    listed = components if isinstance(components, list) else []
    return frozenset(str(get(component, "balloonType")) for component in listed)


def _somebody_in(balloon: Balloon, told: Told) -> str:
    """A container of the balloon, by which people know it; empty where it has none."""
    return min((container for container, name in told.assignments.items() if name == balloon.name), default="")


def _by(told: Told) -> str:
    return " (by the plugin's log, which does not tell of later changes)" if told.voice is Voice.LOG else ""
