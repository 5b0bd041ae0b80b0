"""Runs and plans that are told to a forge, a webhook and a chat, from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository, balloons
from tests.notify.stub_forge import TOKEN, Fault, StubForge
from tests.source.signers import SshSigner

SANDBOX = ("--sandbox", "--time-scale", "1000")
CHAT = "/hooks/chat-s3cr3t"
WEBHOOK = "/hooks/generic-s3cr3t"
NOBODY_THERE = """
apiVersion: v1
kind: Config
current-context: garden
contexts: [{name: garden, context: {cluster: garden, user: garden}}]
clusters: [{name: garden, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: garden, user: {token: none}}]
"""


@pytest.fixture
def to_hooks(forge: StubForge, tmp_path: Path) -> tuple[str, ...]:
    """The options that lead to a webhook and a chat."""
    options: list[str] = []
    for option, path in (("--slack-url-file", CHAT), ("--notify-url-file", WEBHOOK)):
        file = tmp_path / path.rpartition("/")[2]
        file.write_text(forge.url + path)
        options += [option, str(file)]
    return tuple(options)


def test_a_rollout_is_told_to_all(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], to_hooks: tuple[str, ...], repository: Repository
) -> None:
    done = gitops("reconcile", *SANDBOX, *to_forge, *to_hooks, "--link-url", "https://gitops.acme.test/{overlay}")

    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    revision = repository.git("rev-parse", "HEAD").strip()
    assert forge.states(revision) == dict.fromkeys(("gitops/dev", "gitops/dev/canary", "gitops/dev/fleet"), "success")
    assert forge.newest(revision)["gitops/dev"]["link"] == "https://gitops.acme.test/dev"
    hooks = {request.path: request.body for request in forge.received if request.path.startswith("/hooks/")}
    assert len([request for request in forge.received if request.path.startswith("/hooks/")]) == 2
    assert hooks[WEBHOOK]["outcome"] == "Converged"
    assert hooks[CHAT]["text"].startswith(":white_check_mark: *Converged*: dev at ")


def test_what_could_not_be_told_is_a_warning_and_changes_no_exit_code(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], to_hooks: tuple[str, ...]
) -> None:
    forge.faults += [Fault(404)] * 1000
    done = gitops("reconcile", *SANDBOX, *to_forge, *to_hooks)

    assert done.returncode == 0
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert any("gitea was not told of status success of gitops/dev at" in line for line in warnings)
    assert any("the chat was not told of run" in line for line in warnings)
    assert any("the webhook was not told of run" in line for line in warnings)
    assert "s3cr3t" not in done.stderr + done.stdout


def test_a_commit_that_is_refused_is_told(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], to_hooks: tuple[str, ...], repository: Repository
) -> None:
    repository.overlay["spec"]["no-such-key"] = 1
    revision = repository.commit("break it")
    done = gitops("reconcile", *SANDBOX, *to_forge, *to_hooks)

    assert done.returncode == 1
    shown = forge.newest(revision)["gitops/dev"]
    assert shown["state"] == "failure"
    assert shown["description"].startswith("Refused: overlays/dev/overlay.yaml:")
    assert "no-such-key" in next(r for r in forge.received if r.path == CHAT).body["text"]


def test_a_commit_that_nobody_signed_is_told(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "allowed").write_text(SshSigner(tmp_path, "ada").allowed())
    trust = ("--require-signed", "--allowed-signers", str(tmp_path / "allowed"))
    done = gitops("reconcile", "dev", *SANDBOX, *trust, *to_forge)

    assert done.returncode == 1
    shown = forge.newest(repository.git("rev-parse", "HEAD").strip())["gitops/dev"]
    assert (shown["state"], shown["description"][:9]) == ("failure", "Refused: ")
    assert "carries no signature" in shown["description"]


@pytest.mark.parametrize("lost", ["the garden", "the kubeconfig"])
def test_what_keeps_a_run_from_beginning_is_told(
    gitops: Run,
    forge: StubForge,
    to_forge: tuple[str, ...],
    to_hooks: tuple[str, ...],
    repository: Repository,
    tmp_path: Path,
    lost: str,
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    if lost == "the garden":
        kubeconfig.write_text(NOBODY_THERE)
    done = gitops("reconcile", "--kubeconfig", str(kubeconfig), *to_forge, *to_hooks)

    assert done.returncode == 1
    reason = done.stderr.splitlines()[0].removeprefix("error: ")
    shown = forge.newest(repository.git("rev-parse", "HEAD").strip())["gitops/dev"]
    assert shown["state"] == "error"
    assert shown["description"].startswith(f"Failed: {reason}"[:100])
    assert next(r for r in forge.received if r.path == WEBHOOK).body["message"] == reason
    assert any(request.path == CHAT for request in forge.received)


def test_a_repository_that_cannot_be_read_is_told_to_those_who_ask_for_no_commit(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], to_hooks: tuple[str, ...]
) -> None:
    done = gitops("reconcile", "dev", "--revision", "gone", *SANDBOX, *to_forge, *to_hooks)

    assert done.returncode == 1
    assert forge.statuses == {}
    hooks = {request.path: request.body for request in forge.received}
    assert hooks[WEBHOOK]["revision"] == ""
    assert "'gone' is unknown" in hooks[WEBHOOK]["message"]
    assert hooks[CHAT]["text"].startswith(":x: *Failed*: dev, 0 objects written (command)\n")


def test_a_rollback_that_is_refused_says_nothing_of_the_commit(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...]
) -> None:
    done = gitops("rollback", *SANDBOX, *to_forge)

    assert done.returncode == 1, done.stderr
    assert forge.statuses == {}


def test_a_pull_request_carries_one_comment_that_is_replaced(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], repository: Repository
) -> None:
    first = gitops("comment", "--pr", "7", *SANDBOX, *to_forge)
    again = gitops("comment", "dev", "--pr", "7", *SANDBOX, *to_forge)
    repository.policy("default", **balloons("3"), allocatorPriority="<script>alert(1)</script> @team `x`")
    repository.commit("hostile")
    printed = gitops("comment", "--pr", "7", "--dry-run", *SANDBOX)

    assert (first.returncode, first.stdout) == (0, "dev: comment created on gitea pull request 7\n"), first.stderr
    assert again.returncode == 0, again.stderr
    assert len(forge.comments[7]) == 1
    assert "### Plan for <code>dev</code>" in forge.comments[7][0]["text"]
    assert "<script>" in printed.stdout
    shown = MarkdownIt("commonmark").render(printed.stdout)
    assert "<script>" not in shown
    assert "@team" not in re.sub(r"<pre>.*?</pre>", "", shown, flags=re.DOTALL)


def test_a_pull_request_is_told_why_there_is_no_plan(
    gitops: Run, forge: StubForge, to_forge: tuple[str, ...], repository: Repository
) -> None:
    repository.overlay["spec"]["no-such-key"] = 1
    repository.commit("break it")
    done = gitops("comment", "--pr", "7", *SANDBOX, *to_forge)

    assert done.returncode == 1
    assert "no-such-key" in forge.comments[7][0]["text"]
    assert "### No plan" in forge.comments[7][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("comment", "--pr", "7", "--sandbox"), 64, "--forge-token-file"),
        (("comment", "--sandbox"), 64, "--pr"),
        (("comment", "--pr", "0", "--sandbox"), 64, "--pr"),
        (("reconcile", "--sandbox", "--notify-secret-file", "x"), 64, "--notify-url-file"),
        (("reconcile", "--sandbox", "--forge", "gitea"), 64, "--forge-token-file"),
        (("reconcile", "--sandbox", "--forge-token-file", "../token"), 1, "--forge"),
        (("reconcile", "--sandbox", "--slack-url-file", "nowhere"), 1, "cannot be read from nowhere"),
        (("reconcile", "--sandbox", "--forge-token-file", "clusters/one.yaml"), 1, "single line of text"),
    ],
    ids=["no token", "no number", "zero", "no address", "forge, no token", "no forge", "no file", "not a token"],
)
def test_wrong_options_say_what_is_right(
    gitops: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    done = gitops(*arguments)

    assert done.returncode == code, done.stderr
    assert said in done.stderr
