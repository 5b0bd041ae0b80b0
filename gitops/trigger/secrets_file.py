"""The file of webhook secrets: one on each line, so that an old and a new one hold together while it is changed."""

from __future__ import annotations

SHORT = 16
"""Secrets of fewer characters can be guessed."""


def read_secrets(text: str) -> tuple[str, ...]:
    """The secrets, without the whitespace around them and without empty lines."""
    return tuple(filter(None, (line.strip() for line in text.splitlines())))
