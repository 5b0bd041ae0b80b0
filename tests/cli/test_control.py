"""Approving, suspending, going back: exit codes, and what is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository, balloons

FAST = "10000"


@pytest.fixture
def garden(sandbox: Callable[..., str]) -> tuple[str, ...]:
    """Options of a landscape in which time flies."""
    return ("--kubeconfig", sandbox(time_scale=1000), "--poll-interval", "50ms")


def shown(gitops: Run, command: str, kubeconfig: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gitops(command, "--kubeconfig", kubeconfig, "-o", "json").stdout)
    return document


def test_a_run_that_waits_for_approval_says_what_to_type(
    gitops: Run, repository: Repository, sandbox: Callable[..., str]
) -> None:
    repository.overlay["spec"]["waves"][0]["approval"] = "Required"
    repository.commit()
    garden = ("--kubeconfig", sandbox(time_scale=1000))

    waiting = gitops("reconcile", *garden, "--poll-interval", "50ms")
    status = shown(gitops, "status", garden[1])
    plan = shown(gitops, "plan", garden[1])

    command = f"gitops approve dev --digest {plan['digest']}"
    asked = {"digest": plan["digest"], "command": command, "shoots": ["garden-dev/one"]}
    assert waiting.returncode == 3
    assert command in " ".join(waiting.stdout.split()), "as nothing was written since"
    assert status["control"]["approval"] == plan["control"]["approval"] == asked
    assert status["shoots"][0]["next"]["command"] == command


def test_only_the_present_plan_can_be_approved(
    gitops: Run, repository: Repository, sandbox: Callable[..., str]
) -> None:
    repository.overlay["spec"]["waves"][0]["approval"] = "Required"
    repository.commit()
    garden = ("--kubeconfig", sandbox(time_scale=1000))

    stale = gitops("approve", "--digest", f"sha256:{'0' * 64}", *garden)
    present = re.search(r"sha256:[0-9a-f]{64}", stale.stderr)
    assert present is not None
    given = gitops("approve", "--digest", present[0], *garden)
    run = gitops("reconcile", *garden, "--poll-interval", "50ms", "-o", "json")

    assert stale.returncode == 1
    assert "the plan has changed, and nothing was approved" in stale.stderr
    assert (given.returncode, given.stdout.startswith("Approved for 1 shoot.")) == (0, True)
    assert run.returncode == 0
    assert json.loads(run.stdout)["digest"] == present[0], "an approval does not change the plan"


def test_a_suspension_is_loud_and_ends_when_it_is_told_to(gitops: Run, sandbox: Callable[..., str]) -> None:
    garden = ("--kubeconfig", sandbox(time_scale=1000))

    assert gitops("suspend", *garden, "--reason", "disks are failing").returncode == 0
    stopped = gitops("reconcile", *garden, "-o", "json")
    asked = shown(gitops, "status", garden[1])["control"]["suspended"]
    resumed = gitops("resume", *garden)

    record = json.loads(stopped.stdout)
    assert stopped.returncode == 3
    assert (record["outcome"], record["writes"]) == ("Waiting", 0)
    assert "disks are failing" in record["message"]
    assert asked["reason"] == "disks are failing"
    assert asked["by"]
    assert resumed.stdout == "Overlay dev goes on.\n"
    assert gitops("reconcile", *garden, "--poll-interval", "50ms").returncode == 0


def test_what_is_broken_in_git_keeps_nobody_from_suspending(
    gitops: Run, repository: Repository, sandbox: Callable[..., str]
) -> None:
    """A run of an earlier commit may be at work."""
    garden = ("--kubeconfig", sandbox(time_scale=1000))
    repository.write("policies/broken.yaml", {"kind": "Nothing"})
    repository.commit()

    suspended = gitops("suspend", *garden)

    assert gitops("validate").returncode == 1
    assert (suspended.returncode, suspended.stderr) == (0, "")
    assert gitops("resume", *garden).stdout == "Overlay dev goes on.\n"


def test_one_shoot_is_suspended_and_resumed(gitops: Run, sandbox: Callable[..., str]) -> None:
    garden = ("--kubeconfig", sandbox(time_scale=1000))

    gitops("suspend", "dev", "one", *garden)
    run = gitops("reconcile", *garden, "--poll-interval", "50ms", "-o", "json")
    explained = json.loads(gitops("explain", "dev", "one", *garden, "-o", "json").stdout)

    outcomes = {s["shoot"]: s["outcome"] for wave in json.loads(run.stdout)["waves"] for s in wave["shoots"]}
    assert run.returncode == 3
    assert outcomes == {"garden-dev/one": "Deferred", "garden-dev/two": "Converged"}
    assert explained["command"] == "gitops resume dev garden-dev/one"
    assert "suspended by" in explained["next"]
    assert gitops("resume", "dev", "one", *garden).stdout == "Shoot garden-dev/one goes on.\n"


def test_a_rollback_goes_to_the_last_revision_that_converged_and_stays_there(
    gitops: Run, repository: Repository, garden: tuple[str, ...]
) -> None:
    good = repository.git("rev-parse", "HEAD")
    gitops("reconcile", *garden)
    repository.policy("default", **balloons("2"))
    bad = repository.commit()

    back = gitops("rollback", *garden, "-o", "json")
    later = gitops("reconcile", *garden, "-o", "json")
    held = shown(gitops, "status", garden[1])["control"]["rollback"]
    released = gitops("resume", *garden[:2])

    assert (back.returncode, json.loads(back.stdout)["revision"]) == (0, good)
    assert (later.returncode, json.loads(later.stdout)["revision"]) == (0, good)
    assert f"revision {good[:12]} holds instead of {bad[:12]}" in later.stderr
    assert (held["from"], held["to"]) == (bad, good)
    assert "holds no longer" in released.stdout


def test_a_rollback_goes_to_what_declares_something_else(
    gitops: Run, repository: Repository, garden: tuple[str, ...]
) -> None:
    good = repository.git("rev-parse", "HEAD")
    gitops("reconcile", *garden)
    repository.policy("default", **balloons("2"))
    for message in ("worse", "not about this overlay", "nor this"):
        repository.commit(message)
        gitops("reconcile", *garden)

    same = gitops("rollback", *garden, "--to", repository.git("rev-parse", "HEAD~1"))
    back = gitops("rollback", *garden, "-o", "json")

    assert same.returncode == 1
    assert "there is nothing to go back from" in same.stderr
    assert (back.returncode, json.loads(back.stdout)["revision"]) == (0, good)


def test_a_rollback_that_could_not_begin_is_tried_again_and_goes_no_further(
    gitops: Run, repository: Repository, garden: tuple[str, ...]
) -> None:
    revisions = []
    for cpu in ("1", "2", "3"):
        repository.policy("default", **balloons(cpu))
        revisions.append(repository.commit())
        gitops("reconcile", *garden)

    gitops("suspend", *garden[:2])
    not_begun = gitops("rollback", *garden)
    resumed = gitops("resume", *garden[:2])
    again = gitops("rollback", *garden, "-o", "json")
    further = gitops("rollback", *garden, "-o", "json")

    assert (not_begun.returncode, resumed.returncode) == (3, 0)
    assert f"Still revision {revisions[1][:12]} holds instead of {revisions[2][:12]}" in resumed.stdout
    assert json.loads(again.stdout)["revision"] == revisions[1]
    assert json.loads(further.stdout)["revision"] == revisions[0]


def test_a_revision_that_is_gone_cannot_be_gone_back_to(
    gitops: Run, repository: Repository, garden: tuple[str, ...]
) -> None:
    gitops("reconcile", *garden)
    repository.git("checkout", "--quiet", "--orphan", "rewritten")
    repository.commit("history is rewritten")
    repository.git("branch", "--quiet", "-D", "main")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")

    gone = gitops("rollback", *garden)

    assert gone.returncode == 1
    assert "cannot be read any more" in gone.stderr
    assert "--to REVISION" in gone.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve",),
        ("approve", "--digest", "sha256:1234"),
        ("approve", "--digest", "md5:" + "0" * 64),
        ("suspend", "dev", "nobody"),
        ("suspend", "dev", "one", "two"),
        ("resume", "dev", "nobody"),
        ("rollback", "--deadline", "soon"),
    ],
    ids=["no-digest", "short-digest", "other-digest", "unknown-shoot", "too-many", "resume-nobody", "duration"],
)
def test_wrong_usage(gitops: Run, arguments: tuple[str, ...]) -> None:
    assert gitops(*arguments).returncode == 64


def test_a_window_is_shown_with_the_time_at_which_it_opens(gitops: Run, repository: Repository) -> None:
    window = {"schedule": "0 3 29 2 *", "duration": "1h", "zone": "Europe/Berlin"}
    repository.overlay["spec"]["waves"][0]["windows"] = [window]
    repository.commit()

    first = json.loads(gitops("plan", "--sandbox", "-o", "json").stdout)

    (held,) = first["control"]["held"]
    assert (held["shoot"], held["by"]) == ("garden-dev/one", "window")
    assert first["control"]["nextWindow"] == held["until"]
    assert gitops("reconcile", "--sandbox", "--time-scale", FAST).returncode == 3


@pytest.mark.parametrize("field", ["schedule", "duration", "zone"])
def test_a_window_that_cannot_be_is_named_with_its_line(gitops: Run, repository: Repository, field: str) -> None:
    window = {"schedule": "0 3 * * *", "duration": "1h", "zone": "UTC", field: "0m"}
    repository.overlay["spec"]["waves"][0]["windows"] = [window]
    repository.commit()

    done = gitops("validate", "-o", "json")

    (violation,) = json.loads(done.stdout)["violations"]
    assert done.returncode == 1
    assert (violation["file"], violation["rule"]) == ("overlays/dev/overlay.yaml", "window")
    assert (repository.path / violation["file"]).read_text().splitlines()[violation["line"] - 1].split(":")[0].strip(
        " -"
    ) == field
