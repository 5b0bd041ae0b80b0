from __future__ import annotations

from pathlib import Path

import pytest

from gitops.errors import SourceError
from gitops.source.address import address_of, is_url
from gitops.source.repository import open_artifact
from tests.source.repositories import commit, git, new_repository


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    folder = tmp_path / "remote"
    new_repository(folder, {"a.yaml": "1"})
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "deep"


def content(remote: Path, revision: str, cache: Path) -> tuple[str, bytes]:
    with open_artifact(remote.as_uri(), revision, cache=cache) as artifact:
        return artifact.revision, artifact.read("a.yaml")


def test_every_opening_sees_what_is_new(remote: Path, cache: Path) -> None:
    first = git(remote, "rev-parse", "HEAD")
    assert content(remote, "HEAD", cache) == (first, b"1")

    second = commit(remote, {"a.yaml": "2"})

    assert content(remote, "HEAD", cache) == (second, b"2")
    assert content(remote, "main", cache) == (second, b"2")
    assert content(remote, "HEAD~1", cache) == (first, b"1")


def test_a_forced_push_is_followed(remote: Path, cache: Path) -> None:
    content(remote, "main", cache)
    git(remote, "commit", "--quiet", "--amend", "--message", "rewritten")

    assert content(remote, "main", cache)[0] == git(remote, "rev-parse", "HEAD")


def test_head_follows_the_remote_to_another_branch(remote: Path, cache: Path) -> None:
    content(remote, "HEAD", cache)
    git(remote, "switch", "--quiet", "--create", "next")
    expected = commit(remote, {"a.yaml": "next"})

    assert content(remote, "HEAD", cache) == (expected, b"next")


def test_a_branch_that_is_gone_is_unknown_and_may_come_back_as_a_folder(remote: Path, cache: Path) -> None:
    git(remote, "branch", "feature")
    content(remote, "feature", cache)
    git(remote, "branch", "--delete", "--quiet", "feature")
    git(remote, "branch", "feature/one")

    with pytest.raises(SourceError, match=r"is gone from file:.*it stood at"):
        content(remote, "feature", cache)
    assert content(remote, "feature/one", cache)[1] == b"1"


def test_a_commit_that_no_branch_holds_is_asked_for_by_itself(remote: Path, cache: Path) -> None:
    git(remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    lost = commit(remote, {"a.yaml": "lost"})
    git(remote, "reset", "--quiet", "--hard", "HEAD~1")

    assert content(remote, lost, cache) == (lost, b"lost")


def test_a_commit_the_remote_does_not_have_is_an_error(remote: Path, cache: Path) -> None:
    with pytest.raises(SourceError, match="is in no branch or tag"):
        content(remote, "1" * 40, cache)


def test_the_mirror_is_kept_apart_by_address(remote: Path, cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    new_repository(other, {"a.yaml": "other"})
    content(remote, "HEAD", cache)

    assert content(other, "HEAD", cache)[1] == b"other"
    assert len(list(cache.glob("*.git"))) == 2


def test_a_repository_that_is_not_there_is_said_to_be_so(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot fetch file://.*/nothing: fatal: .*; check the address"):
        content(tmp_path / "nothing", "HEAD", cache)


@pytest.mark.parametrize("url", ["http://example.org/r.git", "git://example.org/r.git", "ext::sh://x"])
def test_other_transports_are_refused_before_anything_is_fetched(url: str, cache: Path) -> None:
    with pytest.raises(SourceError, match="only https, ssh and file"), open_artifact(url, "HEAD", cache=cache):
        pass


def test_credentials_reach_neither_messages_nor_the_disk(remote: Path, cache: Path) -> None:
    with open_artifact(f"file://user:s3cret@localhost{remote}", "HEAD", cache=cache) as artifact:
        assert artifact.repository == f"file://localhost{remote}"
    nowhere = open_artifact(f"file://user:s3cret@localhost{remote}/nothing", "HEAD", cache=cache)
    with pytest.raises(SourceError, match="cannot fetch") as error, nowhere:
        pass

    assert "s3cret" not in str(error.value)
    written = [path.read_bytes() for path in cache.rglob("*") if path.is_file()]
    assert written
    assert not any(b"s3cret" in data for data in written)


@pytest.mark.parametrize(
    ("url", "told", "shown", "host", "username", "password"),
    [
        ("https://u:p%40ss@h:8443/r", "https://h:8443/r", "https://h:8443/r", "https://h:8443", "u", "p@ss"),
        ("https://t0ken@h/r", "https://h/r", "https://h/r", "https://h", "t0ken", ""),
        ("https://h/r", "https://h/r", "https://h/r", "https://h", "", ""),
        ("ssh://git:p4ss@h:22/r", "ssh://git@h:22/r", "ssh://h:22/r", "", "", ""),
        ("git@h:r", "git@h:r", "git@h:r", "", "", ""),
        ("file://u:p@localhost/r", "file://localhost/r", "file://localhost/r", "", "u", "p"),
    ],
)
def test_user_and_password_are_no_part_of_what_git_is_told(
    url: str, told: str, shown: str, host: str, username: str, password: str
) -> None:
    address = address_of(url)

    assert (address.url, address.shown, address.host) == (told, shown, host)
    assert (address.username, address.password) == (username, password)
    assert "p@ss" not in repr(address)


@pytest.mark.parametrize(
    ("repo", "expected"),
    [
        (".", False),
        ("/srv/repo.git", False),
        ("a/b:c", False),
        ("https://h/r", True),
        ("file:///r", True),
        ("git@h:r.git", True),
        ("h:r", True),
    ],
)
def test_urls_are_told_from_folders(repo: str, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_url(repo) is expected
