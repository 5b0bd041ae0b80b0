"""Overlay and artifact in, desired state per shoot out; or every broken rule at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gitops.desired.acceptance import refused_policies
from gitops.desired.artifact import Artifact
from gitops.desired.collect import Declared, collect
from gitops.desired.documents import Document, DocumentCache
from gitops.desired.extensions import contradictions, with_extensions
from gitops.desired.overlay import ExtensionRule, IgnoreRule, Overlay, Wave
from gitops.desired.overlay_file import read_overlay
from gitops.desired.patching import Patching
from gitops.desired.selection import dead_selectors
from gitops.desired.selector import selects
from gitops.errors import InvalidInput, Violation
from gitops.gardener.rolling import Vector
from gitops.gardener.succession import Move
from gitops.manifest import GARDEN, Manifest, Ref, State, Target, get, ref_of
from gitops.nri.acceptance.answers import Answers
from gitops.nri.resolution import is_policy
from gitops.nri.siblings import never_read, with_checksums


@dataclass(frozen=True)
class Origin:
    """Where in git an object is declared."""

    file: str
    line: int


@dataclass(frozen=True)
class DesiredShoot:
    """Everything that git declares for one shoot."""

    target: Target
    shoot: Manifest
    """The Shoot, as partial as git declares it, with extensions and patches applied."""
    objects: State
    """What belongs inside the shoot, in the order of its Refs."""
    wave: str
    """The first wave whose selector matches."""
    ignored: tuple[IgnoreRule, ...]
    """The ignore rules that hold for this shoot."""
    origins: Mapping[Ref, Origin]
    """Where each object, and the Shoot itself, is declared."""
    moves: tuple[Move, ...] = ()
    """Extensions that take over from others."""
    vectors: tuple[Vector, ...] = ()
    """The overlay's image vectors, the same for every shoot; empty until it is known what each extension serves."""


@dataclass(frozen=True)
class Desired:
    """One overlay at one revision, composed. Manifests are shared between shoots: nobody changes them."""

    overlay: Overlay
    revision: str
    """The commit, 40 hex digits."""
    shoots: Mapping[Target, DesiredShoot]
    """Sorted by target; never empty."""
    warnings: tuple[Violation, ...]
    """What is allowed and probably not meant."""
    registrations: State = field(default_factory=dict)
    """What is written once before all waves: registrations of extensions, with their image vectors, sorted."""
    origins: Mapping[Ref, Origin] = field(default_factory=dict)
    """Where each registration is declared."""
    content: str = ""
    """SHA-256 of the files that it was composed from, in hex: the same at every commit that declares the same. Empty
    where the overlay was not composed whole."""


def compose(artifact: Artifact, overlay_name: str, cache: DocumentCache | None = None) -> Desired:
    """The desired state of one overlay: resources, then extensions, then patches, then validation.

    Selectors see the labels that git declares on the Shoots, before any patch.

    Args:
        artifact: the revision to read.
        overlay_name: a folder below `overlays/`.
        cache: parsed files of earlier calls, by blob id; None keeps nothing.

    Raises:
        InvalidInput: with every violation that was found.
        SourceError: the artifact cannot be read.
    """
    cache = {} if cache is None else cache
    overlay = read_overlay(artifact, overlay_name, cache)
    declared = collect(artifact, overlay, cache)
    composition = _Composition(overlay, declared)
    shoots = {
        target: shoot
        for target, document in declared.shoots.items()
        if (shoot := composition.shoot(target, document)) is not None
    }
    registrations = {
        ref: manifest
        for ref, document in declared.registrations.items()
        if (manifest := composition.patching.registration(document)) is not None
    }
    violations = {*declared.violations, *composition.violations, *composition.patching.violations}
    # What a node would refuse is asked about policies that are sound as far as everybody else is concerned.
    violations = violations or set(composition.refused_policies())
    if violations:
        raise InvalidInput(list(violations))
    warnings = {*dead_selectors(overlay, declared), *composition.patching.unused(), *composition.empty_waves()}
    warnings |= {*composition.warnings, *_empty_node_waves(overlay, shoots.values())}
    origins = {ref: Origin(document.file, document.line) for ref, document in declared.registrations.items()}
    return Desired(overlay, artifact.revision, shoots, tuple(sorted(warnings)), registrations, origins)


class _Composition:
    """Composes one shoot after the other and collects what is wrong on the way.

    Attributes:
        violations: found so far; several shoots may have found the same.
        warnings: what is allowed and probably not meant, found so far.
        patching: the overlay's patches, which collect their own.
    """

    def __init__(self, overlay: Overlay, declared: Declared) -> None:
        self.violations: list[Violation] = []
        self.warnings: set[Violation] = set()
        self.patching = Patching(overlay)
        self._overlay = overlay
        self._declared = declared
        self._entered: set[str] = set()
        self._placed: list[tuple[Manifest, list[tuple[Document, Manifest]]]] = []

    def shoot(self, target: Target, document: Document) -> DesiredShoot | None:
        """One shoot; None where a rule is broken so that nothing can be said about it."""
        labels = get(document.manifest, "metadata", "labels") or {}
        wave = self._wave(document, labels)
        rules = tuple(rule for rule in self._overlay.extensions if selects(rule.shoots, labels))
        self._contradictions(document, rules)
        extended = with_extensions(document.manifest, rules)
        patched = self.patching.shoot(document, extended, labels)
        objects: dict[Ref, Manifest] = {}
        origins: dict[Ref, Origin] = {}
        sources: dict[tuple[str, ...], Document] = {}
        placed: list[tuple[Document, Manifest]] = []
        for policy in self._declared.policies_for(labels):
            manifest = self.patching.policy(policy, labels)
            if manifest is None:
                continue
            ref = ref_of(target, manifest)
            if self._declared_twice(target, sources.setdefault(ref.identity, policy), policy):
                continue
            objects[ref] = manifest
            placed.append((policy, manifest))
            origins[ref] = Origin(policy.file, policy.line)
        if wave is None or patched is None:
            return None
        self._placed.append((patched, placed))
        origins[ref_of(GARDEN, patched)] = Origin(document.file, document.line)
        ignored = tuple(rule for rule in self._overlay.ignore if selects(rule.shoots, labels))
        self.warnings |= {_never_read(sources[ref.identity]) for ref in never_read(objects)}
        rolled = with_checksums(dict(sorted(objects.items())))
        moves = tuple(Move(old, rule.type) for rule in rules for old in rule.replaces)
        return DesiredShoot(target, patched, rolled, wave.name, ignored, origins, moves)

    def _wave(self, document: Document, labels: Mapping[str, str]) -> Wave | None:
        wave = next((wave for wave in self._overlay.waves if selects(wave.shoots, labels)), None)
        if wave is None:
            message = f"no wave of {self._overlay.file} selects this shoot: add a last wave without selector"
            self.violations.append(document.violation("no-wave", message))
        else:
            self._entered.add(wave.name)
        return wave

    def _contradictions(self, document: Document, rules: tuple[ExtensionRule, ...]) -> None:
        for found in contradictions(rules):
            message = f"extension {found.type!r} already has a rule for this shoot on line {found.first}"
            file = self._overlay.file
            self.violations.append(Violation(file, found.second, document.title, "extension-twice", message))

    def _declared_twice(self, target: Target, first: Document, second: Document) -> bool:
        if first is second:
            return False
        message = f"the same object is declared in {first.file}:{first.line} as well, for shoot {target}: keep one"
        self.violations.append(Violation(second.file, second.line, second.title, "declared-twice", message))
        return True

    def refused_policies(self) -> Iterator[Violation]:
        """A violation for every reason why nodes of the shoots so far would refuse a policy."""
        answers = Answers()
        for shoot, placed in self._placed:
            yield from refused_policies(shoot, placed, self._overlay.machines, answers)

    def empty_waves(self) -> list[Violation]:
        """A warning for every wave with a selector that no shoot is left for."""
        return [
            Violation(self._overlay.file, wave.line, "", "empty-wave", f"wave {wave.name!r} has no shoots")
            for wave in self._overlay.waves
            if wave.name not in self._entered and wave.shoots is not None
        ]


def _never_read(config: Document) -> Violation:
    message = (
        "the plugin reads this at its start only, and its DaemonSet is not declared here: restart it by hand after a "
        "change, or declare it"
    )
    return config.violation("never-read", message)


def _empty_node_waves(overlay: Overlay, shoots: Iterable[DesiredShoot]) -> Iterator[Violation]:
    names = {ref.name for shoot in shoots for ref, manifest in shoot.objects.items() if is_policy(manifest)}
    for glob in (glob for wave in overlay.node_waves for glob in wave):
        if not any(fnmatchcase(name, glob) for name in names):
            message = f"nodeWaves names {glob!r}, and no shoot has a policy of that name"
            yield Violation(overlay.file, 0, "", "empty-node-wave", message)
