"""`gitops serve` as its users run it: one process, a real repository, real pushes, real signals."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from gitops.trigger.secrets_file import SHORT
from tests.cli.black_hole import black_hole
from tests.cli.conftest import Run, Start
from tests.cli.serving import SECRET, Serving, serving
from tests.end_to_end.repository import Repository, balloons
from tests.kube.certificates import Authority
from tests.notify.stub_forge import StubForge
from tests.source.signers import SshSigner
from tests.waiting import PATIENCE

Serve = Callable[..., Serving]
PATCHES = {"cluster": "garden", "verb": "patch"}
UNCLOSED = pytest.mark.filterwarnings("ignore:unclosed <ssl:ResourceWarning")
"""The sandbox leaves connections that were cut off to the collector."""


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    file = tmp_path / "secrets"
    file.write_text(f"an older secret of this repository\n\n{SECRET}\n")
    return file


@pytest.fixture
def bare(repository: Repository, tmp_path: Path) -> Path:
    """A bare repository that the work tree pushes to."""
    bare = tmp_path / "plain git server" / "fleet.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    repository.git("remote", "add", "origin", str(bare))
    return bare


@pytest.fixture
def serve(started: Start, bare: Path, secret_file: Path) -> Serve:
    def start(*arguments: str, where: str = "--sandbox", **variables: str) -> Serving:
        given = ("--repo", str(bare), "--webhook-secret-file", str(secret_file), "--listen", "127.0.0.1:0")
        return serving(started("serve", *given, *filter(None, [where]), *arguments, **variables))

    return start


def converged(state: Mapping[str, Any]) -> bool:
    record = state.get("record")
    return record is not None and record["outcome"] == "Converged" and state["running"] is None


def at(revision: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda state: converged(state) and state["record"]["revision"] == revision


@pytest.fixture
def push(repository: Repository, environment: Mapping[str, str]) -> Callable[[], None]:
    """`git push`, in an environment in which hooks find the program."""

    def push() -> None:
        command = ["git", "push", "--quiet", "origin", "main"]
        done = subprocess.run(
            command, cwd=repository.path, env=dict(environment), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    return push


@pytest.fixture
def install(gitops: Run, bare: Path, secret_file: Path) -> Callable[[Serving], None]:
    """Let the bare repository's hook tell a server."""

    def install(server: Serving) -> None:
        url = f"{server.url}/hooks/generic"
        done = gitops("hook", "install", str(bare), "--url", url, "--secret-file", str(secret_file))
        assert done.returncode == 0, done.stderr

    return install


def test_a_push_becomes_a_rollout_that_the_forge_is_told_of(
    serve: Serve,
    forge: StubForge,
    to_forge: tuple[str, ...],
    install: Callable[[Serving], None],
    repository: Repository,
    push: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = serve(*to_forge)
    before = server.wait_for(converged)
    install(server)
    repository.policy(**balloons("2"))
    revision = repository.commit("reserve two CPUs")

    begun = monotonic()
    push()
    pushed = monotonic()
    server.wait_for(lambda state: bool((state.get("running") or {}).get("wrote")) or at(revision)(state))
    wrote = monotonic()
    after = server.wait_for(at(revision))
    done = monotonic()

    with capsys.disabled():
        print(  # noqa: T201 - the measurement is what this test is to show
            f"\n[git push {pushed - begun:.2f} s; push to first write {wrote - begun:.2f} s; "
            f"push to convergence {done - begun:.2f} s] ",
            end="",
        )
    assert (before["record"]["trigger"], after["record"]["trigger"]) == ("schedule", "push")
    assert after["record"]["writes"] == 2
    assert after["plan"]["revision"] == revision
    assert after["plan"]["summary"]["configured"] == 2
    assert [wave["outcome"] for wave in after["record"]["waves"]] == ["Passed", "Passed"]
    contexts = ("gitops/dev", "gitops/dev/canary", "gitops/dev/fleet")
    server.sees(lambda: forge.states(revision), lambda states: states == dict.fromkeys(contexts, "success"))


def test_a_commit_that_is_refused_is_told_to_the_forge_and_shown(
    serve: Serve,
    forge: StubForge,
    to_forge: tuple[str, ...],
    install: Callable[[Serving], None],
    repository: Repository,
    push: Callable[[], None],
) -> None:
    server = serve(*to_forge)
    server.wait_for(converged)
    install(server)
    repository.overlay["spec"]["no-such-key"] = 1
    revision = repository.commit("break it")

    push()

    server.wait_for(lambda state: "no-such-key" in (state.get("error") or ""))
    server.sees(lambda: forge.states(revision), lambda states: states.get("gitops/dev") == "failure")
    assert "no-such-key" in server.get("/overlays/dev")[1]


@pytest.mark.parametrize("named", [("dev",), ()], ids=["overlays named", "all overlays"])
def test_a_commit_that_nobody_signed_is_told_to_the_forge_and_shown_and_nothing_of_it_is_read(
    serve: Serve,
    forge: StubForge,
    to_forge: tuple[str, ...],
    install: Callable[[Serving], None],
    repository: Repository,
    push: Callable[[], None],
    tmp_path: Path,
    named: tuple[str, ...],
) -> None:
    ada = SshSigner(tmp_path, "ada")
    (tmp_path / "allowed").write_text(ada.allowed())
    repository.git(*ada.settings(), "commit", "--quiet", "--allow-empty", "--gpg-sign", "--message", "signed")
    signed = repository.git("rev-parse", "HEAD").strip()
    push()
    server = serve(*named, "--require-signed", "--allowed-signers", str(tmp_path / "allowed"), *to_forge)
    server.wait_for(at(signed))
    install(server)
    repository.write("overlays/mallory/overlay.yaml", repository.overlay)
    unsigned = repository.commit("trust me")

    push()

    shown = server.sees(lambda: forge.newest(unsigned), lambda statuses: "gitops/dev" in statuses)
    assert shown.keys() == {"gitops/dev"}
    assert shown["gitops/dev"]["state"] == "failure"
    assert shown["gitops/dev"]["description"].startswith("Refused: ")
    assert f"commit {unsigned[:12]} carries no signature" in shown["gitops/dev"]["description"]
    assert set(forge.states(signed).values()) == {"success"}
    assert "carries no signature" in server.get("/overlays/dev")[1]
    assert "mallory" not in server.get("/")[1]


def test_the_dashboard_and_the_metrics_show_the_run(serve: Serve, repository: Repository) -> None:
    server = serve("--schedule", "0 3 * * *")
    server.wait_for(converged)
    subject = repository.git("log", "-1", "--format=%s").strip()

    fleet, overlay = server.get("/")[1], server.get("/overlays/dev")[1]
    metrics = server.get("/metrics")[1]

    assert "canary" in fleet
    assert subject in overlay
    assert 'gitops_runs_total{outcome="Converged",overlay="dev",trigger="schedule"} 1.0' in metrics
    assert 'gitops_in_sync{overlay="dev"} 1.0' in metrics
    assert 'gitops_api_requests_total{code="200",method="GET",server="garden"}' in metrics
    assert 'gitops_queue_depth{overlay="dev"} 0.0' in metrics
    assert server.get("/overlays/nowhere")[0] == 404


def test_what_listens_to_others_shows_itself_to_nobody_unless_told_to_whom(serve: Serve, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a token for tests only\n")
    closed = serve("--listen", "0.0.0.0:0")
    asking = serve("--listen", "0.0.0.0:0", "--dashboard-token-file", str(token))
    told = {"Authorization": "Bearer a token for tests only"}

    for path in ("/", "/overlays/dev", "/api/v1/overlays/dev", "/api/v1/overlays"):
        assert closed.get(path)[0] == 404
        assert asking.get(path)[0] == 401
        assert asking.get(path, told)[0] in {200, 404}
    assert asking.get("/healthz")[0] == 200
    closed.logged("no dashboard")


def test_machines_read_what_it_logs(serve: Serve) -> None:
    server = serve("--log-format", "json")
    server.wait_for(converged)
    server.logged('"message": "Converged: ')

    lines = [json.loads(line) for line in server.log]

    passed = [line["wave"] for line in lines if line["message"].startswith("wave passed")]
    assert passed == ["canary", "fleet"]
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    assert len({line["run"] for line in lines if "run" in line}) == 1


def test_five_hundred_pushes_give_two_runs(serve: Serve, bare: Path, repository: Repository) -> None:
    server = serve("--no-initial-run")
    server.logged("1 overlays at")
    revision = repository.commit()
    repository.git("push", "--quiet", "origin", "main")

    with ThreadPoolExecutor(8) as pool:
        statuses = set(pool.map(lambda number: server.push(str(bare), f"{number:040x}"), range(1, 501)))
    server.wait_for(at(revision))
    later = repository.commit("once all of that is over")
    repository.git("push", "--quiet", "origin", "main")
    server.push(str(bare), later)
    server.wait_for(at(later))

    assert statuses == {202}
    begun = [line for line in server.log if "a run begins" in line]
    assert 2 <= len(begun) <= 3, "the last is of the later push"


def test_it_is_alive_and_ready_and_knows_its_overlays(serve: Serve) -> None:
    server = serve()
    server.wait_for(converged)

    assert server.get("/readyz")[0] == 200
    status, health = server.get("/healthz")
    assert status == 200
    assert {check["name"] for check in health["checks"]} >= {"thread scout", "thread worker-1"}
    assert server.get("/api/v1/overlays") == (200, {"overlays": ["dev"]})
    assert server.get("/api/v1/overlays/another")[0] == 404
    assert server.get("/nowhere")[0] == 404
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=PATIENCE) as answer:  # noqa: S310 - our own
        assert b'gitops_runs_total{outcome="Converged",overlay="dev",trigger="schedule"} 1.0' in answer.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_and_says_nothing_wrong(serve: Serve, number: signal.Signals) -> None:
    server = serve()
    server.wait_for(converged)

    server.process.send_signal(number)

    assert server.process.wait(PATIENCE) == 0
    assert "Traceback" not in "".join(server.log)


def test_the_end_stops_a_rollout_between_two_writes_and_its_record_is_right(
    serve: Serve, gitops: Run, sandbox: Callable[..., str]
) -> None:
    kubeconfig = sandbox(time_scale=5)
    server = serve("--kubeconfig", kubeconfig, where="")
    server.wait_for(lambda state: bool((state.get("running") or {}).get("wrote")))

    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(PATIENCE)
    (recorded,) = json.loads(gitops("history", "--kubeconfig", kubeconfig, "-o", "json").stdout)["runs"]

    assert code == 0
    assert (recorded["outcome"], recorded["writes"], recorded["trigger"]) == ("Waiting", 1, "schedule")
    assert "interrupted" in recorded["message"]


@UNCLOSED
def test_what_hangs_is_left_behind_when_the_grace_period_ends(
    serve: Serve, repository: Repository, bare: Path, tmp_path: Path
) -> None:
    with black_hole(repository, PATCHES, tmp_path) as hole:
        server = serve("--kubeconfig", str(hole.kubeconfig), "--grace-period", "10s", where="")
        hole.has_caught()

        server.process.send_signal(signal.SIGTERM)
        server.logged("ending")
        status, ready = server.sees(lambda: server.get("/readyz"), lambda answer: answer[0] != 200)
        alive, _ = server.get("/healthz")

        assert (status, alive) == (503, 200)
        assert [check["name"] for check in ready["checks"] if not check["ok"]] == ["listening"]
        assert server.push(str(bare), "1" * 40) == 503
        assert server.process.wait(PATIENCE) == 1
        server.logged("dev did not end within the grace period")


@UNCLOSED
def test_a_second_ctrl_c_does_not_wait(serve: Serve, repository: Repository, tmp_path: Path) -> None:
    with black_hole(repository, PATCHES, tmp_path) as hole:
        server = serve("--kubeconfig", str(hole.kubeconfig), "--grace-period", "10m", where="")
        hole.has_caught()

        server.process.send_signal(signal.SIGINT)
        server.logged("ending")
        server.process.send_signal(signal.SIGINT)

        assert server.process.wait(PATIENCE) == 130


def test_when_the_schedule_comes_next_is_told_at_the_start(serve: Serve) -> None:
    serve("--schedule", "0 0 1 1 *", "--time-zone", "America/New_York").logged("next scheduled runs at 2")


def test_without_secrets_hooks_are_not_there_and_that_is_said(started: Start) -> None:
    server = serving(started("serve", "--sandbox", "--listen", "127.0.0.1:0"))
    server.logged("no --webhook-secret-file")

    assert server.push("x", "1" * 40) == 404


def test_secrets_can_be_changed_while_it_runs(serve: Serve, secret_file: Path, bare: Path) -> None:
    server = serve("--no-initial-run")
    assert server.push(str(bare), "1" * 40) == 202

    secret_file.write_text("quite another secret\n")

    assert server.push(str(bare), "2" * 40) == 401
    assert server.push(str(bare), "3" * 40, "quite another secret") == 202


def test_it_serves_https(serve: Serve, tmp_path: Path) -> None:
    authority = Authority()
    pair = authority.issue("server", "127.0.0.1")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    server = serve("--no-initial-run", "--tls-cert", str(certificate), "--tls-key", str(key))
    trust = ssl.create_default_context(cadata=authority.certificate.decode())

    with urllib.request.urlopen(f"{server.url}/healthz", context=trust, timeout=PATIENCE) as answer:  # noqa: S310 - our own
        assert answer.status == 200
    assert server.url.startswith("https://")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--schedule", "every day"], "one has five fields"),
        (["--schedule", "61 * * * *"], "bad minute"),
        (["--schedule", "0 0 31 2 *"], "bad day-of-month"),
        (["--schedule", "* * * * *", "--time-zone", "Mars/Olympus"], "IANA database"),
        (["--time-zone", "Mars/Olympus"], "IANA database"),
        (["--jitter", "soon"], "not a duration"),
        (["--grace-period", "-1s"], "not a duration"),
        (["--listen", "8080"], "is not HOST:PORT"),
        (["--listen", "127.0.0.1:99999"], "is not HOST:PORT"),
        (["--workers", "0"], "is not in the range"),
        (["--tls-cert", "cert.pem"], "go together"),
        (["--forwarded-allow-ips", "proxy.example"], "neither an address nor a network"),
        (["--dashboard-proxies", "proxy.example"], "neither an address nor a network"),
        (["--dashboard-open", "--dashboard-proxies", "10.0.0.0/8"], "who may look at the dashboard?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_refused_with_the_reason(gitops: Run, arguments: list[str], why: str) -> None:
    done = gitops("serve", *arguments)

    assert (done.returncode, done.stdout) == (64, "")
    assert why in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--webhook-secret-file", "missing"], "cannot be read"),
        (["--webhook-secret-file", "empty"], "holds no webhook secret"),
        (["--repo", "nowhere"], "does not exist"),
        (["--repo", "/"], "not in a git repository"),
        (["--listen", "192.0.2.1:0"], "cannot listen"),
        (["--tls-cert", "empty", "--tls-key", "empty"], "cannot listen"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_can_never_work_ends_it_at_once(
    gitops: Run, repository: Repository, arguments: list[str], why: str
) -> None:
    (repository.path / "empty").write_text("\n")
    done = gitops("serve", "--sandbox", *arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_a_short_secret_is_warned_of(serve: Serve, secret_file: Path) -> None:
    secret_file.write_text("x" * (SHORT - 1))

    serve("--no-initial-run").logged("can be guessed")
