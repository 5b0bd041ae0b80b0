import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gitops.deploy.printed import Because, Part, Printed, document_text, kustomization_text, yaml_text

AMBIGUOUS = [
    "yes",
    "No",
    "on",
    "~",
    "null",
    "1e3",
    "0x10",
    "012",
    "1_000",
    "12:30:45",
    "1.0",
    "2026-01-01",
    ".inf",
    "=",
]
HOSTILE = [
    "a: b",
    "- a",
    "#x",
    "'",
    '"',
    "{a}",
    "&a",
    "*a",
    "!!int 1",
    "\\",
    "a\nb",
    "---",
    "...",
    "\u2028",
    "\u0000",
    "",
    " ",
    "<<",
]
texts = st.text(st.characters(exclude_categories=["Cs"]))


def printed(tree: dict[str, object], why: str = "because") -> Printed:
    return Printed(Part.RUN, {"kind": "K", "metadata": {"name": "it"}, **tree}, why)


@pytest.mark.parametrize("text", AMBIGUOUS + HOSTILE)
def test_a_string_stays_what_it_is_for_readers_of_both_versions_of_yaml(text: str) -> None:
    said = document_text(printed({"value": text, "list": [text, text], text: "key"}))

    for read in (yaml.safe_load, YAML(typ="safe", pure=True).load):
        found = read(said)
        assert (found["value"], found["list"], found[text]) == (text, [text, text], "key")


@given(
    st.recursive(texts | st.integers() | st.booleans(), lambda below: st.lists(below) | st.dictionaries(texts, below))
)
def test_whatever_is_printed_is_read_again(value: object) -> None:
    each = printed({"value": {"below": Because(value, "why\nnot")}})

    assert yaml.safe_load(document_text(each)) == each.manifest


def test_reasons_stand_above_what_they_are_about() -> None:
    each = printed(
        {"spec": {"list": [Because({"a": 1}, "of the item"), {"b": 2}], "field": Because(3, "of the field")}}
    )

    assert document_text(each) == (
        "# because\nkind: K\nmetadata:\n  name: it\nspec:\n  list:\n  # of the item\n  - a: 1\n  - b: 2\n"
        "  # of the field\n  field: 3\n"
    )


def test_no_reason_breaks_out_of_its_comment() -> None:
    said = document_text(printed({"field": Because(1, "one\ntwo: 2\n" + "long " * 60)}, "first\nkind: Other"))

    assert yaml.safe_load(said) == {"kind": "K", "metadata": {"name": "it"}, "field": 1}
    assert max(map(len, said.splitlines())) <= 120


def test_a_stream_holds_every_object() -> None:
    stream = yaml_text([printed({"a": 1}), printed({"a": 2})])

    assert [each["a"] for each in yaml.safe_load_all(stream)] == [1, 2]


def test_files_are_told_apart_by_kind_namespace_and_name() -> None:
    cluster = Printed(Part.GARDEN, {"kind": "ClusterRole", "metadata": {"name": "a:b"}}, "")
    inside = Printed(Part.GARDEN, {"kind": "Role", "metadata": {"namespace": "x", "name": "a:b"}}, "")

    assert [cluster.file_name, inside.file_name] == ["clusterrole-a-b.yaml", "role-x-a-b.yaml"]
    assert json.loads(json.dumps(yaml.safe_load(kustomization_text(["a.yaml"]))))["resources"] == ["a.yaml"]
