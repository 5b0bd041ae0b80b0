from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.desired.overlay_file import read_overlay
from gitops.desired.vector_edit import with_entry, with_image
from gitops.desired.vector_set import Wanted, set_image
from gitops.gardener.image_vector.reading import read_vector
from gitops.gardener.image_vector.reference import Reference, parse_reference, repository_of
from tests.desired.in_memory import Files, overlay, repository
from tests.desired.test_image_vectors import BASE, ENTRY, INLINE, OVERWRITE

SAMPLES = sorted((Path(__file__).parents[1] / "data" / "samples" / "imagevector").glob("*.yaml"))
DIGEST = "sha256:" + "0123456789abcdef" * 4


def changed_lines(before: bytes, after: bytes) -> list[str]:
    """Lines that went and came, with their line breaks, as `-old` and `+new`."""
    old, new = (text.decode().splitlines(keepends=True) for text in (before, after))
    changed: list[str] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            changed += [*(f"-{line}" for line in old[a:b]), *(f"+{line}" for line in new[c:d])]
    return changed


def test_there_are_enough_commented_samples() -> None:
    assert len(SAMPLES) == 12


def commented(data: bytes) -> bytes:
    """A file with remarks in all the places where people put them."""
    return b"".join(
        line.rstrip(b"\n") + b"   # why it is so\n  # and more\n\n" if b"tag:" in line or b"name:" in line else line
        for line in data.splitlines(keepends=True)
    )


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("written", [bytes, commented], ids=["as-it-is", "commented"])
def test_another_tag_in_a_real_file_changes_one_line(path: Path, written: Callable[[bytes], bytes]) -> None:
    before = written(path.read_bytes())
    images = yaml.safe_load(before)["images"]
    tagged = [position for position, entry in enumerate(images) if "tag" in entry]
    for position in {*tagged[:1], *tagged[len(tagged) // 2 :][:1], *tagged[-1:]}:
        after = with_image(before, (), position, parse_reference(f":v9.9@{DIGEST}"))
        removed, added = changed_lines(before, after)
        tag = images[position]["tag"]
        assert removed[1:].lstrip().startswith("tag:")
        assert added == "+" + removed[1:].replace(tag, f"v9.9@{DIGEST}")
        new = yaml.safe_load(after)["images"]
        assert new.pop(position) == {**images[position], "tag": f"v9.9@{DIGEST}"}
        assert new == images[:position] + images[position + 1 :]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_another_registry_in_a_real_file_changes_two_lines(path: Path) -> None:
    before = path.read_bytes()
    data = yaml.safe_load(before)
    position = len(data["images"]) - 1
    after = with_image(before, (), position, Reference("mirror.example/all", "v1"))
    kinds = [line[0] for line in changed_lines(before, after)]
    assert (kinds.count("+"), kinds.count("-")) == (2, 1 + ("tag" in data["images"][position]))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_new_entry_in_a_real_file_only_adds_lines(path: Path) -> None:
    before = path.read_bytes()
    like = read_vector(yaml.safe_load(before)).images[0]
    after = with_entry(before, (), like, Reference("mirror.example/new", "v1"))
    assert {line[0] for line in changed_lines(before, after)} == {"+"}
    images = yaml.safe_load(after)["images"]
    assert images[:-1] == yaml.safe_load(before)["images"]
    assert read_vector({"images": images}).images[-1].key == like.key


WRITTEN = [
    ("flow", "- {name: a, repository: r, tag: v1} # c\n", "r:v2", "- {name: a, repository: r, tag: v2} # c\n"),
    ("flow-no-tag", "- {name: a, repository: r} # c\n", ":v2", "- {name: a, repository: r, tag: v2} # c\n"),
    ("order", "- {name: a, tag: v1, repository: r}\n", "q:v2", "- {name: a, tag: v2, repository: q}\n"),
    ("ref", "- name: a\n  ref: 'r:5/b:v1' # c\n", ":v2", "- name: a\n  ref: 'r:5/b:v2' # c\n"),
    ("ref-digest", "- name: a\n  ref: r:v1\n", f"@{DIGEST}", f"- name: a\n  ref: r@{DIGEST}\n"),
    ("no-tag", "- repository: r # c\n  name: a\n", ":v2", "- repository: r # c\n  tag: v2\n  name: a\n"),
    ("no-line-break", "- name: a\n  repository: r", ":v2", "- name: a\n  repository: r\n  tag: v2"),
    ("crlf", "- name: a\r\n  repository: r\r\n", ":v2", "- name: a\r\n  repository: r\r\n  tag: v2\r\n"),
    ("quotes", '- repository: r\n  tag: "v1"\n', ":v2", '- repository: r\n  tag: "v2"\n'),
    ("number", "- repository: r\n  tag: v1\n", ":1.10", '- repository: r\n  tag: "1.10"\n'),
    ("same", "- repository: r\n  tag: v1\n", "r:v1", "- repository: r\n  tag: v1\n"),
]


@pytest.mark.parametrize(("text", "reference", "line"), [case[1:] for case in WRITTEN], ids=[c[0] for c in WRITTEN])
def test_the_way_an_entry_is_written_is_kept(text: str, reference: str, line: str) -> None:
    after = with_image(f"images:\n{text}".encode(), (), 0, parse_reference(reference))
    assert after.decode() == f"images:\n{line}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("- {repository: r, tag: &t v1}\n- {repository: r, tag: *t}\n", "anchor", id="anchor"),
        pytest.param("- repository: r\n  tag: |-\n    v1\n", "block of text", id="block"),
        pytest.param("- &e {repository: r, tag: v1}\n- {<<: *e, name: a}\n", "no repository", id="merge"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(text: str, says: str) -> None:
    position = 1 if "<<" in text else 0
    with pytest.raises(ValueError, match=says):
        with_image(f"images:\n{text}".encode(), (), position, Reference(None, "v2"))


@pytest.mark.parametrize("text", ["images: []\n", "images: [{name: a, ref: r}]\n", "caBundle: {}\n"])
def test_a_list_in_one_line_takes_no_new_entry(text: str) -> None:
    like = read_vector(yaml.safe_load(BASE)).images[0]
    with pytest.raises(ValueError, match="by hand"):
        with_entry(text.encode(), (), like, Reference(None, "v2"))


@pytest.mark.parametrize(
    ("text", "repository", "tag"),
    [
        ("nginx:v1", "nginx", "v1"),
        ("localhost:5001/a/b:latest", "localhost:5001/a/b", "latest"),
        (f"ghcr.io/a/b_c-d@{DIGEST}", "ghcr.io/a/b_c-d", DIGEST),
        (f"ghcr.io/a/b:v1@{DIGEST}", "ghcr.io/a/b", f"v1@{DIGEST}"),
        (":v2", None, "v2"),
        (f"@{DIGEST}", None, DIGEST),
    ],
)
def test_references(text: str, repository: str | None, tag: str) -> None:
    assert parse_reference(text) == Reference(repository, tag)


@pytest.mark.parametrize(
    "text", ["", "v2", "nginx", "localhost:5001/a", "A/B:v1", "a:v1:v2", "a@sha256:12", "a b:v1", "https://a/b:v1"]
)
def test_what_is_no_reference_or_says_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an image|says no version"):
        parse_reference(text)


def test_the_repository_of_a_reference() -> None:
    shown = ["a:5/b:v1@sha256:1", "a:5/b", "b:v1", "b@sha256:1"]
    assert [repository_of(text) for text in shown] == ["a:5/b", "a:5/b", "b", "b"]


def artifact(spec: str = ENTRY, vector: str = OVERWRITE, base: str = BASE) -> Files:
    extra = {"overlays/dev/vector.yaml": vector, "overlays/dev/images.yaml": base}
    return Files({**repository(overlay=overlay(spec)), **extra})


def edit(wanted: Wanted, **changed: Any) -> str:
    files = artifact(**changed)
    found = set_image(files, read_overlay(files, "dev", {}), wanted)
    assert found.before == files.read(found.path)
    return "".join(changed_lines(found.before, found.after))


V1 = Reference(None, "v1")


def test_an_image_is_set_where_it_is_overwritten() -> None:
    assert edit(Wanted("balloons", V1)) == "-  tag: v0.12\n+  tag: v1\n"


def test_an_image_that_is_not_overwritten_yet_gets_an_entry_like_the_built_in_one() -> None:
    base = BASE + "  targetVersion: '>= 1.31'\n  architectures: [amd64, arm64]\n"
    assert edit(Wanted("nri-config-manager", V1), base=base) == (
        "+- name: nri-config-manager\n"
        '+  targetVersion: ">= 1.31"\n'
        "+  architectures: [amd64, arm64]\n"
        "+  repository: public/nri-config-manager\n"
        "+  tag: v1\n"
    )


def test_an_image_is_set_in_the_overlay_itself() -> None:
    assert edit(Wanted("balloons", V1), spec=INLINE) == ""
    other = Reference("n/o", f"v2@{DIGEST}")
    assert edit(Wanted("balloons", other), spec=INLINE) == f"-        ref: m:v1\n+        ref: n/o:v2@{DIGEST}\n"


TWO = OVERWRITE + "  targetVersion: 1.34.x\n" + OVERWRITE[8:].replace("v0.12", "v0.13") + "  targetVersion: 1.35.x\n"


def test_one_of_several_entries_is_named_by_its_version() -> None:
    wanted = Wanted("balloons", V1, target_version="1.35.x")
    assert edit(wanted, vector=TWO) == "-  tag: v0.13\n+  tag: v1\n"


ARM = OVERWRITE + "  architectures: [amd64]\n" + OVERWRITE[8:].replace("v0.12", "v0.13") + "  architectures: [arm64]\n"


def test_one_of_several_entries_is_named_by_its_architecture() -> None:
    assert edit(Wanted("balloons", V1, architecture="arm64"), vector=ARM) == "-  tag: v0.13\n+  tag: v1\n"


@pytest.mark.parametrize(
    ("wanted", "changed", "says"),
    [
        pytest.param(Wanted("a", V1), {}, "there are balloons, nri-config-manager", id="unknown"),
        pytest.param(Wanted("balloons", V1, extension="x"), {}, "has no image vector", id="extension"),
        pytest.param(Wanted("balloons", V1), {"spec": ""}, "has no image vector", id="none"),
        pytest.param(Wanted("balloons", V1), {"vector": TWO}, "target version '1.34.x'; target version", id="several"),
        pytest.param(Wanted("balloons", V1), {"vector": ARM}, "architectures amd64; architectures", id="machines"),
        pytest.param(
            Wanted("balloons", V1),
            {"spec": ENTRY + ENTRY[16:].replace("nri-extension", "other")},
            r"--extension \(nri-extension, other\)",
            id="several-vectors",
        ),
        pytest.param(Wanted("balloons", V1), {"vector": OVERWRITE + "---\na: 1\n"}, "one document", id="documents"),
        pytest.param(
            Wanted("nri-config-manager", V1),
            {"vector": OVERWRITE.replace("tag: ", "tag: &t ") + "  sourceRepository: x\n  version: *t\n"},
            "more than image nri-config-manager would change",
            id="alias-at-the-end",
        ),
        pytest.param(
            Wanted("balloons", V1), {"spec": ENTRY.replace("vector.yaml", "none.yaml")}, "no file", id="no-file"
        ),
    ],
)
def test_an_image_that_is_not_clear_is_refused(wanted: Wanted, changed: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        edit(wanted, **changed)
