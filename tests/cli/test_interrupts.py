"""Ctrl-C: once ends a run cleanly, twice at once."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gitops.rollout.executor import undisturbed
from tests.cli.black_hole import black_hole
from tests.cli.conftest import Open, Run, Start, read_until
from tests.end_to_end.repository import Repository

SETTINGS = {"name": "settings", "namespace": "default"}
_SOON = 45
"""Seconds, on a machine that has much to do; less than a request that hangs is waited for (60)."""


def test_ctrl_c_ends_a_run_cleanly_and_the_summary_says_how_to_go_on(started: Start) -> None:
    run = started("reconcile", "--sandbox", "--time-scale", "10")
    read_until(run.stderr, "waiting: ")

    run.send_signal(signal.SIGINT)
    summary, _ = run.communicate(timeout=_SOON)

    assert run.returncode == 130
    assert "Waiting: dev" in summary
    assert "garden-dev/one (1 object written)" in summary
    assert "Interrupted; the next run goes on from here." in summary
    assert "NotStarted" in summary
    assert "`gitops sandbox dev`" in summary


def test_what_an_interrupted_run_wrote_is_recorded_and_the_next_goes_on(
    started: Start, gitops: Run, sandbox: Callable[..., str]
) -> None:
    kubeconfig = sandbox()
    run = started("reconcile", "--kubeconfig", kubeconfig, "--poll-interval", "500ms")
    read_until(run.stderr, "waiting: ")

    run.send_signal(signal.SIGINT)
    summary, _ = run.communicate(timeout=_SOON)
    (recorded,) = json.loads(gitops("history", "--kubeconfig", kubeconfig, "-o", "json").stdout)["runs"]
    plan = json.loads(gitops("plan", "--kubeconfig", kubeconfig, "-o", "json").stdout)

    assert run.returncode == 130
    assert "Run `gitops reconcile dev` again" in summary
    assert (recorded["outcome"], recorded["writes"]) == ("Waiting", 1)
    assert "interrupted" in recorded["message"]
    (one,) = plan["waves"][0]["shoots"]
    assert one["changes"][0]["action"] == "unchanged"


def test_a_second_ctrl_c_ends_at_once_though_a_write_hangs(started: Start, sandbox: Callable[..., str]) -> None:
    hanging = {"match": {"cluster": "garden", "verb": "patch"}, "effect": "BlackHole", "seconds": 36000}
    run = started("reconcile", "--kubeconfig", sandbox(hanging))
    read_until(run.stderr, "canary  1 shoot")

    run.send_signal(signal.SIGINT)
    read_until(run.stderr, "waiting for what is under way, Ctrl-C ends at once")
    run.send_signal(signal.SIGINT)
    summary, messages = run.communicate(timeout=_SOON)

    assert run.returncode == 130
    assert summary == ""
    assert "no record is kept" in messages
    assert "`gitops reconcile dev`" in messages
    assert "Traceback" not in messages


def test_ctrl_c_in_the_midst_of_something_is_heard_after_it() -> None:
    done: list[str] = []

    def note() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("noted")

    with pytest.raises(KeyboardInterrupt):
        note()

    assert done == ["noted"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore:unclosed <ssl:ResourceWarning")  # the server leaves them to the collector
@pytest.mark.parametrize(
    ("command", "hanging"),
    [
        ("plan", {"cluster": "garden-dev/two"}),
        ("reconcile", {"cluster": "garden-dev/two"}),
        ("plan", {"cluster": "garden", "name": "two"}),
        ("plan", {"cluster": "garden"}),
    ],
    ids=["plan, shoot", "reconcile, shoot", "plan, credential of a shoot", "plan, garden"],
)
def test_ctrl_c_ends_at_once_what_only_looks_though_a_request_hangs(
    started: Start, repository: Repository, tmp_path: Path, command: str, hanging: Mapping[str, str]
) -> None:
    repository.write("policies/settings.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": SETTINGS})
    repository.commit()
    with black_hole(repository, hanging, tmp_path) as hole:
        looking = started(command, "--kubeconfig", str(hole.kubeconfig))
        hole.has_caught()

        looking.send_signal(signal.SIGINT)
        results, messages = looking.communicate(timeout=_SOON)

    assert (looking.returncode, results) == (130, "")
    assert "Traceback" not in messages


def test_the_terminal_is_left_in_order(on_terminal: Open, sandbox: Callable[..., str]) -> None:
    hanging = {"match": {"cluster": "garden", "verb": "patch"}, "effect": "BlackHole", "seconds": 36000}
    run = on_terminal("reconcile", "--kubeconfig", sandbox(hanging))
    run.wait_for("1 under way")
    hidden_meanwhile = run.cursor_is_hidden

    run.interrupt()
    run.wait_for("Ctrl-C ends at once")
    run.interrupt()

    assert run.exit_code() == 130
    assert (hidden_meanwhile, run.cursor_is_hidden) == (True, False)
    assert run.text.rstrip().endswith("interrupted")
