from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from gitops.errors import Refused
from gitops.serve.app import api_routes, make_app
from gitops.serve.board import (
    Board,
    Everybody,
    PasswordFile,
    ThisMachine,
    TokenFile,
    TrustedProxy,
    ViewAccess,
    guarded,
    is_loopback,
    routes,
)
from gitops.serve.board.guard import PEER
from gitops.serve.board.passwords import password_line, read_passwords
from gitops.serve.last import LastRuns
from tests.report.rollouts import NOON
from tests.serve.asking import ask, basic
from tests.serve.fleets import Fleet, StoppedClock

TOKEN = "a-token-that-nobody-guesses"  # noqa: S105 - of this test
SALT = bytes(range(16))
PAGES = ("/", "/events", "/overlays/dev", "/overlays/dev/plan", "/overlays/dev/history", "/nothing")


def app(access: ViewAccess) -> Starlette:
    board = Board(StoppedClock(NOON))
    Fleet("dev", {"all": 1}).rollout(board)
    board.close()  # streams of events end at once
    return Starlette(routes=routes(board, access))


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return file


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    file = tmp_path / "passwords"
    file.write_text(f"# people\n\n{password_line('ada', 'pass:word', SALT)}\n{password_line('bob', 'x', SALT)}\n")
    return file


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_shown_to_whoever_is_not_known(token_file: Path, path: str) -> None:
    answer = ask(app(TokenFile(token_file)), path)

    assert answer.status_code == 401
    assert "garden-local" not in answer.text
    assert "dev" not in answer.text.replace("width=device-width", "")
    assert answer.headers.get_list("www-authenticate")


def test_the_look_of_the_refusal_is_for_everybody(token_file: Path) -> None:
    guarded = app(TokenFile(token_file))
    page = ask(guarded, "/").text
    style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]

    assert ask(guarded, style).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"Authorization": f"bearer {TOKEN}"}, 200),
        (basic("anybody", TOKEN), 200),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": "Basic !!!"}, 401),
        ({"Authorization": "Basic bm9jb2xvbg=="}, 401),
        (basic(TOKEN, ""), 401),
    ],
)
def test_a_token_opens_the_dashboard(token_file: Path, headers: dict[str, str], status: int) -> None:
    assert ask(app(TokenFile(token_file)), "/", headers=headers).status_code == status


def test_a_token_that_is_replaced_no_longer_counts(token_file: Path) -> None:
    guarded = app(TokenFile(token_file))
    other = token_file.with_name("other")
    other.write_text("another-token-just-as-good\n")
    os.replace(other, token_file)  # noqa: PTH105 - as kubelets do

    assert ask(guarded, "/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401
    assert ask(guarded, "/", headers={"Authorization": "Bearer another-token-just-as-good"}).status_code == 200


def test_while_the_file_is_missing_the_old_token_counts(token_file: Path) -> None:
    guarded = app(TokenFile(token_file))
    token_file.unlink()

    assert ask(guarded, "/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_file_that_is_emptied_keeps_everybody_out_and_says_so_once(
    token_file: Path, password_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    by_token, by_password = app(TokenFile(token_file)), app(PasswordFile(password_file))
    assert ask(by_password, "/", headers=basic("ada", "pass:word")).status_code == 200
    token_file.write_text("")
    password_file.write_text("ada:plain text\n")

    for _ in range(2):
        assert ask(by_token, "/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401
        assert ask(by_password, "/", headers=basic("ada", "pass:word")).status_code == 401

    said = [text for text in caplog.messages if text.startswith("who may look")]
    assert [file for text in said for file in (token_file, password_file) if str(file) in text] == [
        token_file,
        password_file,
    ]
    assert "plain text" not in caplog.text


@pytest.mark.parametrize("text", ["", "\n\n", "short\n"], ids=["empty", "blank", "short"])
def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)

    with pytest.raises(Refused, match="at least 16 characters"):
        TokenFile(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        TokenFile(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "password", "status"),
    [
        ("ada", "pass:word", 200),
        ("bob", "x", 200),
        ("ada", "x", 401),
        ("ada", "pass:wor", 401),
        ("eve", "pass:word", 401),
        ("", "", 401),
    ],
)
def test_people_sign_in_with_their_passwords(password_file: Path, name: str, password: str, status: int) -> None:
    guarded = app(PasswordFile(password_file))

    for _ in range(2):  # the second time it is remembered
        answer = ask(guarded, "/", headers=basic(name, password))
        assert answer.status_code == status
        assert ("shown to " + name in answer.text) == (status == 200)


def test_a_password_that_is_taken_away_is_not_remembered(password_file: Path) -> None:
    guarded = app(PasswordFile(password_file))
    assert ask(guarded, "/", headers=basic("ada", "pass:word")).status_code == 200

    password_file.write_text(password_line("ada", "another one", SALT))

    assert ask(guarded, "/", headers=basic("ada", "pass:word")).status_code == 401
    assert ask(guarded, "/", headers=basic("ada", "another one")).status_code == 200


def test_a_browser_is_asked_for_what_counts_here(password_file: Path, token_file: Path) -> None:
    assert ask(app(PasswordFile(password_file)), "/").headers["www-authenticate"].startswith("Basic realm=")
    schemes = ask(app(TokenFile(token_file)), "/").headers.get_list("www-authenticate")
    assert [scheme.partition(" ")[0] for scheme in schemes] == ["Bearer", "Basic"]


@pytest.mark.parametrize(
    "line",
    [
        "ada",
        "ada:plain",
        ":$scrypt$ln=15,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "ada:$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "ada:$scrypt$ln=15,r=8,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "ada:$scrypt$ln=15,r=8,p=1$A$A",
        "ada:$2y$05$abcdefghijklmnopqrstuv",
    ],
    ids=["no colon", "plain text", "no name", "memory for hours", "short salt", "no base64", "bcrypt"],
)
def test_a_line_that_means_nothing_is_refused_and_not_quoted(line: str) -> None:
    with pytest.raises(Refused, match="people:1") as refusal:
        read_passwords(line, "people")

    assert line not in str(refusal.value)


def test_a_file_that_names_nobody_is_refused() -> None:
    with pytest.raises(Refused, match="names nobody"):
        read_passwords("# nobody yet\n", "people")


@pytest.mark.parametrize("password", ["x", "pass:word", "žluťoučký kůň", " "], ids=ascii)
def test_only_the_password_itself_fits(password: str) -> None:
    hashed = read_passwords(password_line("ada", password, SALT), "people")["ada"]

    assert [hashed.fits(text) for text in (password, password + "x", "")] == [True, False, False]


@pytest.mark.parametrize("name", ["", "a:b", "a\nb", "#a"])
def test_a_name_that_would_break_the_file_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="cannot be a name"):
        password_line(name, "x", SALT)


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("10.1.2.3", {"X-Forwarded-User": "ada"}, 200),
        ("::ffff:10.1.2.3", {"X-Forwarded-User": "ada"}, 200),
        ("fd00::1", {"X-Forwarded-User": "ada"}, 200),
        ("192.168.1.1", {"X-Forwarded-User": "ada"}, 403),
        ("10.1.2.3", {}, 403),
        ("10.1.2.3", {"X-Forwarded-User": " "}, 403),
        ("10.1.2.3", [("X-Forwarded-User", "ada"), ("X-Forwarded-User", "bob")], 403),
        ("not an address", {"X-Forwarded-User": "ada"}, 403),
    ],
)
def test_a_proxy_is_believed_from_its_own_addresses(peer: str, headers: dict[str, str], status: int) -> None:
    guarded = app(TrustedProxy(["10.0.0.0/8", "fd00::/16"]))

    answer = ask(guarded, "/", peer=peer, headers=headers)

    assert answer.status_code == status
    assert ("shown to ada" in answer.text) == (status == 200)


def test_an_address_that_the_proxy_has_told_is_not_taken_for_the_proxy() -> None:
    def behind(inner: ASGIApp) -> ASGIApp:
        async def rewriting(scope: Scope, receive: Receive, send: Send) -> None:
            peer = scope["client"][0]
            await inner({**scope, "client": ("10.0.0.1", 0), PEER: peer}, receive, send)

        return rewriting

    guarded = behind(app(TrustedProxy(["10.0.0.0/8"])))

    assert ask(guarded, "/", peer="192.168.1.1", headers={"X-Forwarded-User": "ada"}).status_code == 403


@pytest.mark.parametrize("path", ["/api/v1/overlays", "/api/v1/overlays/dev"])
def test_routes_for_scripts_answer_those_only_who_may_look(token_file: Path, path: str) -> None:
    last = LastRuns()
    last.keep_only(["dev"])
    guarded_app = make_app(*guarded(api_routes(last), TokenFile(token_file)))

    refused = ask(guarded_app, path)
    answered = ask(guarded_app, path, headers={"Authorization": f"Bearer {TOKEN}"})

    assert (refused.status_code, refused.json()) == (401, {"error": "unauthorized"})
    assert refused.headers.get_list("www-authenticate")
    assert answered.status_code == 200
    assert "dev" in answered.text
    assert {one.headers["cache-control"] for one in (refused, answered)} == {"no-store"}


def test_a_sign_in_that_fails_is_logged_with_its_source_and_without_what_was_given(
    password_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    guarded = app(PasswordFile(password_file))

    ask(guarded, "/", peer="203.0.113.7")
    assert caplog.messages == []
    ask(guarded, "/", peer="203.0.113.7", headers=basic("ada", "a guess"))

    assert caplog.messages == ["dashboard: refused a sign-in from 203.0.113.7"]


def test_who_may_not_look_learns_not_even_which_overlays_there_are(token_file: Path) -> None:
    guarded_app = make_app(*guarded(api_routes(LastRuns()), TokenFile(token_file)))

    assert ask(guarded_app, "/api/v1/overlays/nothing").status_code == 401
    assert ask(guarded_app, "/api/v1/overlays/nothing", headers=basic("x", TOKEN)).json() == {
        "error": "no such overlay"
    }


@pytest.mark.parametrize("header", ["Forwarded", "Via", "X-Forwarded-For", "X-Real-IP"])
def test_a_proxy_on_this_machine_does_not_open_it_to_the_world(header: str) -> None:
    answer = ask(app(ThisMachine()), "/", headers={"Host": "localhost:8080", header: "203.0.113.7"})

    assert answer.status_code == 403
    assert "with one of the --dashboard-… options" in answer.text


@pytest.mark.parametrize("proxies", [[], ["everywhere"], ["10.0.0.1/8"]])
def test_a_proxy_must_have_an_address(proxies: list[str]) -> None:
    with pytest.raises(Refused):
        TrustedProxy(proxies)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]:8080", 200),
        ("[::1]", 200),
        ("rebound.example.invalid", 421),
        ("rebound.example.invalid:8080", 421),
        ("127.0.0.1.example.invalid", 421),
        ("localhost.example.invalid:8080", 421),
        (":8080", 421),
    ],
)
def test_on_this_machine_another_name_than_its_own_is_refused(host: str, status: int) -> None:
    assert ask(app(ThisMachine()), "/", headers={"Host": host}).status_code == status


def test_everybody_may_look_where_that_is_said() -> None:
    assert ask(app(Everybody()), "/", headers={"Host": "board.example.invalid"}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_an_address_that_only_this_machine_reaches(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.invalid", ""])  # noqa: S104 - to be told apart
def test_an_address_that_others_reach(host: str) -> None:
    assert not is_loopback(host)
