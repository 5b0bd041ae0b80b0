"""Texts as they are meant to be, in files: `SHOOT_GITOPS_UPDATE_GOLDEN=1 pytest tests/report` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = Path(__file__).with_name("golden")
_UPDATING = os.environ.get("SHOOT_GITOPS_UPDATE_GOLDEN") == "1"


def approve(name: str, text: str) -> None:
    """Fail unless the text is the one in the golden file of that name."""
    file = _FOLDER / name
    if _UPDATING:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
