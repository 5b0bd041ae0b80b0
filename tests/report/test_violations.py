from __future__ import annotations

import json

import click
from hypothesis import given
from hypothesis import strategies as st

from gitops.errors import Violation
from gitops.report.style import PLAIN, Colour, Style
from gitops.report.violations import Severity, violations_document, violations_text
from tests.report.plans import TEXTS

FOUND = [
    Violation("overlays/dev/overlay.yaml", 31, "", "unknown-key", "spec has no key 'wave': did you mean 'waves'?"),
    Violation("clusters/a.yaml", 12, "Shoot garden-a/a", "no-wave", "no wave selects this shoot:\nadd a last wave"),
    Violation("overlays/dev/overlay.yaml", 7, "", "wrong-type", "spec.garden.namespaces must be a list"),
    Violation("clusters/b.yaml", 0, "", "lfs-pointer", "is a Git LFS pointer: commit the file itself"),
]


def test_violations_are_told_by_file_with_places_to_jump_to() -> None:
    assert violations_text(FOUND, PLAIN) == (
        "clusters/a.yaml:12: problem: Shoot garden-a/a: no wave selects this shoot: add a last wave [no-wave]\n"
        "\n"
        "clusters/b.yaml: problem: is a Git LFS pointer: commit the file itself [lfs-pointer]\n"
        "\n"
        "overlays/dev/overlay.yaml:7: problem: spec.garden.namespaces must be a list [wrong-type]\n"
        "overlays/dev/overlay.yaml:31: problem: spec has no key 'wave': did you mean 'waves'? [unknown-key]\n"
        "\n"
        "4 problems in 3 files.\n"
    )


def test_warnings_are_called_warnings() -> None:
    text = violations_text(FOUND[:1], PLAIN, Severity.WARNING)

    assert text.startswith("overlays/dev/overlay.yaml:31: warning: ")
    assert text.endswith("\n1 warning in 1 file.\n")


def test_a_violation_of_no_file_has_no_place() -> None:
    violation = Violation("", 0, "", "not-a-repository", "no git repository here")

    assert violations_text([violation], PLAIN) == ("problem: no git repository here [not-a-repository]\n\n1 problem.\n")


def test_no_violation_is_no_text() -> None:
    assert violations_text([], PLAIN) == ""


def test_colours_only_repeat_what_the_plain_text_says() -> None:
    coloured = violations_text(FOUND, Style(colour=Colour.ANSI))

    assert coloured != click.unstyle(coloured)
    assert click.unstyle(coloured) == violations_text(FOUND, PLAIN)


def test_violations_are_json() -> None:
    document = json.loads(json.dumps(violations_document("dev", FOUND)))

    assert (document["kind"], document["valid"]) == ("Validation", False)
    assert document["violations"][0] == {
        "file": "clusters/a.yaml",
        "line": 12,
        "object": "Shoot garden-a/a",
        "rule": "no-wave",
        "message": "no wave selects this shoot:\nadd a last wave",
    }


def test_warnings_alone_are_valid() -> None:
    document = violations_document("dev", [], FOUND)

    assert document["valid"]
    assert len(document["warnings"]) == len(FOUND)


@given(found=st.lists(st.builds(Violation, TEXTS, st.integers(0, 9), TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_each_violation_is_one_harmless_line(found: list[Violation]) -> None:
    lines = violations_text(found, PLAIN).split("\n")

    assert sum(": problem: " in f": {line}" for line in lines) >= len(found)
    assert len([line for line in lines if line]) == len(found) + 1
    assert all(line.isprintable() for line in lines)
