"""preflight, verify and explain as scripts and people meet them, in the sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository


def test_preflight_looks_at_every_node_and_says_what_it_found(gitops: Run) -> None:
    done = gitops("preflight", "--sandbox", "--time-scale", "100000", "-o", "json")

    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert (found["kind"], found["ready"]) == ("Preflight", True)
    assert [shoot["shoot"] for shoot in found["shoots"]] == ["garden-dev/one", "garden-dev/two"]
    for shoot in found["shoots"]:
        (node,) = shoot["nodes"]
        assert node["cgroup"] == "v2 systemd"
        assert {verdict["verdict"] for verdict in node["prerequisites"].values()} == {"Current"}


def test_preflight_without_a_probe_knows_what_the_api_tells_and_is_not_ready(
    gitops: Run, repository: Repository
) -> None:
    repository.overlay["spec"]["prerequisites"] = {"nri": "Require"}
    repository.commit()

    done = gitops("preflight", "one", "--sandbox", "--no-probe")

    assert done.returncode == 1
    assert "containerd://2.1.4" in done.stdout
    assert "NRI: the node was not looked at" in done.stdout
    assert "garden-dev/two" not in done.stdout


def test_preflight_puts_nothing_into_a_shoot_that_is_suspended(gitops: Run, sandbox: Callable[..., str]) -> None:
    garden = ("--kubeconfig", sandbox(time_scale=1000))
    gitops("suspend", "dev", "one", *garden, "--reason", "its disks fail")

    done = gitops("preflight", *garden, "-o", "json")

    one, two = json.loads(done.stdout)["shoots"]
    assert done.returncode == 1
    assert (one["ready"], one["nodes"], two["ready"]) == (False, [], True)
    assert "the shoot is suspended by" in one["message"]
    assert "its disks fail" in one["message"]


def test_a_run_with_prerequisites_converges_in_the_sandbox(gitops: Run, repository: Repository) -> None:
    repository.overlay["spec"]["prerequisites"] = {"dbus": "Install", "nri": "Require", "cgroupV2": "Require"}
    repository.commit()

    done = gitops("reconcile", "--sandbox", "--time-scale", "100000")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("output", ["text", "json", "html", "svg"])
def test_verify_is_not_content_with_what_is_unknown(gitops: Run, output: str) -> None:
    done = gitops("verify", "dev", "one", "--sandbox", "-o", output)

    assert done.returncode == 1
    assert "no plugin runs here" in done.stdout
    assert done.stdout.lstrip().startswith(
        {"json": "{", "html": "<!doctype html>", "svg": "<svg"}.get(output, "garden")
    )


def test_explain_fits_on_one_screen_and_ends_with_a_command(gitops: Run) -> None:
    done = gitops("explain", "one", "--sandbox")

    lines = done.stdout.rstrip().splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0] == "garden-dev/one: Pending"
    assert lines[-1] == "Command: gitops reconcile dev"
    assert len(lines) <= 40
    assert {"Changes", "Prerequisites", "Gates", "Placement"} <= set(lines)


def test_explain_says_the_same_as_json(gitops: Run) -> None:
    found = json.loads(gitops("explain", "dev", "garden-dev/one", "--sandbox", "-o", "json").stdout)

    assert (found["kind"], found["shoot"], found["verdict"]) == ("Explanation", "garden-dev/one", "Pending")
    assert found["next"] == "the Shoot is to be patched"
    assert found["command"] == "gitops reconcile dev"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explain", "dev"), "which shoot?"),
        (("explain", "four"), "no shoot 'four'"),
        (("verify", "dev", "one", "more"), "unexpected 'more'"),
    ],
)
def test_wrong_usage(gitops: Run, arguments: tuple[str, ...], words: str) -> None:
    done = gitops(*arguments, "--sandbox")

    assert (done.returncode, words in done.stderr) == (64, True)
