"""A delivery of a webhook, and what it can turn out to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum


@dataclass(frozen=True)
class Delivery:
    """One POST, whole and not yet trusted."""

    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes = field(repr=False)
    received: datetime


class RefKind(Enum):
    """What kind of ref a push moved."""

    BRANCH = "branch"
    TAG = "tag"


@dataclass(frozen=True)
class RefChange:
    """One ref that a push moved."""

    kind: RefKind
    name: str
    """Without `refs/heads/` or `refs/tags/`; may hold slashes."""
    before: str = ""
    """The commit it stood on; empty when it was created, or the forge does not say."""
    after: str = ""
    """The commit it stands on now; empty when it was deleted, or the forge does not say."""
    deleted: bool = False
    forced: bool = False
    """Whether the forge says that history was rewritten; not every forge does."""


@dataclass(frozen=True)
class Push:
    """Somebody says that refs moved. It is a hint: what they stand for is read from git."""

    repositories: tuple[str, ...]
    """Every address that the forge gives for the one repository; its full name where it gives none."""
    changes: tuple[RefChange, ...]
    """Empty when the forge does not say what moved."""
    default_branch: str = ""
    """Empty when the forge does not say."""


@dataclass(frozen=True)
class Ignored:
    """Genuine, and no reason to do anything."""

    reason: str


class Refusal(Enum):
    """Why a delivery is not accepted. The words are for our log; who sent it learns nothing."""

    SIGNATURE = "no valid signature"
    STALE = "its timestamp is too far from now"
    REPLAY = "it was delivered before"
    MALFORMED = "its body is not what this forge sends"
    EVENT = "an event that is not known"


@dataclass(frozen=True)
class Refused:
    """Not genuine, or not understood."""

    why: Refusal


Outcome = Push | Ignored | Refused


def ref_change(ref: str, before: str, after: str, *, forced: bool = False) -> RefChange | None:
    """A change from a full ref and two object names, of which all zeros means that there is none.

    Returns None for what is neither branch nor tag, such as `refs/pull/7/head`.
    """
    before, after = (("" if not name.strip("0") else name) for name in (before, after))
    for prefix, kind in (("refs/heads/", RefKind.BRANCH), ("refs/tags/", RefKind.TAG)):
        if ref.startswith(prefix) and len(ref) > len(prefix):
            return RefChange(kind, ref.removeprefix(prefix), before, after, deleted=not after, forced=forced)
    return None
