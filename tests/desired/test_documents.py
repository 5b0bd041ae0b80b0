from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.desired.documents import DocumentCache, documents_of, line_of, parse
from gitops.desired.render import to_yaml
from gitops.desired.scalars import plain_scalar
from gitops.errors import InvalidInput
from tests.desired.in_memory import Files

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


def manifests(text: str | bytes) -> list[Any]:
    data = text if isinstance(text, bytes) else text.encode()
    return [document.manifest for document in parse(data, "f.yaml")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-12", -12),
        ("+5", 5),
        ("0644", 420),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x10", -16),
        ("0b101", 5),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000),
        ("2.0", 2),
        ("1.35", 1.35),
        ("1.35.2", "1.35.2"),
        ("2026-11-30", "2026-11-30"),
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("030000+0100", "030000+0100"),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("500Mi", "500Mi"),
        ("25%", "25%"),
        ("-", "-"),
        ("_1", "_1"),
        ("1_a", "1_a"),
        ("nope", "nope"),
        ("0x", "0x"),
    ],
)
def test_plain_scalars_are_read_as_kubernetes_reads_them(text: str, value: Any) -> None:
    assert (plain_scalar(text), type(plain_scalar(text))) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        *"yYnN",
        "yes",
        "Yes",
        "YES",
        "no",
        "on",
        "ON",
        "off",
        "Off",
        "1_000",
        "0x_1",
        "08",
        "-019",
        ".inf",
        "-.Inf",
        ".nan",
        "1e999",
    ],
)
def test_scalars_that_readers_disagree_about_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quote it"):
        plain_scalar(text)
    assert manifests(f"a: '{text}'") == [{"a": text}]


BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9) if before else '1'}]\n"
    for before, name in zip(["", *"abcdefg"], "abcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "rule", "line", "says"),
    [
        pytest.param("a: 1\nb: [\n", "yaml-syntax", 3, "did not find expected node", id="syntax"),
        pytest.param("a:\n\tb: 1\n", "yaml-syntax", 2, "cannot start any token", id="tab"),
        pytest.param("a: 1\nb: 2\na: 3\n", "duplicate-key", 3, "'a' was already given on line 1", id="duplicate"),
        pytest.param(
            "a:\n  b:\n  - {c: 1,\n     c: 2}\n", "duplicate-key", 4, "'c' was already given on line 3", id="deep"
        ),
        pytest.param(BOMB, "alias-bomb", 2, "aliases add more than 10000", id="alias-bomb"),
        pytest.param("a: &a\n  b: *a\n", "too-deep", 1, "an alias contains itself", id="recursion"),
        pytest.param("a: " + "[" * 200 + "]" * 200, "too-deep", 1, "100 levels", id="depth"),
        pytest.param("a: " + "[" * 9000, "yaml-syntax", 1, "nesting depth", id="absurd-depth"),
        pytest.param(b"a: 1\nb: \0\n", "nul-byte", 2, "NUL byte", id="nul"),
        pytest.param(b"a: 1\nb: \xff\n", "yaml-syntax", 2, "UTF-8", id="utf-8"),
        pytest.param("a: 1\nb: \x01\n", "yaml-syntax", 2, "control characters", id="control"),
        pytest.param("1: a\n", "key-not-a-string", 1, "key 1 is not a string", id="number-key"),
        pytest.param("? [a]\n: b\n", "key-not-a-string", 1, "a list or map is not a string", id="list-key"),
        pytest.param("a: 1\non: b\n", "ambiguous-value", 2, "'on' is a boolean to some", id="boolean-key"),
        pytest.param("a:\n- yes\n", "ambiguous-value", 2, "'yes' is a boolean to some", id="boolean"),
        pytest.param("a: !!binary aGk=\n", "yaml-tag", 1, "means nothing to Kubernetes", id="binary"),
        pytest.param("a: !Ref x\n", "yaml-tag", 1, "means nothing to Kubernetes", id="tag"),
        pytest.param("a: !!set {x: }\n", "yaml-tag", 1, "means nothing to Kubernetes", id="set"),
        pytest.param("a: {<<: 5}\n", "yaml-merge", 1, "takes a map", id="merge"),
        pytest.param("---\na: 1\n---\n- 1\n", "not-an-object", 4, "must be a map", id="list"),
        pytest.param("kind: List\nitems:\n- {a: 1}\n- 5\n", "not-an-object", 4, "item of a List", id="list-item"),
    ],
)
def test_broken_rules_of_reading_name_their_line(text: str | bytes, rule: str, line: int, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        manifests(text)
    violation = refused.value.violations[0]
    assert (violation.file, violation.line, violation.rule) == ("f.yaml", line, rule)
    assert says in violation.message


def test_all_broken_rules_of_a_file_are_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        manifests("a: yes\nb: 08\n---\n- 1\n---\nc: 1\nc: 2\n")
    assert [violation.line for violation in refused.value.violations] == [1, 2, 4, 7]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("# only a comment\n---\n---\n# another\n", [], id="comments"),
        pytest.param(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n", [{"a": 1, "b": "x\n"}], id="bom-crlf"),
        pytest.param("a: 1\n---\n\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}], id="several"),
        pytest.param('{"a": [1, true, null, "x"]}', [{"a": [1, True, None, "x"]}], id="json"),
        pytest.param("a: &x {b: 1}\nc: {<<: *x, d: 2}\n", [{"a": {"b": 1}, "c": {"b": 1, "d": 2}}], id="merge"),
        pytest.param("c: {<<: [{a: 1, b: 1}, {a: 2}], b: 3}", [{"c": {"a": 1, "b": 3}}], id="merge-list"),
        pytest.param("a: !!str 5\nb: ! 6\n", [{"a": "5", "b": 6}], id="str-tag"),
        pytest.param("kind: List\nitems: [{a: 1}, {b: 2}]", [{"a": 1}, {"b": 2}], id="list"),
        pytest.param("kind: ShootList\nitems: []", [], id="typed-list"),
    ],
)
def test_what_is_accepted(text: str | bytes, expected: list[Any]) -> None:
    assert manifests(text) == expected


def test_values_behind_aliases_are_copies() -> None:
    (manifest,) = manifests("a: &x {b: [1]}\nc: *x\n")
    manifest["a"]["b"].append(2)
    assert manifest["c"] == {"b": [1]}


def test_lines_are_those_of_the_file_in_every_document_and_list() -> None:
    text = "---\na: 1\n---\nkind: List\nitems:\n- b:\n    c: 2\n- d:\n  - 5\n  - 6\n"
    first, second, third = parse(text.encode(), "f.yaml")

    assert [document.line for document in (first, second, third)] == [2, 6, 8]
    assert line_of(second, ("b", "c")) == 7
    assert line_of(third, ("d", 1)) == 10
    assert line_of(third, ("d", 9, "nothing")) == 8


def test_a_file_is_parsed_once_per_content() -> None:
    files = Files({"a.yaml": "a: 1", "b.yaml": "a: 1", "c.yaml": "c: 1"})
    cache: DocumentCache = {}

    for path in ("a.yaml", "b.yaml", "c.yaml", "a.yaml"):
        (document,) = documents_of(files, path, cache)
        assert document.file == path
    assert files.reads == ["a.yaml", "c.yaml"]


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.yaml")), ids=lambda path: path.name)
def test_real_files_read_as_other_readers_read_them(path: Path) -> None:
    data = path.read_bytes()
    assert manifests(data) == [value for value in yaml.load_all(data, yaml.CSafeLoader) if value]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
WORDS = st.sampled_from(
    ["y", "on", "1_000", "08", "0x1", "1e3", "~", "null", "- a", "a: b", "#", "", " x ", "a\n b\n", "\t"]
)


@given(st.dictionaries(st.text() | WORDS, JSON | WORDS, max_size=4))
def test_what_is_rendered_is_read_back(value: dict[str, Any]) -> None:
    try:
        text = to_yaml(value).encode()
    except UnicodeEncodeError:
        return  # half of a surrogate pair is no text
    assert manifests(text or b"{}") == [value]
