"""Remote repositories over https and ssh: real servers, and nothing secret where it could be read."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gitops.errors import SourceError
from gitops.source.access import Access
from gitops.source.address import address_of
from gitops.source.repository import open_artifact
from tests.kube.certificates import Authority
from tests.source.git_server import GitServer, git_server
from tests.source.repositories import commit, git, new_repository
from tests.source.signers import SshSigner
from tests.source.ssh_server import SSHD, SshServer, ssh_server

PASSWORD = "c0rrect-h0rse"  # noqa: S105 - of a server that lives for one test


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def server(tmp_path: Path, authority: Authority) -> Iterator[GitServer]:
    new_repository(tmp_path / "served" / "r", {"a.yaml": "1"})
    with git_server(tmp_path / "served", authority) as server:
        server.credentials = ("ada", PASSWORD)
        yield server


@pytest.fixture
def access(tmp_path: Path, authority: Authority) -> Access:
    """Knows who vouches for the server, and no credentials."""
    file = tmp_path / "ca.pem"
    file.write_bytes(authority.certificate)
    return Access(ca_file=file, patience=timedelta(seconds=60))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def content(url: str, cache: Path, access: Access, revision: str = "HEAD") -> bytes:
    with open_artifact(url, revision, cache=cache, access=access) as artifact:
        assert PASSWORD not in artifact.repository
        return artifact.read("a.yaml")


def file_of(folder: Path, text: str) -> Path:
    file = folder / "secret"
    file.write_text(text)
    file.chmod(0o600)
    return file


@pytest.mark.parametrize("form", ["store", "store among others", "password", "password file", "url", "url and file"])
def test_https_credentials_are_taken_in_every_form(
    server: GitServer, access: Access, cache: Path, tmp_path: Path, form: str
) -> None:
    entry = f"https://ada:{PASSWORD}@127.0.0.1:{server.port}\n"
    userinfo = {"url": f"ada:{PASSWORD}", "url and file": "ada"}.get(form, "")
    forms = {
        "store": lambda: replace(access, credentials=file_of(tmp_path, entry)),
        "store among others": lambda: replace(access, credentials=file_of(tmp_path, f"https://x:y@h\n{entry}")),
        "password": lambda: replace(access, username="ada", password=PASSWORD),
        "password file": lambda: replace(access, username="ada", password_file=file_of(tmp_path, f"{PASSWORD}\n")),
        "url": lambda: access,
        "url and file": lambda: replace(access, credentials=file_of(tmp_path, f"https://b:c@127.0.0.1\n{entry}")),
    }

    assert content(server.url("r", userinfo), cache, forms[form]()) == b"1"
    assert set(server.offered) == {"", f"ada:{PASSWORD}"}


def test_a_password_that_was_renewed_in_place_is_used_at_once(
    server: GitServer, access: Access, cache: Path, tmp_path: Path
) -> None:
    file = file_of(tmp_path, PASSWORD)
    access = replace(access, username="ada", password_file=file)
    content(server.url("r"), cache, access)
    server.credentials = ("ada", "renewed")
    commit(server.root / "r", {"a.yaml": "2"})
    with pytest.raises(SourceError, match="refuses these credentials"):
        content(server.url("r"), cache, access)
    file.write_text("renewed")

    assert content(server.url("r"), cache, access) == b"2"


def test_a_credentials_file_is_not_changed_when_the_server_refuses_an_entry(
    server: GitServer, access: Access, cache: Path, tmp_path: Path
) -> None:
    """As git's own helper would, which strikes the entry out."""
    text = f"https://ada:wrong@127.0.0.1:{server.port}\n"
    file = file_of(tmp_path, text)

    with pytest.raises(SourceError, match="cannot fetch https://127") as refused:
        content(server.url("r"), cache, replace(access, credentials=file))

    assert file.read_text() == text
    assert "wrong" not in str(refused.value)


def test_a_server_that_wants_credentials_is_an_error_that_says_how_to_give_them(
    server: GitServer, access: Access, cache: Path
) -> None:
    with pytest.raises(SourceError, match="--git-credentials FILE, or GITOPS_GIT_PASSWORD_FILE"):
        content(server.url("r"), cache, access)


def test_a_server_that_nobody_vouches_for_is_an_error(server: GitServer, cache: Path) -> None:
    with pytest.raises(SourceError, match="--git-ca-file"):
        content(server.url("r"), cache, Access())
    assert server.asked == []


@pytest.mark.parametrize("form", ["store", "password", "url"])
def test_credentials_do_not_follow_a_redirect_to_another_host(
    server: GitServer, access: Access, cache: Path, tmp_path: Path, authority: Authority, form: str
) -> None:
    entry = file_of(tmp_path, f"https://ada:{PASSWORD}@127.0.0.1:{server.port}\n")
    forms = {
        "store": replace(access, credentials=entry),
        "password": replace(access, username="ada", password=PASSWORD),
        "url": access,
    }
    with git_server(tmp_path / "served", authority) as elsewhere:
        elsewhere.credentials = ("ada", PASSWORD)
        server.moved_to = f"https://127.0.0.1:{elsewhere.port}"

        with pytest.raises(SourceError, match="wants credentials"):
            content(server.url("r", f"ada:{PASSWORD}" if form == "url" else ""), cache, forms[form])

        assert elsewhere.asked
        assert set(elsewhere.offered) == {""}


def test_the_same_host_may_send_us_on(server: GitServer, access: Access, cache: Path) -> None:
    """Forges do when a repository is renamed."""
    server.renamed["old"] = "r"

    assert content(server.url("old", f"ada:{PASSWORD}"), cache, access) == b"1"


def test_nothing_secret_reaches_arguments_disk_or_logs(
    server: GitServer,
    access: Access,
    cache: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every program that git starts is recorded by a PATH that begins with wrappers; the log is at its most verbose."""
    caplog.set_level(logging.DEBUG)
    recorded = tmp_path / "recorded"
    monkeypatch.setenv("PATH", wrapped(tmp_path, recorded, "git"))
    forms = [
        (server.url("r", f"ada:{PASSWORD}"), access),
        (server.url("r"), replace(access, username="ada", password=PASSWORD)),
        (server.url("r"), replace(access, credentials=file_of(tmp_path, server.url("", f"ada:{PASSWORD}")))),
    ]
    for number, (url, way) in enumerate(forms):
        commit(server.root / "r", {"a.yaml": str(number)})
        content(url, cache, way)
    with pytest.raises(SourceError) as failed:
        content(server.url("nothing", f"ada:{PASSWORD}"), cache, access)

    arguments = recorded.read_text()
    assert "fetch" in arguments
    assert f"127.0.0.1:{server.port}/r" in arguments
    written = b"".join(file.read_bytes() for file in cache.rglob("*") if file.is_file())
    for place in (arguments, written.decode(errors="replace"), caplog.text, str(failed.value)):
        assert PASSWORD not in place


def wrapped(folder: Path, record: Path, program: str) -> str:
    """A PATH on which a program writes its arguments down first."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / program).write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {record}\nexec {shutil.which(program)} "$@"\n')
    (tools / program).chmod(0o755)
    return f"{tools}{os.pathsep}{os.environ['PATH']}"


def test_the_user_s_own_helpers_never_hear_of_credentials_that_were_given(
    server: GitServer, access: Access, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else git has the user's helper store what worked."""
    heard = tmp_path / "heard"
    configuration = tmp_path / "gitconfig"
    configuration.write_text(f'[credential]\n\thelper = "!f() {{ cat >> {heard}; }}; f"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))

    content(server.url("r", f"ada:{PASSWORD}"), cache, access)

    assert not heard.exists()


def test_a_server_that_never_answers_is_given_up_and_nothing_goes_on_waiting(
    server: GitServer, access: Access, cache: Path
) -> None:
    server.silent = True

    with pytest.raises(SourceError, match=r"cannot fetch https://.*/r: git .* took longer than 1 s; .*--git-timeout"):
        content(server.url("r"), cache, replace(access, patience=timedelta(seconds=1)))
    while any(f"127.0.0.1:{server.port}".encode() in line for line in command_lines()):
        pass  # killed processes take a moment to be gone; pytest's time limit ends the waiting


def command_lines() -> Iterator[bytes]:
    """Of every process on this machine."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may have ended meanwhile
            yield (folder / "cmdline").read_bytes()


def test_a_server_that_is_gone_is_an_error_and_not_what_was_read_last(
    tmp_path: Path, authority: Authority, access: Access, cache: Path
) -> None:
    new_repository(tmp_path / "served" / "r", {"a.yaml": "1"})
    with git_server(tmp_path / "served", authority) as server:
        assert content(server.url("r"), cache, access) == b"1"

    with pytest.raises(SourceError, match=r"cannot fetch https://127\.0\.0\.1:\d+/r: fatal: unable to access"):
        content(server.url("r"), cache, access)


def test_a_server_of_nothing_but_files_is_read_with_all_of_its_history(
    server: GitServer, access: Access, cache: Path
) -> None:
    """It cannot tell one commit from its history."""
    server.credentials, server.dumb = None, True
    commit(server.root / "r", {"a.yaml": "2"})
    git(server.root / "r", "update-server-info")

    assert content(server.url("r/.git"), cache, access) == b"2"


@pytest.mark.parametrize("text", ["a\nb", "a\0b"])
def test_a_password_is_one_line(text: str, access: Access) -> None:
    with pytest.raises(SourceError, match="line break"):
        replace(access, password=text).variables(address_of("https://h/r"))


@pytest.mark.parametrize("option", ["credentials", "password_file", "ca_file"])
def test_a_file_that_is_not_there_is_an_error_that_names_it(option: str, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    with pytest.raises(SourceError, match="nothing: No such file"):
        replace(Access(), **{option: nothing}).variables(address_of("https://h/r"))  # type: ignore[arg-type]


needs_sshd = pytest.mark.skipif(not SSHD.exists(), reason="needs sshd: install openssh-server")


@pytest.fixture
def key(tmp_path: Path) -> SshSigner:
    (tmp_path / "100% mine").mkdir()
    return SshSigner(tmp_path / "100% mine", "ada")


@pytest.fixture
def sshd(tmp_path: Path, key: SshSigner) -> Iterator[SshServer]:
    with ssh_server(tmp_path, key) as server:
        yield server


@pytest.fixture
def over_ssh(tmp_path: Path, key: SshSigner, sshd: SshServer) -> Access:
    known = tmp_path / "known hosts"
    known.write_text(sshd.known_hosts())
    return Access(ssh_key=key.file, known_hosts=known, patience=timedelta(seconds=60))


@needs_sshd
def test_a_repository_is_read_over_ssh(tmp_path: Path, sshd: SshServer, over_ssh: Access, cache: Path) -> None:
    new_repository(tmp_path / "r", {"a.yaml": "1"})

    assert content(sshd.url(tmp_path / "r"), cache, over_ssh) == b"1"


@needs_sshd
def test_another_key_is_not_let_in(tmp_path: Path, sshd: SshServer, over_ssh: Access, cache: Path) -> None:
    new_repository(tmp_path / "r", {"a.yaml": "1"})
    other = SshSigner(tmp_path, "other")

    with pytest.raises(SourceError, match="does not take this --ssh-key"):
        content(sshd.url(tmp_path / "r"), cache, replace(over_ssh, ssh_key=other.file))


@needs_sshd
@pytest.mark.parametrize("known", ["", "[127.0.0.1]:{port} {other}\n"], ids=["unknown", "changed"])
def test_a_host_key_that_is_not_known_is_not_believed(
    tmp_path: Path, sshd: SshServer, over_ssh: Access, cache: Path, known: str
) -> None:
    new_repository(tmp_path / "r", {"a.yaml": "1"})
    file = tmp_path / "others"
    file.write_text(known.format(port=sshd.port, other=SshSigner(tmp_path, "other").public))

    with pytest.raises(SourceError, match="its host key is not in --ssh-known-hosts"):
        content(sshd.url(tmp_path / "r"), cache, replace(over_ssh, known_hosts=file))
    assert file.read_text().count("\n") <= 1, "nothing was learned"


def test_a_key_without_known_hosts_is_an_error_that_says_how_to_get_them(key: SshSigner) -> None:
    with pytest.raises(SourceError, match="ssh-keyscan HOST > known_hosts"):
        Access(ssh_key=key.file).variables(address_of("git@h:r"))


def test_a_key_that_others_can_read_is_refused(key: SshSigner, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.touch()
    key.file.chmod(0o640)

    with pytest.raises(SourceError, match=r"can be read by others.*chmod 600"):
        Access(ssh_key=key.file, known_hosts=known).variables(address_of("git@h:r"))


def test_without_options_the_user_s_own_ssh_decides() -> None:
    assert "GIT_SSH_VARIANT" not in Access().variables(address_of("git@h:r"))


@pytest.mark.parametrize("url", ["https://[::1/fleet.git", "https://jo:word@git.example:99999/fleet.git"])
def test_a_url_that_is_none_is_refused_without_what_is_secret_in_it(url: str) -> None:
    with pytest.raises(SourceError, match="is no address") as refusal:
        address_of(url)

    assert "word" not in str(refusal.value)
