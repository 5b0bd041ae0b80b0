"""Whether an overwrite does what its author meant: for every Kubernetes version and architecture that is declared."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from gitops.gardener.image_vector.cases import Demand, cases
from gitops.gardener.image_vector.coverage import companions, uncovered
from gitops.gardener.image_vector.lookup import find, merge
from gitops.gardener.image_vector.losing import losing
from gitops.gardener.image_vector.reading import Finding, repeated
from gitops.gardener.image_vector.vector import ImageSource, Lookup


@dataclass(frozen=True)
class Check:
    """What was found; every place is one in the overwrite."""

    problems: tuple[Finding, ...]
    warnings: tuple[Finding, ...]


@dataclass(frozen=True)
class Resolution:
    """One image on one kind of machine."""

    name: str
    demand: Demand
    reference: str | None
    """What is pulled; None where no entry fits."""
    overwritten: bool
    """Whether the overwrite has a part in it."""


def check_overwrite(
    base: Sequence[ImageSource],
    overwrite: Sequence[ImageSource],
    demands: Iterable[Demand],
    needed: Iterable[str] = (),
) -> Check:
    """Everything that the overwrite does not do, though it looks as if it did.

    Args:
        base: the extension's own vector.
        overwrite: the vector that is merged over it.
        demands: every kind of machine that is declared.
        needed: names of images that the chart is known to ask for.

    Raises:
        ValueError: a version of the demands, or a constraint of an entry, cannot be read.
    """
    ordered = sorted(set(demands), key=str)
    merged = merge(base, overwrite)
    needed = tuple(needed)
    problems = [
        *_repeated(overwrite),
        *_unknown(base, overwrite, needed),
        *losing(base, overwrite, ordered),
        *(_uncovered(name) for name in uncovered(merged, needed)),
    ]
    warnings = [_uncovered(name) for name in companions(merged) if name not in needed]
    names = {source.name for source in overwrite}
    for name, finding in _unresolved(merged, ordered):
        (problems if name in names else warnings).append(finding)
    if overwrite:
        warnings += _collapsing(base)
    return Check(tuple(problems), tuple(warnings))


def resolutions(
    base: Iterable[ImageSource], overwrite: Sequence[ImageSource], demands: Iterable[Demand]
) -> tuple[Resolution, ...]:
    """What every image resolves to, for an extension that says all it knows.

    Raises:
        ValueError: a version of the demands, or a constraint of an entry, cannot be read.
    """
    keys = {source.key for source in overwrite}
    merged = merge(base, overwrite)
    found: list[Resolution] = []
    for name, demand in product(_names(merged), sorted(set(demands), key=str)):
        source = find(merged, Lookup(name, None, demand.version, demand.architecture))
        reference = source.image(demand.version).reference if source else None
        found.append(Resolution(name, demand, reference, source is not None and source.key in keys))
    return tuple(found)


def _names(sources: Iterable[ImageSource]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source.name for source in sources))


def _repeated(overwrite: Sequence[ImageSource]) -> Iterator[Finding]:
    for at, first in repeated(overwrite):
        message = f"entry {first + 1} is for the same image, versions and architectures: keep one"
        yield Finding(("images", at), "image-repeated", message)


def _collapsing(base: Sequence[ImageSource]) -> Iterator[Finding]:
    for name in dict.fromkeys(base[at].name for at, _ in repeated(base)):
        message = (
            f"the extension's own vector has {name} several times with the same versions and architectures: "
            "as soon as anything is overwritten, Gardener keeps only the last of them"
        )
        yield Finding((), "image-repeated", message)


def _unknown(
    base: Sequence[ImageSource], overwrite: Sequence[ImageSource], needed: tuple[str, ...]
) -> Iterator[Finding]:
    known = {*_names(base), *needed}
    for at, source in enumerate(overwrite):
        if source.name not in known:
            close = difflib.get_close_matches(source.name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it asks for {', '.join(sorted(known)) or 'none'}"
            message = f"the extension asks for no image {source.name!r}, so the entry does nothing: {hint}"
            yield Finding(("images", at, "name"), "unknown-image", message)


def _uncovered(name: str) -> Finding:
    message = (
        f"the chart needs image {name}, and no vector has it: it is pulled from where the chart says, "
        "with the chart's own tag"
    )
    return Finding((), "image-not-covered", message)


def _unresolved(merged: Sequence[ImageSource], demands: Iterable[Demand]) -> Iterator[tuple[str, Finding]]:
    for name in _names(merged):
        missing = [
            str(demand)
            for demand in demands
            if demand.version is not None
            and all(find(merged, case.machine) is None for case in cases(name, merged, merged, demand))
        ]
        if missing:
            message = f"no entry of image {name} fits {'; '.join(missing)}: an extension that asks for it fails there"
            yield name, Finding((), "image-not-found", message)
