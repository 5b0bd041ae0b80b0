from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitops.errors import InvalidInput, SourceError
from gitops.source.worktree import open_worktree
from tests.source.repositories import commit, git, new_repository, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "repo"


def test_edited_and_untracked_files_are_there_and_ignored_ones_are_not(folder: Path) -> None:
    revision = new_repository(folder, {"a.yaml": "1", "gone.yaml": "1", ".gitignore": "*.secret\n"})
    write(folder, {"a.yaml": "2", "sub/new.yaml": "3", "x.secret": "4"})
    (folder / "gone.yaml").unlink()

    artifact = open_worktree(str(folder / "sub"))

    assert artifact.revision == revision
    assert list(artifact.files) == [".gitignore", "a.yaml", "sub/new.yaml"]
    assert artifact.read("a.yaml") == b"2"
    assert artifact.read("sub/new.yaml") == b"3"
    assert artifact.files["a.yaml"].sha == ""


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("version https://git-lfs.github.com/spec/v1\n", "lfs-pointer"),
        (b"\0", "nul-byte"),
        ("#" * 5242881, "too-large"),
    ],
    ids=["lfs", "nul", "size"],
)
def test_the_same_files_are_refused_as_in_a_commit(folder: Path, content: str | bytes, rule: str) -> None:
    new_repository(folder, {"a.yaml": "1"})
    write(folder, {"a.yaml": content})

    with pytest.raises(InvalidInput) as refused:
        open_worktree(str(folder)).read("a.yaml")
    assert [violation.rule for violation in refused.value.violations] == [rule]


def test_a_symlink_is_refused(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"b.yaml": "1"})
    (tmp_path / "outside.yaml").write_text("secret")
    (folder / "a.yaml").symlink_to(tmp_path / "outside.yaml")

    with pytest.raises(InvalidInput, match="symlink"):
        open_worktree(str(folder)).read("a.yaml")


def test_a_folder_that_became_a_symlink_is_refused(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"sub/a.yaml": "1"})
    write(tmp_path / "outside", {"a.yaml": "secret"})
    (folder / "sub" / "a.yaml").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to(tmp_path / "outside")

    artifact = open_worktree(str(folder))
    with pytest.raises(InvalidInput, match="symlink"):
        artifact.read("sub/a.yaml")


def test_what_is_no_regular_file_is_refused(folder: Path) -> None:
    new_repository(folder, {"a.yaml": "1"})
    (folder / "a.yaml").unlink()
    os.mkfifo(folder / "a.yaml")

    with pytest.raises(InvalidInput, match="regular file"):
        open_worktree(str(folder)).read("a.yaml")


def test_a_repository_inside_is_refused(folder: Path) -> None:
    new_repository(folder, {"a.yaml": "1"})
    new_repository(folder / "inner", {"b.yaml": "1"})

    artifact = open_worktree(str(folder))
    assert "inner/b.yaml" not in artifact.files
    with pytest.raises(InvalidInput, match="submodule"):
        artifact.read("inner")


def test_a_file_that_vanishes_is_an_error_and_not_an_absence(folder: Path) -> None:
    new_repository(folder, {"a.yaml": "1"})
    artifact = open_worktree(str(folder))
    (folder / "a.yaml").unlink()

    with pytest.raises(SourceError, match=r"a\.yaml"):
        artifact.read("a.yaml")


def test_a_bare_repository_has_no_work_tree(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"a.yaml": "1"})
    git(folder, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))

    with pytest.raises(SourceError, match="bare"):
        open_worktree(str(tmp_path / "bare.git"))


def test_a_linked_worktree_has_its_own_commit(folder: Path, tmp_path: Path) -> None:
    first = new_repository(folder, {"a.yaml": "1"})
    commit(folder, {"a.yaml": "2"})
    git(folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), first)

    artifact = open_worktree(str(tmp_path / "linked"))
    assert (artifact.revision, artifact.read("a.yaml")) == (first, b"1")
