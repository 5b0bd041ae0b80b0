from __future__ import annotations

import pytest

from gitops.trigger.following import following, repository_name
from gitops.trigger.push import Ignored, Push, RefChange, RefKind
from gitops.trigger.receiving import FORGES, receive
from gitops.trigger.replay import ReplayWindow
from tests.trigger.samples import SAMPLES, SECRETS, Sample

MAIN = RefChange(RefKind.BRANCH, "main")
SAME = [
    "https://git.example/Fleet/Config.git",
    "https://git.example/fleet/config",
    "https://GIT.example:8443/fleet/config.git/",
    "https://user:token@git.example/fleet/config.git",
    "http://git.example/fleet/config",
    "ssh://git@git.example:2222/fleet/config.git",
    "git@git.example:fleet/config.git",
    "git.example:fleet/config",
    "git://git.example/fleet/config.git",
    "https://git.example/fleet%2Fconfig.git",
]
OTHERS = [
    "https://git.example/fleet/config2.git",
    "https://git.example/fleet",
    "https://git.example.evil/fleet/config.git",
    "https://evil/git.example/fleet/config.git",
    "git@evil:fleet/config.git",
    "https://git.example/another/config.git",
    "https://[::1/fleet/config.git",
    "",
]


@pytest.mark.parametrize("ours", SAME)
@pytest.mark.parametrize("theirs", SAME)
def test_a_repository_has_one_name_however_it_is_reached(ours: str, theirs: str) -> None:
    assert repository_name(ours).is_same_as(repository_name(theirs))


@pytest.mark.parametrize("theirs", OTHERS)
def test_another_repository_is_no_concern_of_ours(theirs: str) -> None:
    concern = following([SAME[0]], "main").concern(Push((theirs,), (MAIN,)))

    assert isinstance(concern, Ignored)
    assert concern.reason.startswith("another repository, '")


def test_the_log_says_which_other_repository_that_is_without_what_is_secret_in_its_address() -> None:
    concern = following([SAME[0]], "main").concern(Push(("https://user:token@git.example/an/other\n",), (MAIN,)))

    assert isinstance(concern, Ignored)
    assert concern.reason == "another repository, 'git.example/an/other': if that is ours too, say so with --hook-repo"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("ssh://git@ssh.github.com:443/acme/fleet.git", "https://github.com/acme/fleet"),
        ("ssh://git@altssh.gitlab.com:443/acme/group/fleet.git", "git@gitlab.com:acme/group/fleet.git"),
        ("git@[2001:db8::1]:acme/fleet.git", "https://[2001:db8::1]:3000/acme/fleet.git"),
    ],
    ids=["GitHub by port 443", "GitLab by port 443", "an address of IPv6"],
)
def test_a_host_has_other_names_too(ours: str, theirs: str) -> None:
    assert following([ours], "main").concern(Push((theirs,), (MAIN,))) == (MAIN,)


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("/srv/git/fleet.git", "/srv/git/fleet.git"),
        ("/srv/git/fleet", "/srv/git/fleet/.git"),
        ("/srv/git/fleet.git", "file:///srv/git/fleet.git"),
        ("/srv/my git/fleet.git", "file:///srv/my%20git/fleet.git"),
    ],
)
def test_a_folder_has_one_name_too(folder: str, told: str) -> None:
    assert following([folder], "HEAD").concern(Push((told,), (MAIN,))) == (MAIN,)


def test_a_repository_may_be_known_by_other_names() -> None:
    followed = following(["/srv/mirror.git", "fleet/config"], "main")

    assert followed.concern(Push(("https://anywhere.example/fleet/config",), (MAIN,))) == (MAIN,)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_every_forge_names_its_repository_so_that_it_is_found(sample: Sample) -> None:
    push = receive(FORGES[sample.forge], sample.delivery(), SECRETS, ReplayWindow())
    assert isinstance(push, Push)

    for address in push.repositories:
        assert following([address], "main").concern(push) == push.changes


@pytest.mark.parametrize("revision", ["main", "heads/main", "refs/heads/main", "HEAD"])
def test_the_branch_that_we_read_is_followed(revision: str) -> None:
    assert following(["x"], revision).concern(Push(("x",), (MAIN,), "main")) == (MAIN,)


@pytest.mark.parametrize(
    ("revision", "change"),
    [
        ("main", RefChange(RefKind.BRANCH, "main2")),
        ("main", RefChange(RefKind.BRANCH, "feature/main")),
        ("refs/heads/main", RefChange(RefKind.TAG, "main")),
        ("HEAD", RefChange(RefKind.BRANCH, "feature")),
        ("HEAD", RefChange(RefKind.TAG, "v1")),
        ("v1", RefChange(RefKind.TAG, "v2")),
    ],
)
def test_others_are_not(revision: str, change: RefChange) -> None:
    assert following(["x"], revision).concern(Push(("x",), (change,), "main")) == Ignored("another branch")


def test_a_branch_with_slashes_and_a_tag_can_be_followed() -> None:
    branch, tag = RefChange(RefKind.BRANCH, "env/prod/eu"), RefChange(RefKind.TAG, "v1")
    push = Push(("x",), (MAIN, branch, tag))

    assert following(["x"], "env/prod/eu").concern(push) == (branch,)
    assert following(["x"], "refs/tags/v1").concern(push) == (tag,)


def test_any_branch_may_be_head_where_the_forge_does_not_say_which_is() -> None:
    change = RefChange(RefKind.BRANCH, "trunk")

    assert following(["x"], "HEAD").concern(Push(("x",), (change,))) == (change,)


@pytest.mark.parametrize("revision", ["HEAD", "main", "v1"])
def test_where_the_forge_does_not_say_what_moved_it_may_be_what_is_followed(revision: str) -> None:
    assert following(["x"], revision).concern(Push(("x",), (), "main")) == ()
    assert isinstance(following(["y"], revision).concern(Push(("x",), (), "main")), Ignored)
    assert isinstance(following(["x"], "a" * 40).concern(Push(("x",), (), "main")), Ignored)


def test_a_commit_never_moves() -> None:
    assert isinstance(following(["x"], "a" * 40).concern(Push(("x",), (MAIN,))), Ignored)


def test_a_deleted_branch_is_nothing_to_run() -> None:
    gone = RefChange(RefKind.BRANCH, "main", deleted=True)

    assert following(["x"], "main").concern(Push(("x",), (gone,))) == Ignored("what is followed was deleted")
