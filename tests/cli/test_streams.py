"""What goes where: results to standard output, progress and messages to standard error, colours to terminals only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version

import pytest

from tests.cli.conftest import COMMAND, Open, Run
from tests.end_to_end.repository import Repository

FAST = ("reconcile", "--sandbox", "--time-scale", "1000")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*[1-9][0-9;]*m")


def test_a_display_follows_the_run_on_a_terminal(on_terminal: Open) -> None:
    run = on_terminal(*FAST)

    run.wait_for("0 of 1: 1 under way")
    run.wait_for("garden-dev/one  ")
    assert run.exit_code() == 0

    full = "━" * 24
    start = run.lines.index(f"canary  {full}  1 of 1: 1 converged")
    assert run.lines[start + 1] == f"fleet   {full}  1 of 1: 1 converged"
    assert re.fullmatch(r"4 objects written in \d min \d+ s", run.lines[start + 2])
    assert run.lines[start + 4].startswith("Converged: dev at ")
    assert not run.cursor_is_hidden
    assert "waiting: " not in run.text


def test_a_narrow_terminal_gets_a_narrow_display(on_terminal: Open) -> None:
    run = on_terminal(*FAST, columns=40)

    assert run.exit_code() == 0
    assert any(line.startswith("canary  ━") and line.endswith("…") for line in run.lines)


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"CI": "true"}], ids=["dumb", "CI"])
def test_where_nobody_sees_a_display_move_there_are_lines(on_terminal: Open, variables: Mapping[str, str]) -> None:
    run = on_terminal(*FAST, **variables)

    assert run.exit_code() == 0
    assert "canary  garden-dev/one  converged" in run.text
    assert "━" not in run.text


def test_a_pipe_gets_lines_on_standard_error_and_the_summary_on_standard_output(gitops: Run) -> None:
    done = gitops(*FAST)

    assert done.stdout.startswith("Converged: dev at ")
    assert done.stderr.startswith("Plan for dev\n")
    assert "canary  garden-dev/one  converged\n" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_no_color_leaves_the_display_and_takes_the_colours(on_terminal: Open) -> None:
    coloured, plain = on_terminal(*FAST), on_terminal(*FAST, NO_COLOR="1")

    assert (coloured.exit_code(), plain.exit_code()) == (0, 0)
    assert _COLOUR.search(coloured.received)
    assert not _COLOUR.search(plain.received)
    assert "━" in plain.text


def test_a_plan_is_coloured_on_a_terminal_only(on_terminal: Open, gitops: Run) -> None:
    run = on_terminal("plan", "--sandbox")

    assert run.exit_code() == 0
    assert _COLOUR.search(run.received)
    assert "\x1b" not in gitops("plan", "--sandbox").stdout


def test_a_verbose_plan_shows_what_new_objects_hold(gitops: Run) -> None:
    brief, whole = gitops("plan", "--sandbox").stdout, gitops("plan", "--sandbox", "--verbose").stdout

    assert "pinCPU" not in brief or "+ pinCPU" not in brief
    assert "pinCPU" in whole


def test_errors_go_to_standard_error(gitops: Run) -> None:
    done = gitops("plan", "nowhere", "--sandbox")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize("arguments", [("plan", "--sandbox"), ("schema",)], ids=["plan", "schema"])
def test_a_reader_who_has_had_enough_hears_no_complaint(
    repository: Repository, environment: Mapping[str, str], arguments: tuple[str, ...]
) -> None:
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=repository.path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        messages = process.stderr.read()

    assert messages == b""


def test_the_version_is_the_installed_one(gitops: Run) -> None:
    done = gitops("--version")

    assert (done.returncode, done.stdout) == (0, f"gitops, version {version('shoot-gitops')}\n")


def test_a_shell_completes_commands_and_options(gitops: Run) -> None:
    script = gitops(_GITOPS_COMPLETE="bash_source")
    commands = gitops(_GITOPS_COMPLETE="bash_complete", COMP_WORDS="gitops re", COMP_CWORD="1")
    options = gitops(_GITOPS_COMPLETE="bash_complete", COMP_WORDS="gitops plan --sand", COMP_CWORD="2")

    assert "complete -o nosort -F _gitops_completion gitops" in script.stdout
    assert {"plain,render", "plain,reconcile"} <= set(commands.stdout.splitlines())
    assert options.stdout.splitlines() == ["plain,--sandbox"]
