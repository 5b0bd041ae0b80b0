"""One summary per run, and only where there is news."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import timedelta
from pathlib import Path

import pytest

from gitops.errors import CredentialsError, LeaseHeld, Rejected, Unreachable
from gitops.notify.announce import Announcement, Announcements, Chat, Webhook, read_url
from gitops.notify.outbox import Outbox, Patience
from gitops.notify.secret import SecretFile
from gitops.notify.summary import NAMED, TEXT, plain, summary_text
from gitops.notify.web import Request, Response, Undelivered, Web
from tests.notify.runs import BROKEN, WORKING, Runs
from tests.notify.stub_forge import Fault, StubForge
from tests.report.plans import DIGEST, REVISION

DRIFTED = {"garden-local/canary": WORKING, "garden-local/fleet-00": WORKING, "garden-local/fleet-01": WORKING}
SECRET = "s3cr3t"  # noqa: S105 - signs nothing but what is sent to a stub
LONG = 10.0


class Heard:
    """Keeps what is announced of some runs."""

    def __init__(self, runs: Runs, link: str = "") -> None:
        self.announced: list[Announcement] = []
        self.observer = Announcements(lambda _, announcement: self.announced.append(announcement), runs.landscape, link)

    @property
    def outcomes(self) -> list[str]:
        return [announcement.summary["outcome"] for announcement in self.announced]


def test_a_run_is_one_summary_however_many_shoots_it_wrote() -> None:
    runs = Runs(DRIFTED)
    heard = Heard(runs, "https://gitops.acme.test/overlays/{overlay}")
    runs.run(heard.observer)

    (announcement,) = heard.announced
    assert announcement.summary == {
        "apiVersion": "shoot-gitops/v1alpha1",
        "kind": "Notification",
        "run": f"{1:032x}",
        "overlay": "dev",
        "revision": REVISION,
        "digest": DIGEST,
        "trigger": "push",
        "outcome": "Converged",
        "message": "",
        "writes": 3,
        "started": "2026-11-30T12:00:00Z",
        "finished": announcement.summary["finished"],
        "link": "https://gitops.acme.test/overlays/dev",
        "waves": [
            {"name": "canary", "outcome": "Passed", "counts": {"Converged": 1}, "shoots": []},
            {"name": "fleet", "outcome": "Passed", "counts": {"Converged": 2}, "shoots": []},
        ],
    }
    assert announcement.text.startswith(":white_check_mark: *Converged*: dev at `1a2b3c4d5e6f`, 3 objects written in ")
    assert announcement.text.endswith("<https://gitops.acme.test/overlays/dev>")


def test_a_run_that_finds_nothing_new_is_not_told() -> None:
    runs = Runs(DRIFTED)
    heard = Heard(runs)
    for _ in range(4):
        runs.run(heard.observer)

    assert heard.outcomes == ["Converged"]


def test_a_failure_is_told_with_the_shoot_and_the_reason() -> None:
    runs = Runs({**DRIFTED, "garden-local/canary": BROKEN})
    heard = Heard(runs)
    runs.run(heard.observer)

    (announcement,) = heard.announced
    (shoot,) = announcement.summary["waves"][0]["shoots"]
    assert (shoot["shoot"], shoot["outcome"]) == ("garden-local/canary", "Failed")
    assert "the machines are gone" in shoot["message"]
    assert "the machines are gone" in announcement.text
    assert announcement.text.startswith(":x: *Stopped*")


def test_a_failure_that_goes_on_is_told_once_an_hour_and_its_end_is_told() -> None:
    runs = Runs(DRIFTED)
    heard = Heard(runs)
    runs.run(heard.observer)
    error = Unreachable("no answer", request="GET /apis")
    for _ in range(7):
        runs.fail(heard.observer, error)
        runs.landscape.sleep(timedelta(minutes=10).total_seconds())
    assert heard.outcomes == ["Converged", "Failed", "Failed"]

    runs.fail(heard.observer, Unreachable("another reason"))
    runs.run(heard.observer)
    runs.run(heard.observer)

    assert heard.outcomes == ["Converged", "Failed", "Failed", "Failed", "Converged"]


def test_a_suspended_run_is_no_recovery() -> None:
    told: list[Announcement] = []
    runs = Runs({"garden-local/canary": BROKEN})
    announcements = Announcements(lambda _, announcement: told.append(announcement), runs.landscape)
    runs.run(announcements)
    assert len(told) == 1

    runs.suspended(announcements)

    assert len(told) == 1


def test_another_process_tells_a_failure_again() -> None:
    runs = Runs({**DRIFTED, "garden-local/canary": BROKEN})
    runs.run(Heard(runs).observer)
    heard = Heard(runs)
    runs.run(heard.observer)

    assert heard.outcomes == ["Stopped"]


def test_where_another_run_is_at_work_that_one_tells() -> None:
    runs = Runs(DRIFTED)
    heard = Heard(runs)
    runs.fail(heard.observer, LeaseHeld("another run is at work"))

    assert heard.outcomes == []


def test_what_many_shoots_say_is_abridged() -> None:
    sizes = {"fleet": 400}
    names = [f"garden-local/fleet-{number:02}" for number in range(400)]
    runs = Runs(dict.fromkeys(names, WORKING), sizes=sizes)
    runs.landscape.refusals = {name: Rejected("x" * 2000, status=403) for name in names}
    heard = Heard(runs)
    runs.run(heard.observer)

    (announcement,) = heard.announced
    (wave,) = announcement.summary["waves"]
    assert len(wave["shoots"]) <= NAMED
    assert len(json.dumps(announcement.summary)) < 20_000
    assert len(announcement.text) <= TEXT


def test_a_message_that_is_cut_still_says_where_the_rest_is() -> None:
    waves = [{"name": f"{n}-" + "w" * 60, "outcome": "Passed", "counts": {}, "shoots": []} for n in range(100)]
    told = {"outcome": "Converged", "overlay": "dev", "revision": REVISION, "writes": 1, "trigger": "push"}

    text = summary_text({**told, "waves": waves, "message": "", "link": "https://gitops.acme.test/x"}, 1)

    assert len(text) <= TEXT
    assert text.splitlines()[-2:] == ["…", "<https://gitops.acme.test/x>"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel>", "&lt;!channel&gt;"),
        ("<https://evil.test|click>", "&lt;https://evil.test|\u200bclick&gt;"),
        ("@all @here", "@\u200ball @\u200bhere"),
        ("*bold* `code`\n> quote", "*\u200bbold*\u200b `\u200bcode`\u200b &gt; quote"),
        ("a & b", "a &amp; b"),
        ("![x](https://evil.test/x.png)", "![x]\u200b(https://evil.test/x.png)"),
        ("\x1b[31m\u202e", "\\x1b[31m\\u202e"),
    ],
)
def test_texts_of_others_are_harmless_in_a_chat(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_hostile_message_mentions_nobody() -> None:
    runs = Runs(DRIFTED)
    runs.landscape.refusals["garden-local/canary"] = Rejected("<!channel> @all <http://evil.test|x>", status=403)
    heard = Heard(runs)
    runs.run(heard.observer)

    text = heard.announced[0].text
    assert "<!channel>" not in text
    assert "@all" not in text
    assert "<http" not in text


def secret(tmp_path: Path, name: str, text: str) -> SecretFile:
    file = tmp_path / name
    file.write_text(f"{text}\n")
    return SecretFile(file, name)


def test_the_webhook_gets_json_that_is_signed(forge: StubForge, web: Web, tmp_path: Path) -> None:
    forge.faults += [Fault(503), Fault(reset=True)]
    hook = Webhook(web, secret(tmp_path, "url", f"{forge.url}/hooks/t0k3n"), secret(tmp_path, "secret", SECRET))
    runs, told = Runs(DRIFTED), list[str]()
    box: Outbox[Announcement] = Outbox("the webhook", hook, told.append, patience=Patience(sleep=lambda _: None))
    runs.run(Announcements(box.put, runs.landscape))
    box.close(LONG)

    assert told == []
    received = forge.received[-1]
    assert (received.method, received.path, received.body["outcome"]) == ("POST", "/hooks/t0k3n", "Converged")
    digest = hmac.new(SECRET.encode(), received.raw, hashlib.sha256).hexdigest()
    assert received.headers["X-Signature"] == f"sha256={digest}"
    assert received.headers["Content-Type"] == "application/json"
    assert received.headers["User-Agent"].startswith("shoot-gitops/")


def test_without_a_secret_nothing_is_signed(forge: StubForge, web: Web, tmp_path: Path) -> None:
    hook = Webhook(web, secret(tmp_path, "url", f"{forge.url}/hooks/x"))
    hook(Announcement("1", {"outcome": "Converged"}, ""))

    assert "X-Signature" not in forge.received[0].headers


def test_the_chat_gets_one_text(forge: StubForge, web: Web, tmp_path: Path) -> None:
    Chat(web, secret(tmp_path, "url", f"{forge.url}/hooks/x"))(Announcement("1", {}, "told"))

    assert forge.received[0].body == {"text": "told", "unfurl_links": False, "unfurl_media": False}


def test_a_webhook_that_fails_is_told_without_its_address(forge: StubForge, web: Web, tmp_path: Path) -> None:
    told: list[str] = []
    forge.faults += [Fault(reset=True)] * 3 + [Fault(404)]
    hook = Webhook(web, secret(tmp_path, "url", f"{forge.url}/hooks/t0k3n"))
    runs = Runs(DRIFTED)
    box: Outbox[Announcement] = Outbox("the webhook", hook, told.append, patience=Patience(sleep=lambda _: None))
    runs.run(Announcements(box.put, runs.landscape))
    box.close(LONG)

    assert told == ["the webhook was not told of run 00000000 (Converged: dev at 1a2b3c4d5e6f): HTTP 404: a bad day"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Cannot POST /hooks/T0K3N?key=s3cr3t", "HTTP 404"),
        ("no route hooks/T0K3N", "HTTP 404"),
        ("s3cr3t is no key", "HTTP 404"),
        ("come back later", "HTTP 404: come back later"),
    ],
)
def test_an_address_that_a_receiver_repeats_is_not_told(tmp_path: Path, said: str, told: str) -> None:
    url = secret(tmp_path, "url", "https://chat.acme.test/hooks/T0K3N?key=s3cr3t")

    def send(_: Request) -> Response:
        return Response(404, {}, json.dumps({"message": said}).encode())

    for deliver in (Webhook(send, url), Chat(send, url)):
        with pytest.raises(Undelivered) as refusal:
            deliver(Announcement("1", {}, ""))
        assert str(refusal.value) == told


@pytest.mark.parametrize("text", ["hooks.acme.test/t0k3n", "ftp://x/t0k3n", "https:///t0k3n", "http://[t0k3n"])
def test_an_address_that_is_none_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(CredentialsError) as refusal:
        read_url(secret(tmp_path, "url", text))

    assert "t0k3n" not in str(refusal.value)
