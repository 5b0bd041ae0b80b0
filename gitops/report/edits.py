"""Edits of files as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from gitops.desired.edits import FileEdit
from gitops.report.style import Style, Tone
from gitops.report.words import printable


def edits_diff(edits: Iterable[FileEdit], style: Style) -> str:
    """What changes, as `git diff` would show it; empty when nothing does."""
    return "".join(f"{line}\n" for edit in edits for line in _lines(edit, style))


def _lines(edit: FileEdit, style: Style) -> Iterator[str]:
    before, after = (text.decode(errors="replace").splitlines() for text in (edit.before, edit.after))
    # difflib's own unified_diff takes lines that are frequent in a long file for noise, and shows far too much.
    groups = difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes()
    for at, group in enumerate(groups):
        if at == 0:
            yield style.paint(f"--- {f'a/{edit.path}' if edit.before else '/dev/null'}", Tone.STRONG)
            yield style.paint(f"+++ b/{edit.path}", Tone.STRONG)
        (_, start, _, new_start, _), (_, _, end, _, new_end) = group[0], group[-1]
        place = f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"
        yield style.paint(place, Tone.FAINT)
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from (f" {printable(line)}" for line in before[a:b])
                continue
            yield from (style.paint(f"-{printable(line)}", Tone.REMOVED) for line in before[a:b])
            yield from (style.paint(f"+{printable(line)}", Tone.ADDED) for line in after[c:d])


def _range(start: int, end: int) -> str:
    """Lines as a unified diff counts them."""
    return f"{start + 1 if end > start else start},{end - start}"
