"""What is sent to each forge, by its public documentation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gitops.notify.forge import Comment, CommitStatus, Forge, State
from gitops.notify.forges import Bitbucket, BitbucketServer, Gitea, GitHub, GitLab
from gitops.notify.web import Request, Response

SHA = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
STATUS = CommitStatus(SHA, "gitops/dev/canary", State.FAILURE, "Stopped, 0 of 1 shoot converged", "a/b: no")
FORGES: dict[str, Forge] = {
    "github": GitHub("https://github.com", "acme/fleet"),
    "github-enterprise": GitHub("https://git.acme.test", "acme/fleet"),
    "gitlab": GitLab("https://gitlab.com", "acme/platform/fleet"),
    "gitea": Gitea("https://codeberg.org", "acme/fleet"),
    "bitbucket": Bitbucket("https://bitbucket.org", "acme/fleet"),
    "bitbucket-server": BitbucketServer("https://bb.acme.test", "ACME/fleet"),
    "bitbucket-server-personal": BitbucketServer("https://bb.acme.test", "~jo/fleet"),
}
_NOTES = "https://gitlab.com/api/v4/projects/acme%2Fplatform%2Ffleet/merge_requests/7/notes"
_SERVER_PULL = "https://bb.acme.test/rest/api/latest/projects/ACME/repos/fleet/pull-requests/7"


def sent(request: Request) -> tuple[str, str, Any]:
    return request.method, request.url, json.loads(request.body) if request.body else None


@pytest.mark.parametrize(
    ("forge", "url", "body"),
    [
        (
            "github",
            f"https://api.github.com/repos/acme/fleet/statuses/{SHA}",
            {
                "state": "failure",
                "context": "gitops/dev/canary",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "target_url": f"https://github.com/acme/fleet/commit/{SHA}",
            },
        ),
        (
            "github-enterprise",
            f"https://git.acme.test/api/v3/repos/acme/fleet/statuses/{SHA}",
            {
                "state": "failure",
                "context": "gitops/dev/canary",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "target_url": f"https://git.acme.test/acme/fleet/commit/{SHA}",
            },
        ),
        (
            "gitlab",
            f"https://gitlab.com/api/v4/projects/acme%2Fplatform%2Ffleet/statuses/{SHA}",
            {
                "state": "failed",
                "name": "gitops/dev/canary",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "target_url": f"https://gitlab.com/acme/platform/fleet/-/commit/{SHA}",
            },
        ),
        (
            "gitea",
            f"https://codeberg.org/api/v1/repos/acme/fleet/statuses/{SHA}",
            {
                "state": "failure",
                "context": "gitops/dev/canary",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "target_url": f"https://codeberg.org/acme/fleet/commit/{SHA}",
            },
        ),
        (
            "bitbucket",
            f"https://api.bitbucket.org/2.0/repositories/acme/fleet/commit/{SHA}/statuses/build",
            {
                "key": "gitops/dev/canary",
                "name": "gitops/dev/canary",
                "state": "FAILED",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "url": f"https://bitbucket.org/acme/fleet/commits/{SHA}",
            },
        ),
        (
            "bitbucket-server",
            f"https://bb.acme.test/rest/api/latest/projects/ACME/repos/fleet/commits/{SHA}/builds",
            {
                "key": "gitops/dev/canary",
                "name": "gitops/dev/canary",
                "state": "FAILED",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "url": f"https://bb.acme.test/projects/ACME/repos/fleet/commits/{SHA}",
            },
        ),
        (
            "bitbucket-server-personal",
            f"https://bb.acme.test/rest/api/latest/projects/~jo/repos/fleet/commits/{SHA}/builds",
            {
                "key": "gitops/dev/canary",
                "name": "gitops/dev/canary",
                "state": "FAILED",
                "description": "Stopped, 0 of 1 shoot converged: a/b: no",
                "url": f"https://bb.acme.test/users/jo/repos/fleet/commits/{SHA}",
            },
        ),
    ],
    ids=list(FORGES),
)
def test_a_status(forge: str, url: str, body: dict[str, Any]) -> None:
    assert sent(FORGES[forge].status(STATUS)) == ("POST", url, body)


def test_github_enterprise_cloud_has_its_api_beside_its_pages() -> None:
    hosted, own = GitHub("https://octocorp.ghe.com", "acme/fleet"), GitHub("https://github.acme.test", "acme/fleet")

    assert hosted.who().url == "https://api.octocorp.ghe.com/user"
    assert own.who().url == "https://github.acme.test/api/v3/user"


def test_a_link_too_long_for_gitlab_is_left_out() -> None:
    gitlab = GitLab("https://gitlab.com", "acme/fleet")
    links = ["https://x.test/" + "x" * (length - 15) for length in (255, 256)]
    bodies = [sent(gitlab.status(replace(STATUS, target_url=link)))[2] for link in links]

    assert bodies[0]["target_url"] == links[0]
    assert "target_url" not in bodies[1]


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        ("github", ["pending", "success", "failure", "error"]),
        ("gitlab", ["running", "success", "failed", "failed"]),
        ("gitea", ["pending", "success", "failure", "error"]),
        ("bitbucket", ["INPROGRESS", "SUCCESSFUL", "FAILED", "FAILED"]),
        ("bitbucket-server", ["INPROGRESS", "SUCCESSFUL", "FAILED", "FAILED"]),
    ],
)
def test_states_in_each_forges_words(forge: str, words: list[str]) -> None:
    assert [FORGES[forge].word(state) for state in State] == words


@pytest.mark.parametrize(
    ("forge", "list_", "add", "change"),
    [
        (
            "github",
            "https://api.github.com/repos/acme/fleet/issues/7/comments?per_page=100&page=1",
            ("POST", "https://api.github.com/repos/acme/fleet/issues/7/comments", {"body": "text"}),
            ("PATCH", "https://api.github.com/repos/acme/fleet/issues/comments/99", {"body": "text"}),
        ),
        (
            "gitlab",
            f"{_NOTES}?per_page=100&page=1&order_by=created_at&sort=asc",
            (
                "POST",
                _NOTES,
                {"body": "text"},
            ),
            (
                "PUT",
                f"{_NOTES}/99",
                {"body": "text"},
            ),
        ),
        (
            "gitea",
            "https://codeberg.org/api/v1/repos/acme/fleet/issues/7/comments",
            ("POST", "https://codeberg.org/api/v1/repos/acme/fleet/issues/7/comments", {"body": "text"}),
            ("PATCH", "https://codeberg.org/api/v1/repos/acme/fleet/issues/comments/99", {"body": "text"}),
        ),
        (
            "bitbucket",
            "https://api.bitbucket.org/2.0/repositories/acme/fleet/pullrequests/7/comments?pagelen=100&page=1",
            (
                "POST",
                "https://api.bitbucket.org/2.0/repositories/acme/fleet/pullrequests/7/comments",
                {"content": {"raw": "text"}},
            ),
            (
                "PUT",
                "https://api.bitbucket.org/2.0/repositories/acme/fleet/pullrequests/7/comments/99",
                {"content": {"raw": "text"}},
            ),
        ),
        (
            "bitbucket-server",
            f"{_SERVER_PULL}/activities?limit=100&start=0",
            (
                "POST",
                f"{_SERVER_PULL}/comments",
                {"text": "text"},
            ),
            (
                "PUT",
                f"{_SERVER_PULL}/comments/99",
                {"text": "text", "version": 4},
            ),
        ),
    ],
    ids=["github", "gitlab", "gitea", "bitbucket", "bitbucket-server"],
)
def test_comments(forge: str, list_: str, add: tuple[str, str, Any], change: tuple[str, str, Any]) -> None:
    on, comment = FORGES[forge], Comment("99", "before", "me", version=4)

    assert sent(on.comments(7, None)) == ("GET", list_, None)
    assert sent(on.add_comment(7, "text")) == add
    assert sent(on.change_comment(7, comment, "text")) == change


@pytest.mark.parametrize(
    ("forge", "token", "headers"),
    [
        ("github", "t", {"Authorization": "Bearer t", "X-GitHub-Api-Version": "2022-11-28"}),
        ("gitlab", "t", {"PRIVATE-TOKEN": "t"}),
        ("gitea", "t", {"Authorization": "token t"}),
        ("bitbucket", "t", {"Authorization": "Bearer t"}),
        ("bitbucket", "jo@acme.test:t", {"Authorization": "Basic am9AYWNtZS50ZXN0OnQ="}),
        ("bitbucket-server", "t", {"Authorization": "Bearer t"}),
    ],
)
def test_how_a_token_is_carried(forge: str, token: str, headers: dict[str, str]) -> None:
    assert headers.items() <= FORGES[forge].authorization(token).items()


def test_a_key_that_is_too_long_for_bitbucket_is_hashed_and_still_unlike_others() -> None:
    bitbucket = FORGES["bitbucket"]
    long = [f"gitops/production-europe-west/wave-with-a-name-{number}" for number in (1, 2)]

    keys = [bitbucket.key(context) for context in long]

    assert {len(key) for key in keys} == {40}
    assert keys[0] != keys[1]
    assert bitbucket.key("gitops/dev") == "gitops/dev"


def test_a_description_fits_every_forge_and_stays_on_one_line() -> None:
    status = CommitStatus(SHA, "c", State.FAILURE, "Stopped", "a\nb\u202e " + "x" * 500)

    assert len(status.description) == 140
    assert status.description.startswith("Stopped: a b\\u202e xxx")
    assert status.description.endswith("x…")


@pytest.mark.parametrize(
    ("message", "state", "has"),
    [
        ("Cannot transition status via :run from :running (Reason(s): …)", State.PENDING, True),
        ("Cannot transition status via :success from :success", State.SUCCESS, True),
        ("Cannot transition status via :run from :success", State.PENDING, False),
        ("name is missing", State.PENDING, False),
    ],
)
def test_gitlab_refuses_what_it_holds(message: str, state: State, has: bool) -> None:  # noqa: FBT001 - a table's column
    status = CommitStatus(SHA, "gitops/dev", state, "Under way")
    answer = Response(400, {}, json.dumps({"message": message}).encode())

    assert FORGES["gitlab"].has(status, answer) is has


@pytest.mark.parametrize("body", [None, [], {}, "text", {"values": None}, [None, {"user": None}]])
@pytest.mark.parametrize("forge", FORGES)
def test_an_answer_that_is_not_as_documented_is_no_crash(forge: str, body: Any) -> None:
    FORGES[forge].held(body)
    assert FORGES[forge].read_comments(body, None).next is None
