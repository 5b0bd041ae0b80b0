"""What scripts may rely on: exit codes, streams, environment variables."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository, balloons


def test_a_plan_with_changes_exits_with_zero_unless_asked_for_details(gitops: Run) -> None:
    assert gitops("plan", "--sandbox").returncode == 0
    assert gitops("plan", "--sandbox", "--detailed-exitcode").returncode == 2


def test_flags_are_environment_variables(gitops: Run) -> None:
    assert gitops("plan", GITOPS_PLAN_SANDBOX="1", GITOPS_PLAN_DETAILED_EXITCODE="1").returncode == 2


def test_a_diff_exits_like_kubectl(gitops: Run, repository: Repository) -> None:
    differing = gitops("diff", "--sandbox")
    (repository.path / "policies" / "default.yaml").write_text("a: [\n")
    repository.commit()
    broken = gitops("diff", "--sandbox")

    assert differing.returncode == 1
    assert differing.stdout.startswith("--- live/garden/Shoot/garden-dev/one")
    assert broken.returncode > 1


def test_an_external_diff_decides(gitops: Run) -> None:
    done = gitops("diff", "--sandbox", KUBECTL_EXTERNAL_DIFF="diff -r -q")

    assert done.returncode == 1
    assert "LIVE" in done.stdout


def test_a_run_that_converges_exits_with_zero_and_prints_the_record(gitops: Run) -> None:
    done = gitops("reconcile", "dev", "--sandbox", "--time-scale", "100000", "-o", "json")

    record = json.loads(done.stdout)
    assert done.returncode == 0
    assert (record["kind"], record["outcome"], record["trigger"]) == ("Record", "Converged", "command")
    assert [wave["outcome"] for wave in record["waves"]] == ["Passed", "Passed"]
    assert record["writes"] == sum(shoot["writes"] for wave in record["waves"] for shoot in wave["shoots"])


def test_a_run_out_of_time_waits(gitops: Run) -> None:
    done = gitops("reconcile", "--sandbox", "--time-scale", "100000", "--deadline", "30s")

    assert done.returncode == 3
    assert "deadline" in done.stdout


def test_a_schedule_takes_a_run_that_waits_for_no_failure_and_is_on_record(gitops: Run) -> None:
    hurried = ("--sandbox", "--time-scale", "100000", "--deadline", "30s", "-o", "json")
    waited = gitops("reconcile", *hurried, "--trigger", "schedule", "--ok-to-wait")

    record = json.loads(waited.stdout)
    assert (waited.returncode, record["outcome"], record["trigger"]) == (0, "Waiting", "schedule")


def test_a_gate_that_does_not_open_stops_the_run(gitops: Run, repository: Repository) -> None:
    repository.overlay["spec"]["gate"] = {"timeout": "20s"}
    repository.commit()

    done = gitops("reconcile", "--sandbox", "--time-scale", "100000")

    assert done.returncode == 4
    assert "garden-dev/one" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--no-such-flag"),
        ("no-such-command",),
        ("reconcile", "--deadline", "soon"),
        ("render", "dev", "nobody"),
    ],
    ids=["flag", "command", "duration", "shoot"],
)
def test_wrong_usage(gitops: Run, arguments: tuple[str, ...]) -> None:
    done = gitops(*arguments)

    assert done.returncode == 64
    assert done.stdout == ""
    assert "Usage:" in done.stderr or "Error" in done.stderr


def test_which_overlay_must_be_said_where_there_are_several(gitops: Run, repository: Repository) -> None:
    other = {**repository.overlay, "metadata": {"name": "prod"}}
    repository.write("overlays/prod/overlay.yaml", other)
    repository.commit()

    done = gitops("plan", "--sandbox")

    assert done.returncode == 64
    assert "dev, prod" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "nowhere", "--sandbox"), "nowhere"),
        (("plan", "--sandbox", "--revision", "no-such-branch"), "no-such-branch"),
        (("plan", "--sandbox", "--repo", "/"), "not in a git repository|git repository"),
        (("plan", "--kubeconfig", "missing"), "missing"),
        (("plan",), "kubeconfig"),
    ],
    ids=["overlay", "revision", "repository", "kubeconfig", "no-kubeconfig"],
)
def test_errors_exit_with_one_and_say_what_to_do(gitops: Run, arguments: tuple[str, ...], message: str) -> None:
    done = gitops(*arguments)

    assert done.returncode == 1
    assert any(part in done.stderr for part in message.split("|")), done.stderr
    assert "Traceback" not in done.stderr


def test_validate_tells_every_violation(gitops: Run, repository: Repository) -> None:
    repository.overlay["spec"]["gaet"] = {}
    repository.overlay["spec"]["waves"][1]["maxConcurrent"] = "many"
    repository.commit()

    done = gitops("validate")
    as_json = json.loads(gitops("validate", "dev", "-o", "json").stdout)

    assert done.returncode == 1
    assert "gaet" in done.stdout
    assert "maxConcurrent" in done.stdout
    assert not as_json["valid"]
    assert len(as_json["violations"]) == 2
    assert all(v["file"] == "overlays/dev/overlay.yaml" and v["line"] > 0 for v in as_json["violations"])


def test_the_work_tree_is_read_only_when_asked_for(gitops: Run, repository: Repository) -> None:
    repository.policy("default", **balloons("7"))

    assert 'cpu: "1"' in gitops("render").stdout or "cpu: '1'" in gitops("render").stdout
    assert "7" in gitops("render", "dev", "one", "--worktree").stdout


def test_render_prints_yaml_and_schema_prints_json(gitops: Run) -> None:
    rendered = gitops("render", "dev", "garden-dev/two")

    assert rendered.stdout.count("kind: Shoot") == 1
    assert "kind: BalloonsPolicy" in rendered.stdout
    assert json.loads(gitops("schema").stdout)["$schema"].startswith("https://json-schema.org/")


def test_a_pipe_never_gets_colours(gitops: Run) -> None:
    done = gitops("plan", "--sandbox")

    assert "\x1b" not in done.stdout + done.stderr
