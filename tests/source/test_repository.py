from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitops.errors import InvalidInput, SourceError
from gitops.source.repository import open_artifact
from tests.source.repositories import commit, git, new_repository, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "repo"


def read(repo: Path | str, revision: str, path: str, cache: Path) -> bytes:
    with open_artifact(str(repo), revision, cache=cache) as artifact:
        return artifact.read(path)


def test_files_of_a_commit_are_listed_by_path_with_size_mode_and_id(folder: Path, tmp_path: Path) -> None:
    revision = new_repository(folder, {"b/x.yaml": "x", "b.yaml": "long", "a.yaml": ""})

    with open_artifact(str(folder), "HEAD", cache=tmp_path) as artifact:
        assert artifact.revision == revision
        assert [(blob.path, blob.size, blob.mode) for blob in artifact.files.values()] == [
            ("a.yaml", 0, "100644"),
            ("b.yaml", 4, "100644"),
            ("b/x.yaml", 1, "100644"),
        ]
        assert artifact.files["a.yaml"].sha == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        with pytest.raises(KeyError):
            artifact.read("c.yaml")


def test_the_commit_is_read_and_not_the_work_tree(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"a.yaml": "committed"})
    write(folder, {"a.yaml": "edited", "new.yaml": "untracked"})

    with open_artifact(str(folder), "HEAD", cache=tmp_path) as artifact:
        assert artifact.read("a.yaml") == b"committed"
        assert list(artifact.files) == ["a.yaml"]


def test_line_endings_are_those_of_the_blob_whatever_attributes_say(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"a.yaml": b"a: 1\r\n"})
    write(folder, {".git/info/attributes": "*.yaml text eol=lf filter=shout\n"})

    assert read(folder, "HEAD", "a.yaml", tmp_path) == b"a: 1\r\n"


@pytest.mark.parametrize("revision", ["main", "v1", "v1^{}", "HEAD~0", "refs/heads/main", "@"])
def test_branches_tags_and_expressions_stand_for_their_commit(folder: Path, tmp_path: Path, revision: str) -> None:
    expected = new_repository(folder, {"a.yaml": "1"})
    git(folder, "tag", "--annotate", "--message", "one", "v1")

    with open_artifact(str(folder), revision, cache=tmp_path) as artifact:
        assert artifact.revision == expected


def test_an_older_commit_keeps_its_content(folder: Path, tmp_path: Path) -> None:
    first = new_repository(folder, {"a.yaml": "1"})
    commit(folder, {"a.yaml": "2"})

    assert read(folder, first, "a.yaml", tmp_path) == b"1"
    assert read(folder, first[:10], "a.yaml", tmp_path) == b"1"


def bare(folder: Path) -> Path:
    git(folder, "clone", "--quiet", "--bare", ".", "../bare.git")
    return folder.parent / "bare.git"


def linked_worktree(folder: Path) -> Path:
    git(folder, "worktree", "add", "--quiet", "--detach", "../linked")
    return folder.parent / "linked"


def shallow_clone(folder: Path) -> Path:
    git(folder, "clone", "--quiet", "--depth", "1", folder.as_uri(), "../shallow")
    return folder.parent / "shallow"


@pytest.mark.parametrize(
    "place",
    [bare, linked_worktree, shallow_clone, lambda folder: folder / "deep" / "er"],
    ids=["bare", "worktree", "shallow", "sub-folder"],
)
def test_every_form_of_a_repository_is_read(folder: Path, tmp_path: Path, place: object) -> None:
    assert callable(place)
    expected = new_repository(folder, {"a.yaml": "1", "deep/er/b.yaml": "2"})

    with open_artifact(str(place(folder)), "HEAD", cache=tmp_path) as artifact:
        assert artifact.revision == expected
        assert artifact.read("deep/er/b.yaml") == b"2"


def test_a_hook_s_environment_does_not_point_elsewhere(folder: Path, tmp_path: Path) -> None:
    """Git runs hooks with GIT_DIR set to the repository they belong to."""
    new_repository(folder, {"a.yaml": "mine"})
    other = tmp_path / "other"
    new_repository(other, {"a.yaml": "other"})
    script = (
        "import sys; from pathlib import Path; from gitops.source.repository import open_artifact\n"
        "with open_artifact(sys.argv[1], 'HEAD', cache=Path('.')) as artifact: print(artifact.read('a.yaml'))"
    )
    environment = {**os.environ, "GIT_DIR": str(other / ".git"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        cwd=other,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "b'mine'", done.stderr


@pytest.mark.parametrize(
    ("revision", "says"),
    [
        ("nothing", "revision 'nothing' is unknown"),
        ("0" * 40, "is unknown"),
        ("HEAD~5", "is unknown"),
        ("--all", "is not a revision"),
        ("", "is not a revision"),
        ("HEAD:a.yaml", "is unknown"),
    ],
)
def test_an_unknown_revision_is_said_to_be_unknown(folder: Path, tmp_path: Path, revision: str, says: str) -> None:
    new_repository(folder, {"a.yaml": "1"})

    with pytest.raises(SourceError, match=says), open_artifact(str(folder), revision, cache=tmp_path):
        pass


def test_a_shallow_clone_is_named_as_the_likely_reason(folder: Path, tmp_path: Path) -> None:
    first = new_repository(folder, {"a.yaml": "1"})
    commit(folder, {"a.yaml": "2"})

    clone = str(shallow_clone(folder))
    with pytest.raises(SourceError, match="unshallow"), open_artifact(clone, first, cache=tmp_path):
        pass


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(SourceError, match="not in a git repository"),
        open_artifact(str(tmp_path), "HEAD", cache=tmp_path),
    ):
        pass


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(SourceError, match="does not exist"),
        open_artifact(str(tmp_path / "no"), "HEAD", cache=tmp_path),
    ):
        pass


def test_a_repository_without_commits_says_so(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    git(folder, "init", "--quiet")

    with pytest.raises(SourceError, match="no commit yet"), open_artifact(str(folder), "HEAD", cache=tmp_path):
        pass


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
OLD_POINTER = POINTER.replace("git-lfs", "hawser")


@pytest.mark.parametrize(
    ("content", "rule", "line"),
    [
        pytest.param(POINTER, "lfs-pointer", 1, id="lfs"),
        pytest.param(OLD_POINTER, "lfs-pointer", 1, id="lfs of old"),
        pytest.param(b"a: 1\nb: \0\n", "nul-byte", 2, id="nul"),
        pytest.param("#" * (5 * 1024 * 1024 + 1), "too-large", 0, id="size"),
    ],
)
def test_files_that_are_no_manifests_are_refused(
    folder: Path, tmp_path: Path, content: str | bytes, rule: str, line: int
) -> None:
    new_repository(folder, {"a.yaml": content, "b.yaml": "ok"})

    with open_artifact(str(folder), "HEAD", cache=tmp_path) as artifact:
        with pytest.raises(InvalidInput) as refused:
            artifact.read("a.yaml")
        assert artifact.read("b.yaml") == b"ok"
    (violation,) = refused.value.violations
    assert (violation.file, violation.line, violation.rule) == ("a.yaml", line, rule)


def test_a_file_of_exactly_the_limit_is_read(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"a.yaml": b"#" * (5 * 1024 * 1024)})

    assert len(read(folder, "HEAD", "a.yaml", tmp_path)) == 5 * 1024 * 1024


@pytest.mark.parametrize("target", ["b.yaml", "../outside.yaml", "/etc/passwd"])
def test_symlinks_are_refused_wherever_they_lead(folder: Path, tmp_path: Path, target: str) -> None:
    folder.mkdir()
    (folder / "a.yaml").symlink_to(target)
    new_repository(folder, {"b.yaml": "ok"})

    with pytest.raises(InvalidInput, match=r"a\.yaml: the file is a symlink"):
        read(folder, "HEAD", "a.yaml", tmp_path)


def test_submodules_are_refused(folder: Path, tmp_path: Path) -> None:
    revision = new_repository(folder, {"b.yaml": "ok"})
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{revision},sub")
    git(folder, "commit", "--quiet", "--message", "submodule")

    with pytest.raises(InvalidInput, match="submodule"):
        read(folder, "HEAD", "sub", tmp_path)


def test_a_real_submodule_is_refused_where_it_is_read_and_its_settings_are_not_looked_at(
    folder: Path, tmp_path: Path
) -> None:
    new_repository(tmp_path / "other", {"x.yaml": "1"})
    new_repository(folder, {"b.yaml": "ok"})
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../other", "sub")
    commit(folder, {".gitmodules": (folder / ".gitmodules").read_text() + "\tupdate = !touch /nonexistent\n"})

    assert read(folder, "HEAD", "b.yaml", tmp_path) == b"ok"
    with pytest.raises(InvalidInput, match="submodule, and other repositories are not read"):
        read(folder, "HEAD", "sub", tmp_path)


def test_attributes_alone_make_no_lfs_pointer(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {".gitattributes": "*.yaml filter=lfs diff=lfs merge=lfs -text\n", "a.yaml": POINTER})
    git(folder, "-c", "filter.lfs.clean=cat", "add", "--all")

    with pytest.raises(InvalidInput, match="lfs-pointer"):
        read(folder, "HEAD", "a.yaml", tmp_path)
    commit(folder, {"a.yaml": "a: 1\n"})
    assert read(folder, "HEAD", "a.yaml", tmp_path) == b"a: 1\n"


def test_a_blob_that_a_partial_clone_left_out_is_not_fetched_behind_our_back(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"a.yaml": "1"})
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "clone", "--quiet", "--filter=blob:none", "--no-checkout", folder.as_uri(), "../partial")

    with pytest.raises(SourceError, match="partial clone"):
        read(folder.parent / "partial", "HEAD", "a.yaml", tmp_path)


def test_an_object_that_is_gone_is_an_error_and_not_an_absence(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"a.yaml": "1"})
    with open_artifact(str(folder), "HEAD", cache=tmp_path) as artifact:
        sha = artifact.files["a.yaml"].sha
        (folder / ".git" / "objects" / sha[:2] / sha[2:]).unlink()
        with pytest.raises(SourceError, match=r"lacks a\.yaml"):
            artifact.read("a.yaml")


def test_replacement_refs_do_not_change_what_a_commit_holds(folder: Path, tmp_path: Path) -> None:
    first = new_repository(folder, {"a.yaml": "1"})
    second = commit(folder, {"a.yaml": "2"})
    git(folder, "replace", second, first)

    assert read(folder, second, "a.yaml", tmp_path) == b"2"


def test_names_beyond_ascii_are_kept(folder: Path, tmp_path: Path) -> None:
    new_repository(folder, {"größe/ä b.yaml": "1"})

    assert read(folder, "HEAD", "größe/ä b.yaml", tmp_path) == b"1"
