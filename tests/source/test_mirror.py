from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from gitops.errors import SourceError
from gitops.source.access import Access
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
    return read(remote.as_uri(), revision, cache)


def read(repo: str, revision: str, cache: Path) -> tuple[str, bytes]:
    with open_artifact(repo, revision, cache=cache) as artifact:
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


def mirror_in(cache: Path) -> Path:
    (mirror,) = cache.glob("*.git")
    return mirror


def commits_in(cache: Path) -> int:
    listing = git(mirror_in(cache), "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
    return listing.split().count("commit")


def with_history(remote: Path, length: int = 10) -> None:
    for number in range(length):
        commit(remote, {"a.yaml": str(number)})


@pytest.mark.parametrize("revision", ["HEAD", "main", "refs/heads/main", "v1"])
def test_of_a_long_history_only_the_commit_that_is_read_is_fetched(remote: Path, cache: Path, revision: str) -> None:
    with_history(remote)
    git(remote, "tag", "--annotate", "--message", "one", "v1")

    assert content(remote, revision, cache)[1] == b"9"
    assert commits_in(cache) == 1


def test_a_commit_by_its_id_is_fetched_alone(remote: Path, cache: Path) -> None:
    """A rollback reads an older one, which need not bring the history in between."""
    first = git(remote, "rev-parse", "HEAD")
    with_history(remote)
    content(remote, "main", cache)

    assert content(remote, first, cache) == (first, b"1")
    assert commits_in(cache) == 2


def test_a_server_that_hands_out_branches_only_has_them_searched(
    remote: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protocol version 0 with a server's defaults; newer ones hand out whatever they have."""
    first = git(remote, "rev-parse", "HEAD")
    with_history(remote)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(remote.with_name("gitconfig")))
    remote.with_name("gitconfig").write_text("[protocol]\n\tversion = 0\n")

    assert content(remote, first, cache) == (first, b"1")
    assert commits_in(cache) == 11


def test_what_the_mirror_holds_already_is_not_fetched_again(remote: Path, cache: Path) -> None:
    content(remote, "main", cache)
    packed = sorted(path.name for path in (mirror_in(cache) / "objects").rglob("*") if path.is_file())
    git(remote, "branch", "same")

    content(remote, "main", cache)
    content(remote, "same", cache)

    assert sorted(path.name for path in (mirror_in(cache) / "objects").rglob("*") if path.is_file()) == packed


def test_a_commit_that_the_mirror_holds_is_read_while_the_remote_is_away(remote: Path, cache: Path) -> None:
    """A commit never changes, so a held rollback needs no remote; a branch may have changed, so it does."""
    held = git(remote, "rev-parse", "HEAD")
    content(remote, "main", cache)
    remote.rename(remote.with_name("away"))

    assert content(remote, held, cache) == (held, b"1")
    with pytest.raises(SourceError, match="cannot fetch"):
        content(remote, "main", cache)


@pytest.mark.parametrize("revision", ["main~3", "HEAD~3", "@~3", "main^^^"])
def test_what_needs_history_brings_it(remote: Path, cache: Path, revision: str) -> None:
    with_history(remote)
    content(remote, "main", cache)

    assert content(remote, revision, cache)[1] == b"6"
    assert content(remote, "main", cache)[1] == b"9"


def test_an_abbreviated_id_is_looked_for_in_history(remote: Path, cache: Path) -> None:
    first = git(remote, "rev-parse", "HEAD")
    with_history(remote, 2)

    assert content(remote, first[:10], cache) == (first, b"1")


@pytest.mark.parametrize("url", [True, False], ids=["url", "folder"])
def test_a_tag_does_not_take_the_place_of_the_branch_that_is_followed(remote: Path, cache: Path, *, url: bool) -> None:
    """Whoever may push tags may not be one who may push to that branch."""
    repo = remote.as_uri() if url else str(remote)
    git(remote, "tag", "main")
    git(remote, "update-ref", "refs/heads/HEAD", "main~0")
    second = commit(remote, {"a.yaml": "2"})
    git(remote, "update-ref", f"refs/heads/{second}", "main~0")

    for revision in ("main", "main~0"):
        with pytest.raises(SourceError, match=f"{revision}' is ambiguous in .*say refs/heads/"):
            read(repo, revision, cache)
    for certain in ("refs/heads/main", "heads/main", "refs/heads/main~0", "HEAD", "@", second):
        assert read(repo, certain, cache) == (second, b"2")
    git(remote, "tag", "--delete", "main")
    assert read(repo, "main", cache) == (second, b"2")


def test_a_branch_that_was_never_there_is_unknown(remote: Path, cache: Path) -> None:
    with pytest.raises(SourceError, match="revision 'nothing' is unknown in file://"):
        content(remote, "nothing", cache)


def test_a_remote_without_commits_says_so(cache: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "empty.git")

    with pytest.raises(SourceError, match="has no commit yet"):
        content(tmp_path / "empty.git", "HEAD", cache)


def lose_objects(mirror: Path) -> None:
    shutil.rmtree(mirror / "objects")


def empty_objects(mirror: Path) -> None:
    for file in (path for path in (mirror / "objects").rglob("*") if path.is_file()):
        file.chmod(0o644)
        file.write_bytes(b"")


def lose_head(mirror: Path) -> None:
    (mirror / "HEAD").unlink()


def garble_config(mirror: Path) -> None:
    (mirror / "config").write_text("[")


@pytest.mark.parametrize("damage", [lose_objects, empty_objects, lose_head, garble_config])
def test_a_damaged_mirror_is_made_anew(remote: Path, cache: Path, damage: Callable[[Path], None]) -> None:
    expected = content(remote, "main", cache)
    damage(mirror_in(cache))

    assert content(remote, "main", cache) == expected


@pytest.mark.parametrize("lock", ["shallow.lock", "packed-refs.lock", "HEAD.lock", "refs/mirror/kept/{kept}.lock"])
def test_what_a_killed_git_has_locked_holds_nothing_up(remote: Path, cache: Path, lock: str) -> None:
    commit(remote, {"a.yaml": "2"})
    content(remote, "main", cache)
    mirror = mirror_in(cache)
    (kept,) = (mirror / "refs/mirror/kept").iterdir()
    file = mirror / lock.format(kept=kept.name)
    git(mirror, "pack-refs", "--all")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    expected = (commit(remote, {"a.yaml": "3"}), b"3")

    for revision in ("main", "HEAD", "HEAD~0", "main~0"):
        assert content(remote, revision, cache) == expected


@pytest.mark.parametrize("name", ["tmp_pack_x1Y2z3", ".tmp-4711-pack-1234.pack"], ids=["received", "packed anew"])
def test_what_a_killed_git_was_writing_does_not_fill_the_disk(remote: Path, cache: Path, name: str) -> None:
    expected = content(remote, "main", cache)
    left = mirror_in(cache) / "objects/pack" / name
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(b"PACK")

    assert content(remote, "main", cache) == expected
    assert not left.exists()


@pytest.mark.parametrize("revision", ["main", "HEAD~0"])
def test_a_remote_that_breaks_off_does_not_cost_the_mirror(remote: Path, cache: Path, revision: str) -> None:
    expected = content(remote, revision, cache)
    mirror = mirror_in(cache)
    mark = mirror / "it is the same one"
    mark.touch()
    broken = commit(remote, {"b.yaml": "x" * 100})
    blob = git(remote, "rev-parse", f"{broken}:b.yaml")
    (remote / ".git/objects" / blob[:2] / blob[2:]).unlink()

    with pytest.raises(SourceError, match="cannot fetch"):
        content(remote, revision, cache)

    assert mark.exists()
    assert content(remote, expected[0], cache) == expected


def test_a_place_where_no_mirror_can_be_kept_is_an_error_that_names_it(remote: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SourceError, match=r"cannot keep a mirror in .*/file/cache: Not a directory; XDG_CACHE_HOME"):
        content(remote, "main", tmp_path / "file" / "cache")


def test_a_mirror_that_is_taken_away_while_it_is_read_is_an_error_and_there_the_next_time(
    remote: Path, cache: Path
) -> None:
    commit(remote, {"a.yaml": "2", "b.yaml": "3"})
    with open_artifact(remote.as_uri(), "main", cache=cache) as artifact:
        shutil.rmtree(mirror_in(cache))
        with pytest.raises(SourceError, match="made anew when this is run again"):
            artifact.read("a.yaml")

    assert content(remote, "main", cache)[1] == b"2"


def test_content_that_is_damaged_is_an_error_and_right_the_next_time(remote: Path, cache: Path) -> None:
    expected = content(remote, "main", cache)
    blob = git(remote, "rev-parse", "HEAD:a.yaml")
    file = mirror_in(cache) / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"blob 4\0evil"))

    with pytest.raises(SourceError, match="made anew when this is run again"):
        content(remote, "main", cache)
    assert content(remote, "main", cache) == expected


def test_many_branches_and_forced_pushes_do_not_fill_the_mirror(remote: Path, cache: Path) -> None:
    for number in range(25):
        git(remote, "branch", f"b{number}")
        content(remote, f"b{number}", cache)
    for number in range(3):
        git(remote, "commit", "--quiet", "--amend", "--message", f"rewritten {number}")
        content(remote, "main", cache)

    assert len(git(mirror_in(cache), "for-each-ref").splitlines()) <= 20


def test_processes_that_share_a_mirror_wait_for_each_other(remote: Path, cache: Path) -> None:
    content(remote, "main", cache)
    with_history(remote)
    script = (
        "import sys; from pathlib import Path; from gitops.source.repository import open_artifact\n"
        "with open_artifact(sys.argv[1], sys.argv[2], cache=Path(sys.argv[3])) as artifact:"
        " print(artifact.read('a.yaml'))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with ExitStack() as running:
        processes = [
            running.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", script, remote.as_uri(), revision, str(cache)],
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for revision in ("main", "HEAD", "main~1", "main")
        ]
        said = [process.communicate() for process in processes]

    assert [output.strip() for output, _ in said] == ["b'9'", "b'9'", "b'8'", "b'9'"], said


def test_a_lock_that_is_never_given_back_is_not_waited_for_for_ever(remote: Path, cache: Path) -> None:
    content(remote, "main", cache)
    impatient = Access(patience=timedelta(milliseconds=50))
    with mirror_in(cache).with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        opening = open_artifact(remote.as_uri(), "main", cache=cache, access=impatient)
        with pytest.raises(SourceError, match="another process has been fetching"), opening:
            pass


@pytest.mark.parametrize("revision", ["", "--upload-pack=touch /nonexistent", "-x"])
def test_what_is_no_revision_is_refused(remote: Path, cache: Path, revision: str) -> None:
    with pytest.raises(SourceError, match="is not a revision"):
        content(remote, revision, cache)
