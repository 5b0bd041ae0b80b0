"""`gitops hook`: a plain git server's hook, by real git and real pushes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitops.trigger.following import following
from gitops.trigger.post_receive import CHAINED, LOG, MARK
from gitops.trigger.push import Delivery, Ignored, Push
from gitops.trigger.webhook import generic
from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository
from tests.waiting import PATIENCE, until

NOWHERE = "http://127.0.0.1:9/hooks/generic"
"""Discard's port, where nobody listens."""


class Server:
    """A bare repository, a work tree that pushes to it, and the hook between them."""

    def __init__(self, path: Path, repository: Repository, gitops: Run, environment: Mapping[str, str]) -> None:
        self.path = path
        self.secret = path.parent / "secret file"
        self.secret.write_text("a secret for tests only\n")
        self._repository = repository
        self._gitops = gitops
        self._environment = environment
        repository.git("clone", "--quiet", "--bare", ".", str(path))
        repository.git("remote", "add", "origin", str(path))

    @property
    def hook(self) -> Path:
        return self.path / "hooks" / "post-receive"

    @property
    def log(self) -> str:
        file = self.path / LOG
        return file.read_text() if file.is_file() else ""

    def install(self, *arguments: str, url: str = NOWHERE) -> subprocess.CompletedProcess[str]:
        return self._gitops(
            "hook", "install", str(self.path), "--url", url, "--secret-file", str(self.secret), *arguments
        )

    def push(self, *refs: str) -> str:
        """Push a new commit; what the pusher is shown. Fails where the push fails."""
        self._repository.commit()
        done = subprocess.run(
            ["git", "push", "--quiet", "origin", *(refs or ("main",))],
            cwd=self._repository.path,
            env=dict(self._environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    def logged(self, text: str) -> None:
        until(lambda log: text in log, lambda: self.log)


@pytest.fixture
def server(tmp_path: Path, repository: Repository, gitops: Run, environment: Mapping[str, str]) -> Server:
    folder = tmp_path / "a git server's folder"
    folder.mkdir()
    return Server(folder / "fleet $HOME.git", repository, gitops, environment)


def foreign(hook: Path, text: str = "#!/bin/sh\ncat\n") -> str:
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(text)
    hook.chmod(0o755)
    return text


def test_it_is_a_shell_script_that_git_runs_and_that_is_written_again_alike(server: Server) -> None:
    first = server.install()
    text = server.hook.read_text()
    second = server.install()

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert server.hook.read_text() == text
    assert text.startswith("#!/bin/sh\n")
    assert server.hook.stat().st_mode & 0o777 == 0o755
    assert "a secret for tests only" not in text
    assert sorted(file.name for file in server.hook.parent.iterdir() if not file.name.endswith(".sample")) == [
        "post-receive"
    ]


def test_a_push_succeeds_though_nobody_listens(server: Server) -> None:
    server.install()

    assert server.push() == ""
    server.logged("received refs/heads/main")


def test_a_push_does_not_wait_for_a_server_that_never_answers(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        server.install(url=f"http://127.0.0.1:{silent.getsockname()[1]}/hooks/generic")

        assert server.push() == ""
        connection, _ = silent.accept()
        with connection:
            request = connection.recv(65536).decode()

    assert request.startswith("POST /hooks/generic HTTP/1.1\r\n")
    assert "x-gitops-signature: t=" in request.lower()
    assert "a secret for tests only" not in request


def test_it_says_which_branch_head_stands_for_so_that_others_start_nothing(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        server.install(url=f"http://127.0.0.1:{listener.getsockname()[1]}/hooks/generic")
        server.push("main:feature/x")
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(60)
            request = connection.recv(65536)
            while b"}" not in request:
                request += connection.recv(65536)

    document = json.loads(request.partition(b"\r\n\r\n")[2])
    outcome = generic.read(Delivery({}, b"", datetime.now(UTC)), document)
    assert isinstance(outcome, Push)
    assert following([str(server.path)], "HEAD").concern(outcome) == Ignored("another branch")


@pytest.mark.parametrize("broken", ["no python", "no secret", "no log"])
def test_a_push_succeeds_whatever_is_broken(server: Server, broken: str) -> None:
    server.install()
    if broken == "no python":
        server.hook.write_text(server.hook.read_text().replace(" -P -m gitops", " -P -m no_such_module"))
    elif broken == "no secret":
        server.secret.unlink()
    else:
        (server.path / LOG).mkdir()

    assert server.push() == ""
    if broken != "no log":
        server.logged({"no python": "No module named no_such_module", "no secret": "cannot be read"}[broken])


def test_another_s_hook_is_not_touched_unless_that_is_asked_for(server: Server) -> None:
    text = foreign(server.hook)

    done = server.install()

    assert done.returncode == 1
    assert "--chain" in done.stderr
    assert "--force" in done.stderr
    assert server.hook.read_text() == text


def test_another_s_hook_is_kept_and_still_gets_its_lines(server: Server) -> None:
    text = foreign(server.hook, '#!/bin/sh\necho "before: $(cat)"\nexit 3\n')
    assert server.install("--chain").returncode == 0
    assert server.install().returncode == 0, "what is ours is written again, and the other stays"

    shown = server.push()

    assert "remote: before: " in shown
    assert "refs/heads/main" in shown
    assert (server.hook.parent / CHAINED).read_text() == text
    server.logged("received refs/heads/main")


def test_another_s_hook_can_be_replaced(server: Server) -> None:
    foreign(server.hook)

    assert server.install("--force").returncode == 0
    assert MARK in server.hook.read_text()
    assert not (server.hook.parent / CHAINED).exists()


def test_two_earlier_hooks_are_not_thrown_together(server: Server) -> None:
    foreign(server.hook)
    text = foreign(server.hook.parent / CHAINED, "#!/bin/sh\n# the first\n")

    assert server.install("--chain").returncode == 1
    assert (server.hook.parent / CHAINED).read_text() == text


def test_a_work_tree_and_its_linked_work_trees_have_one_hook(
    repository: Repository, gitops: Run, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", "--detach", str(linked))

    for folder in (repository.path, linked, repository.path / "policies"):
        assert gitops("hook", "install", str(folder)).returncode == 0

    assert (repository.path / ".git/hooks/post-receive").is_file()


@pytest.mark.parametrize("configured", ["own hooks", "/absolute"])
def test_hooks_are_where_the_repository_says(server: Server, configured: str, tmp_path: Path) -> None:
    path = configured if configured == "own hooks" else str(tmp_path / "elsewhere")
    subprocess.run(["git", "-C", str(server.path), "config", "core.hooksPath", path], check=True)

    assert server.install().returncode == 0
    assert (server.path / path / "post-receive").is_file()
    server.push()
    server.logged("received refs/heads/main")


def test_hooks_that_all_repositories_share_are_not_written_by_the_way(
    server: Server, environment: Mapping[str, str], tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    Path(environment["HOME"], ".gitconfig").write_text(f"[core]\n  hooksPath = {shared}\n")

    done = server.install()

    assert done.returncode == 1
    assert "every repository of this machine" in done.stderr
    assert not shared.exists()
    assert server.install("--force").returncode == 0
    assert (shared / "post-receive").is_file()


def test_its_log_does_not_grow_for_ever(server: Server) -> None:
    server.install()
    (server.path / LOG).write_text("x" * (1024 * 1024 + 1))

    server.push()
    server.logged("received refs/heads/main")

    assert len(server.log) < 100_000
    assert (server.path / f"{LOG}.1").stat().st_size == 1024 * 1024 + 1


@pytest.mark.parametrize("refs", ["main:feature/x", "main:refs/notes/commits"])
def test_what_is_not_followed_runs_nothing(server: Server, gitops: Run, refs: str) -> None:
    assert gitops("hook", "install", str(server.path), "dev", "--revision", "main").returncode == 0

    server.push(refs)

    server.logged("nothing to run: main did not move")


def test_a_name_that_is_no_text_does_not_hide_the_others(server: Server, environment: Mapping[str, str]) -> None:
    """Encodings are strict wherever a language is set, as on most git servers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/hooks/generic"
        command = [sys.executable, "-m", "gitops", "hook", "received", "--repo", str(server.path), "--url", url]
        with subprocess.Popen(
            [*command, "--secret-file", str(server.secret)],
            env={**environment, "PYTHONIOENCODING": "utf-8:strict"},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            process.stdin.write(b"%b %b refs/heads/caf\xe9\n" % (b"1" * 40, b"2" * 40))
            process.stdin.write(b"%b %b refs/heads/main\n" % (b"1" * 40, b"2" * 40))
            process.stdin.close()
            bodies = b""
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(60)
                    while not bodies.endswith(b"}"):
                        bodies += connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
                    bodies += b"\n"

    assert b'"refs/heads/caf\\udce9"' in bodies
    assert b'"refs/heads/main"' in bodies


def test_without_a_server_the_run_is_here(
    server: Server, gitops: Run, sandbox: Callable[..., str], repository: Repository
) -> None:
    kubeconfig = sandbox()
    done = gitops("hook", "install", str(server.path), "dev", "--revision", "main", "--kubeconfig", kubeconfig)
    assert done.returncode == 0, done.stderr

    server.push()
    server.logged("Converged: dev")

    (run,) = json.loads(gitops("history", "--kubeconfig", kubeconfig, "-o", "json").stdout)["runs"]
    head = repository.git("rev-parse", "HEAD")
    assert (run["outcome"], run["revision"], run["trigger"]) == ("Converged", head, "push")


def test_a_push_to_another_branch_runs_nothing_here(server: Server, gitops: Run) -> None:
    gitops("hook", "install", str(server.path), "--revision", "main")

    server.push("main:another")

    server.logged("nothing to run: main did not move")


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["nowhere"], 64, "does not exist"),
        (["policies/default.yaml"], 64, "is a file"),
        (["/"], 1, "not a git repository"),
        ([".", "--url", "https://x.example/hooks/generic"], 64, "go together"),
        ([".", "--url", "x.example", "--secret-file", "s"], 64, "no http or https address"),
        ([".", "--url", "http://[::1/hooks/generic", "--secret-file", "s"], 64, "no http or https address"),
        ([".", "--url", "http://x:99999/hooks/generic", "--secret-file", "s"], 64, "no http or https address"),
        ([".", "--url", "http://jo:word@x/hooks/generic", "--secret-file", "s"], 64, "a user or a password"),
        ([".", "--url", NOWHERE, "--secret-file", "missing"], 1, "cannot be read"),
        ([".", "dev", "--url", NOWHERE, "--secret-file", "s"], 64, "those of the `gitops serve` there"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_work_is_refused_with_the_reason(gitops: Run, arguments: list[str], code: int, why: str) -> None:
    done = gitops("hook", "install", *arguments)

    assert (done.returncode, done.stdout) == (code, "")
    assert why in done.stderr
