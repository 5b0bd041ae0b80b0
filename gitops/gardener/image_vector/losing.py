"""Entries of an overwrite that replace nothing, and that an entry of the extension's own vector beats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops.gardener.image_vector.cases import Case, Demand, cases, machine_text
from gitops.gardener.image_vector.lookup import find, fit, merge
from gitops.gardener.image_vector.reading import Finding
from gitops.gardener.image_vector.vector import ARCHITECTURES, ImageSource


def losing(
    base: Sequence[ImageSource], overwrite: Sequence[ImageSource], demands: Sequence[Demand]
) -> Iterator[Finding]:
    """One finding for every such entry, with a machine on which it loses.

    An entry that means the same as a built-in one and is spelt otherwise loses every tie, so it needs no machine.
    """
    merged = merge(base, overwrite)
    replaced = {source.key for source in base}
    new = {source.key for source in overwrite}
    for at, source in enumerate(overwrite):
        alike = [entry for entry in base if entry.name == source.name]
        if source.key in replaced or not alike:
            continue
        possible = (case for demand in demands for case in cases(source.name, base, merged, demand))
        for case in possible:
            winner = find(merged, case.asked) if fit(source, case.machine) is not None else None
            if winner is not None and winner.key not in new:
                yield Finding(("images", at), "overwrite-loses", _loss(source, winner, case))
                break
        else:
            for entry in alike:
                if entry.key not in new and _meaning(entry) == _meaning(source):
                    yield Finding(("images", at), "overwrite-loses", _loss(source, entry, None))
                    break


def _meaning(source: ImageSource) -> tuple[str, str, frozenset[str]]:
    """What an entry is for, however it is spelt."""
    architectures = frozenset(ARCHITECTURES if source.architectures is None else source.architectures)
    return (_squeezed(source.runtime_version), _squeezed(source.target_version), architectures)


def _squeezed(constraint: str | None) -> str:
    return "".join((constraint or "").split())


def _loss(source: ImageSource, winner: ImageSource, case: Case | None) -> str:
    target = case.asked.target_version if case else None
    where = ""
    if case is not None:
        where = f" for {machine_text(case.machine.target_version, case.machine.architecture)}"
        if case.silent:
            where += f", where an extension looks it up without {' and '.join(case.silent)}"
    return (
        f"it replaces no built-in entry, and loses to {winner.image(target).reference}{where}: "
        f"{_difference(source, winner)}; they must be the same, letter by letter"
    )


def _difference(source: ImageSource, winner: ImageSource) -> str:
    pairs = (
        ("runtimeVersion", source.runtime_version, winner.runtime_version),
        ("targetVersion", source.target_version, winner.target_version),
        ("architectures", _list(source.architectures), _list(winner.architectures)),
    )
    return ", ".join(
        f"{name} is {_shown(here)} here and {_shown(there)} there" for name, here, there in pairs if here != there
    )


def _list(architectures: tuple[str, ...] | None) -> str | None:
    return None if architectures is None else f"[{', '.join(architectures)}]"


def _shown(text: str | None) -> str:
    return "absent" if text is None else repr(text)
