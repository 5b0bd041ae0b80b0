"""README keeps its promises: its examples are run, its --help blocks are the real ones, its first command is enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gitops.cli import gitops

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
UPDATING = os.environ.get("SHOOT_GITOPS_UPDATE_GOLDEN") == "1"
HELP = re.compile(r"(?<=tests/test_readme.py -->\n).*(?=<!-- end of help -->)", re.DOTALL)
CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r"(?:\d+ h )?(?:\d+ min )?\d+ s\b"), "<duration>"),
    (re.compile(r"\bsha256:[0-9a-f]+"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<revision>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r"\S+/sandbox\.kubeconfig"), "<kubeconfig>"),
)
"""What differs from run to run."""


@dataclass(frozen=True)
class Example:
    """A command as somebody types it, and what it says."""

    command: str
    output: str
    """Lines that are `...` stand for any lines."""


def section(title: str) -> str:
    """The text of one of README's sections."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README.read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"README has no section {title!r}"
    return found[1]


def examples(title: str) -> list[Example]:
    """The commands of a section's console blocks, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```$", section(title), re.DOTALL | re.MULTILINE)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [Example(*part.split("\n", 1)) for part in parts]


def copy_of_the_repository(folder: Path) -> Path:
    """A clone of the checkout, with what is not committed yet on top."""
    git = ("git", "-c", "user.name=tests", "-c", "user.email=tests@example.invalid", "-C")
    subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(folder)], check=True)
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run([*git, str(ROOT), *listing], check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target) if source.exists() else target.unlink(missing_ok=True)
    subprocess.run([*git, str(folder), "add", "--all"], check=True)
    subprocess.run([*git, str(folder), "commit", "--quiet", "--allow-empty", "-m", "as it stands"], check=True)
    return folder


class Shell:
    """Two terminals in a clone: one for `gitops sandbox`, which stays, and one for everything else."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._folder = folder
        self._variables = dict(variables)
        self._running = ExitStack()

    def run(self, example: Example) -> str:
        """Type a command; what it said, until it ended or, if it stays, until it said its last line."""
        if export := re.fullmatch(r"export (\w+)=(\S+)", example.command):
            self._variables[export[1]] = export[2]
            return ""
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {example.command}"],
            cwd=self._folder,
            env=self._variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._running.enter_context(process)
        self._running.callback(process.terminate)
        assert process.stdout is not None
        last = example.output.rstrip().rpartition("\n")[2] if "gitops sandbox" in example.command else None
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if line.rstrip() == last:
                break
        return "".join(said)

    def close(self) -> None:
        """End what still runs."""
        self._running.close()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gitops").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitops "$@"\n')
    (tools / "gitops").chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    shell = Shell(copy_of_the_repository(tmp_path / "clone"), {"PATH": path, "HOME": str(home)})
    yield shell
    shell.close()


def steady(text: str) -> str:
    """A text without what differs from run to run."""
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def as_promised(example: Example, said: str) -> bool:
    """Whether a command said what README shows."""
    parts = re.split(r"^\.\.\.$", steady(example.output), flags=re.MULTILINE)
    return re.fullmatch(".*".join(map(re.escape, parts)), steady(said), re.DOTALL) is not None


@pytest.mark.timeout(300)  # one of them takes most of a minute
def test_the_examples_say_what_readme_shows(shell: Shell) -> None:
    for example in examples("Try it"):
        said = shell.run(example)
        assert as_promised(example, said), f"$ {example.command}\n{said}\nREADME shows:\n{example.output}"


@pytest.mark.parametrize(
    ("shown", "said", "right"),
    [
        ("a\n", "a\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("in 5 min 47 s\n", "in 3 s\n", True),
        ("in 5 objects\n", "in 3 objects\n", False),
        ("a ... b\n", "a and b\n", False),
    ],
    ids=["same", "cut", "cut at the end", "too short", "too long", "duration", "number", "no line of its own"],
)
def test_only_lines_that_readme_leaves_out_and_what_changes_may_differ(shown: str, said: str, right: bool) -> None:  # noqa: FBT001 - a table
    assert as_promised(Example("", shown), said) is right


def helps(command: click.Command, *path: str) -> Iterator[str]:
    """The folded --help of a command and of those below it, as users get it."""
    name = " ".join(["gitops", *path])
    text = CliRunner().invoke(gitops, [*path, "--help"], prog_name="gitops").output
    yield f"<details><summary><code>{name} --help</code></summary>\n\n```text\n{text}```\n\n</details>\n"
    if isinstance(command, click.Group):
        for below in sorted(command.commands):
            yield from helps(command.commands[below], *path, below)


def test_readme_holds_the_help_of_every_command() -> None:
    text = "".join(helps(gitops))
    if UPDATING:
        README.write_text(HELP.sub(lambda _: text, README.read_text()))

    found = HELP.search(README.read_text())
    assert found
    assert found[0] == text, "write it anew: SHOOT_GITOPS_UPDATE_GOLDEN=1 python -m pytest tests/test_readme.py"


def test_readme_names_every_command_in_its_table() -> None:
    named = re.findall(r"^\| `gitops ([a-z-]+)", section("What a run does"), re.MULTILINE)

    assert set(named) >= set(gitops.commands)


@pytest.mark.package_index
@pytest.mark.timeout(300)
def test_the_first_command_is_enough_on_a_machine_with_python_and_git(tmp_path: Path) -> None:
    clone = copy_of_the_repository(tmp_path / "clone")
    home, temporary, tools = (tmp_path / name for name in ("home", "tmp", "bin"))
    for folder in (home, temporary, tools):
        folder.mkdir()
    git = shutil.which("git")
    assert git
    (tools / "git").symlink_to(git)
    (tools / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    index = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http", "HTTP"))}

    done = subprocess.run(
        ["/bin/sh", "-c", examples("Two commands")[0].command],
        cwd=clone,
        env={"PATH": str(tools), "HOME": str(home), "TMPDIR": str(temporary), **index},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "Converged: dev at " in done.stdout
    assert {entry.name for entry in home.iterdir()} <= {".cache"}
    assert list(temporary.iterdir()) == []
    status = subprocess.run(["git", "-C", str(clone), "status", "--porcelain"], check=True, capture_output=True)
    assert status.stdout == b"", "what it leaves in the checkout is ignored by git"
