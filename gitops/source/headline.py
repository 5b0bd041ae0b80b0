"""What people call a commit: the first line of its message, and who wrote it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """For people; anybody may have written it, so that nothing may be made of it but text."""

    subject: str
    author: str


def headline_of(commit: bytes) -> Headline:
    r"""Read it from a commit object, as git stores it.

    >>> headline_of(b"tree 12\nauthor Ada <ada@example.org> 0 +0000\n\nAdd a policy\n\nIt was missing.\n")
    Headline(subject='Add a policy', author='Ada')
    """
    head, _, message = commit.partition(b"\n\n")
    lines = (line.removeprefix(b"author ") for line in head.split(b"\n") if line.startswith(b"author "))
    author = next(lines, b"").partition(b" <")[0]
    subject = message.lstrip(b"\n").partition(b"\n")[0]
    return Headline(subject.decode("utf-8", "replace").strip(), author.decode("utf-8", "replace").strip())
