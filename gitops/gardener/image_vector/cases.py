"""Every way in which an extension may ask for an image on the machines that are declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from gitops.gardener.image_vector.probes import probes
from gitops.gardener.image_vector.vector import ImageSource, Lookup


@dataclass(frozen=True, order=True)
class Demand:
    """Machines that an image must run on."""

    version: str | None
    """Their Kubernetes version as git declares it; None where it does not, which stands for any."""
    architecture: str

    def __str__(self) -> str:
        return machine_text(self.version, self.architecture)


@dataclass(frozen=True)
class Case:
    """One way to ask for an image, and the machine that it is for."""

    machine: Lookup
    """All that is known about the machine."""
    asked: Lookup
    """What of that the extension says."""

    @property
    def silent(self) -> tuple[str, ...]:
        """What the extension does not say."""
        pairs = (
            ("target version", self.machine.target_version, self.asked.target_version),
            ("runtime version", self.machine.runtime_version, self.asked.runtime_version),
            ("architecture", self.machine.architecture, self.asked.architecture),
        )
        return tuple(name for name, known, said in pairs if known is not None and said is None)


def cases(name: str, base: Iterable[ImageSource], merged: Iterable[ImageSource], demand: Demand) -> Iterator[Case]:
    """The cases of one image on one kind of machine.

    An extension says what its own vector tells entries apart by. Where only the overwrite does, it may say it or not.
    """
    own = [source for source in base if source.name == name]
    all_ = [source for source in merged if source.name == name]
    targets = probes(demand.version, [source.target_version or "" for source in all_])
    runtimes = probes(None, [source.runtime_version or "" for source in all_])
    said = (
        _said([source.runtime_version for source in own]),
        _said([source.target_version for source in own]),
        _said([source.architectures for source in own]),
    )
    for target, runtime in product(targets, runtimes):
        for runtime_said, target_said, architecture_said in product(*said):
            yield Case(
                Lookup(name, runtime, target, demand.architecture),
                Lookup(
                    name,
                    runtime if runtime_said else None,
                    target if target_said else None,
                    demand.architecture if architecture_said else None,
                ),
            )


def _said(values: Sequence[object]) -> tuple[bool, ...]:
    return (True,) if any(value is not None for value in values) else (True, False)


def machine_text(version: str | None, architecture: str | None) -> str:
    """As a person would say it: `Kubernetes 1.35.2 on arm64`."""
    return f"Kubernetes {version or 'of any version'} on {architecture or 'any machine'}"
