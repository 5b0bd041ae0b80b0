from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gitops.trigger.post_receive import Update, hook_text, read_updates
from gitops.trigger.push import RefChange, RefKind

COMMAND = ["/opt/a python/bin/python", "-m", "gitops", "hook", "received", "--url", "https://x.example/?a='b'&c=$HOME"]
OLD, NEW, NONE = "1" * 40, "2" * 40, "0" * 40


@pytest.mark.parametrize(
    "shell", ["sh -n", "dash -n", "bash --posix -n", "busybox sh -n", "shellcheck --shell=sh --exclude=SC2016"]
)
def test_every_shell_understands_it(shell: str, tmp_path: Path) -> None:
    command = shell.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    file = tmp_path / "post-receive"
    file.write_text(hook_text(COMMAND))

    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_words_of_the_command_stay_as_they_are() -> None:
    """Whatever a path or an address holds, the shell makes nothing of it."""
    line = next(line for line in hook_text(COMMAND).splitlines() if "received" in line)
    words = line.partition(" | ")[2].removesuffix(' --repo "$repository"')
    said = subprocess.run(["sh", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True).stdout

    assert said.splitlines() == COMMAND


def test_what_git_tells_is_read_line_by_line() -> None:
    text = f"{OLD} {NEW} refs/heads/feature/a b\n{OLD} {NONE} refs/heads/gone\n{NONE} {NEW} refs/notes/x\nnonsense\n"

    updates = list(read_updates(text))

    assert updates == [
        Update(OLD, NEW, "refs/heads/feature/a b"),
        Update(OLD, NONE, "refs/heads/gone"),
        Update(NONE, NEW, "refs/notes/x"),
    ]
    assert [update.change for update in updates] == [
        RefChange(RefKind.BRANCH, "feature/a b", OLD, NEW),
        RefChange(RefKind.BRANCH, "gone", OLD, "", deleted=True),
        None,
    ]
