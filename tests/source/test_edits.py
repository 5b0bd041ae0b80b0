from __future__ import annotations

from pathlib import Path

import git
import pytest

from gitops.desired.edits import FileEdit
from gitops.errors import Refused, SourceError
from gitops.source.edits import write_edits


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    git.Repo.init(folder).close()
    (folder / "a.yaml").write_bytes(b"old\r\n")
    (folder / "a.yaml").chmod(0o755)
    return folder


def test_files_are_written_as_they_are_and_keep_their_mode(tree: Path) -> None:
    (tree / "deep").mkdir()
    write_edits(str(tree / "deep"), [FileEdit("a.yaml", b"old\r\n", b"new\r\n"), FileEdit("b/c.yaml", b"", b"c")])
    assert (tree / "a.yaml").read_bytes() == b"new\r\n"
    assert (tree / "a.yaml").stat().st_mode & 0o777 == 0o755
    assert (tree / "b" / "c.yaml").read_bytes() == b"c"
    assert sorted(path.name for path in tree.iterdir()) == [".git", "a.yaml", "b", "deep"]


def test_a_file_that_changed_in_the_meantime_is_left_alone(tree: Path) -> None:
    with pytest.raises(Refused, match="by somebody else"):
        write_edits(str(tree), [FileEdit("a.yaml", b"older", b"new")])
    assert (tree / "a.yaml").read_bytes() == b"old\r\n"


def test_a_symlink_is_not_followed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tree / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="symlink"):
        write_edits(str(tree), [FileEdit("link/a.yaml", b"", b"new")])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_in_the_way_is_told(tree: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot write a\.yaml/b"):
        write_edits(str(tree), [FileEdit("a.yaml/b", b"", b"new")])


def test_a_bare_repository_has_nothing_to_edit(tmp_path: Path) -> None:
    git.Repo.init(tmp_path / "bare", bare=True).close()
    with pytest.raises(SourceError, match="no work tree"):
        write_edits(str(tmp_path / "bare"), [])
