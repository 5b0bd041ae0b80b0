from __future__ import annotations

import click

from gitops.desired.edits import FileEdit
from gitops.report.edits import edits_diff
from gitops.report.style import PLAIN, Colour, Style


def test_an_edit_is_shown_as_git_shows_it() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 10)).encode()
    edits = [FileEdit("a.yaml", before, before.replace(b"line 9", b"last")), FileEdit("b.yaml", b"", b"new\x1b\n")]
    assert edits_diff(edits, PLAIN) == (
        "--- a/a.yaml\n+++ b/a.yaml\n@@ -6,4 +6,4 @@\n line 6\n line 7\n line 8\n-line 9\n+last\n"
        "--- /dev/null\n+++ b/b.yaml\n@@ -0,0 +1,1 @@\n+new\\x1b\n"
    )


def test_a_long_file_of_equal_lines_shows_only_what_changes() -> None:
    before = b"".join(b"- name: a\n  tag: v%d\n  labels: []\n" % number for number in range(200))
    diff = edits_diff([FileEdit("a", before, before.replace(b"v150", b"v9"))], PLAIN)
    assert [line for line in diff.splitlines()[2:] if line[0] in "+-"] == ["-  tag: v150", "+  tag: v9"]


def test_nothing_is_shown_of_what_stays() -> None:
    assert edits_diff([FileEdit("a", b"x", b"x")], PLAIN) == ""


def test_colours_change_no_text() -> None:
    edits = [FileEdit("a", b"x\ny\n", b"x\nz\n")]
    assert click.unstyle(edits_diff(edits, Style(Colour.ANSI))) == edits_diff(edits, PLAIN)
