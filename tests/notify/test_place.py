from __future__ import annotations

import pytest

from gitops.errors import Refused
from gitops.notify.forge import Forge
from gitops.notify.forges import Bitbucket, BitbucketServer, Gitea, GitHub, GitLab
from gitops.notify.place import find_forge


@pytest.mark.parametrize(
    ("remote", "forge"),
    [
        ("https://github.com/acme/fleet.git", GitHub("https://github.com", "acme/fleet")),
        ("git@github.com:acme/fleet.git", GitHub("https://github.com", "acme/fleet")),
        ("ssh://git@ssh.github.com:443/acme/fleet.git", GitHub("https://github.com", "acme/fleet")),
        ("https://x:ghp_secret@GitHub.com/acme/fleet/", GitHub("https://github.com", "acme/fleet")),
        ("https://gitlab.com/acme/sub/group/fleet.git", GitLab("https://gitlab.com", "acme/sub/group/fleet")),
        ("git@bitbucket.org:acme/fleet.git", Bitbucket("https://bitbucket.org", "acme/fleet")),
        ("https://codeberg.org/acme/fleet", Gitea("https://codeberg.org", "acme/fleet")),
    ],
)
def test_public_forges_are_known(remote: str, forge: Forge) -> None:
    assert find_forge(remote) == forge


@pytest.mark.parametrize(
    ("remote", "kind", "address", "forge"),
    [
        ("https://git.acme.test/a/b.git", "gitlab", None, GitLab("https://git.acme.test", "a/b")),
        ("ssh://git@git.acme.test:2222/a/b.git", "gitea", None, Gitea("https://git.acme.test", "a/b")),
        (
            "https://acme.test:8443/gitlab/a/b/c.git",
            "gitlab",
            "https://acme.test:8443/gitlab/",
            GitLab("https://acme.test:8443/gitlab", "a/b/c"),
        ),
        (
            "https://bb.acme.test/scm/PROJ/fleet.git",
            "bitbucket-server",
            None,
            BitbucketServer("https://bb.acme.test", "PROJ/fleet"),
        ),
        (
            "https://bb.acme.test/bitbucket/scm/~jo/fleet.git",
            "bitbucket-server",
            "https://bb.acme.test/bitbucket",
            BitbucketServer("https://bb.acme.test/bitbucket", "~jo/fleet"),
        ),
        (
            "ssh://git@bb.acme.test:7999/proj/fleet.git",
            "bitbucket-server",
            None,
            BitbucketServer("https://bb.acme.test", "proj/fleet"),
        ),
        ("git@mirror.acme.test:a/b.git", None, "https://github.com", GitHub("https://github.com", "a/b")),
    ],
)
def test_others_are_named(remote: str, kind: str | None, address: str | None, forge: Forge) -> None:
    assert find_forge(remote, forge=kind, address=address) == forge


def test_a_folder_needs_all_three() -> None:
    found = find_forge("", forge="gitea", address="http://git.acme.test:3000", repository="a/b")

    assert found == Gitea("http://git.acme.test:3000", "a/b")


@pytest.mark.parametrize(
    ("remote", "kind", "address", "repository", "said"),
    [
        ("https://git.acme.test/a/b", None, None, None, "--forge"),
        ("", None, None, None, "--forge"),
        ("", "github", None, "a/b", "--forge-url"),
        ("/srv/git/fleet.git", "github", None, "a/b", "--forge-url"),
        ("file:///srv/git/fleet.git", "github", None, None, "--forge-url"),
        ("https://github.com/fleet", None, None, None, "--forge-repository"),
        ("https://github.com/a/b/c", None, None, None, "--forge-repository"),
        ("https://github.com/a/../b", None, None, None, "--forge-repository"),
        ("https://github.com/a/b", None, "ftp://github.com", None, "--forge-url"),
        ("https://github.com/a/b", "github", "https://u:p@github.com", None, "--forge-token-file"),
        ("https://github.com/a/b", "github", "https://github.com?x=1", None, "--forge-url"),
    ],
)
def test_what_cannot_be_known_says_what_to_say(
    remote: str, kind: str | None, address: str | None, repository: str | None, said: str
) -> None:
    with pytest.raises(Refused, match=said):
        find_forge(remote, forge=kind, address=address, repository=repository)


@pytest.mark.parametrize("address", ["https://[::1/a/b", "https://git.acme.test:99999/a/b"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(Refused, match="is no address"):
        find_forge(address, forge="gitea")
    with pytest.raises(Refused, match="--forge-url is no address"):
        find_forge("git@git.acme.test:a/b.git", forge="gitea", address=address)


def test_a_password_in_the_remote_is_never_shown() -> None:
    with pytest.raises(Refused) as refusal:
        find_forge("https://jo:hunter2@git.acme.test/a/b")

    assert "hunter2" not in str(refusal.value)
    assert "git.acme.test" in str(refusal.value)
