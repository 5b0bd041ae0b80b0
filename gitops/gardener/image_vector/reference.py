"""References of images, as registries and container runtimes read them (distribution/reference)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HOST = r"(?:[a-zA-Z0-9](?:[-a-zA-Z0-9.]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<repository>(?:{_HOST}/)?{_PART}(?:/{_PART})*)?"
    r"(?::(?P<tag>[a-zA-Z0-9_][-a-zA-Z0-9_.]{0,127}))?"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


@dataclass(frozen=True)
class Reference:
    """Which image is meant, or which other version of the one that is there."""

    repository: str | None
    """None leaves it as it is."""
    tag: str
    """As image vectors write it: a tag, a digest, or both as `v1@sha256:…`."""

    def within(self, repository: str) -> str:
        """The whole reference, with a repository for one that has none."""
        joint = "@" if self.tag.startswith("sha256:") else ":"
        return f"{self.repository or repository}{joint}{self.tag}"


def parse_reference(text: str) -> Reference:
    """`repository:tag`, `repository@sha256:…`, `repository:tag@sha256:…`, or only what follows the repository.

    Raises:
        ValueError: it is none of these, or says no version.
    """
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an image such as registry/image:tag, registry/image@sha256:… or :tag")
    tag = "@".join(part for part in (match["tag"], match["digest"]) if part)
    if not tag:
        raise ValueError(f"{text!r} says no version: add :tag, @sha256:…, or both")
    return Reference(match["repository"], tag)


def repository_of(reference: str) -> str:
    """The repository of a whole reference, whatever follows it."""
    name = reference.partition("@")[0]
    folder, slash, last = name.rpartition("/")
    return folder + slash + last.partition(":")[0]
