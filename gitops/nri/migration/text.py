"""Migrated policies as YAML, with comments about what had no counterpart."""

from __future__ import annotations

from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from gitops.nri.migration.translation import Translation

_SHORT_BOOLEANS = {"y", "n"}
"""Words that some readers of YAML 1.1 take for booleans, besides those that PyYAML knows."""


class _Text:
    """What ruamel.yaml writes to."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> None:
        self.parts.append(text)


def migrated_text(translations: list[Translation]) -> str:
    """The policies as one YAML stream; empty where there are none. The same policies give the same text."""
    return "---\n".join(_document(one) for one in translations if one.policy is not None)


def _document(translation: Translation) -> str:
    document = CommentedMap(_quoted(translation.policy or {}))
    comments = [f"No counterpart: {lost}" for lost in translation.lost]
    comments += [f"Changed: {changed}" for changed in translation.changed]
    if comments:
        document.yaml_set_start_comment("\n".join(" ".join(comment.split()) for comment in comments))
    writer = YAML()
    writer.encoding = None  # type: ignore[assignment]  # text, not bytes
    writer.width = 120
    writer.indent(mapping=2, sequence=4, offset=2)
    text = _Text()
    writer.dump(document, text)
    return "".join(text.parts)


def _quoted(value: Any) -> Any:
    """The same with quotes around every text that a reader of YAML 1.1 might take for something else."""
    if isinstance(value, dict):
        return {key: _quoted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_quoted(inner) for inner in value]
    return DoubleQuotedScalarString(value) if isinstance(value, str) and not _is_plain(value) else value


def _is_plain(text: str) -> bool:
    try:
        return text.lower() not in _SHORT_BOOLEANS and yaml.safe_load(text) == text
    except yaml.YAMLError:
        return False
