"""What is wrong with a choice is said on the command line, before anything is printed."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from gitops.cli import gitops
from gitops.deploy import settings
from gitops.errors import Refused

GOOD = ("--image", "registry.example/x:1", "--url", "https://git.example/x.git")


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--schedule", "* * * *", "five fields"),
        ("--schedule", "61 * * * *", "no cron expression"),
        ("--schedule", "@hourly", "five fields"),
        ("--schedule", "TZ=UTC 0 * * *", "five fields"),
        ("--schedule", "0 0 30 2 *", "never comes|no cron expression"),
        ("--schedule", "0 0 L * *", "does not know L"),
        ("--schedule", "0 0 * * 5L", "does not know L"),
        ("--schedule", "0 0 * * 1#2", "five fields"),
        ("--schedule", "0 0 * * 7", "Sunday is 0"),
        ("--schedule", "0 0 * * 1-7", "Sunday is 0"),
        ("--time-zone", "Local", "IANA"),
        ("--time-zone", "Mars/Olympus", "IANA"),
        ("--time-zone", "", "IANA"),
        ("--image", "registry.example/x", "no version"),
        ("--image", ":1", "no repository"),
        ("--image", "Registry/X:1", "not an image"),
        ("--namespace", "Shoot_Gitops", "cannot name an object"),
        ("--namespace", "a" * 64, "cannot name an object"),
        ("--git-secret", "a..b", "no name"),
        ("--garden-secret", "-a", "no name"),
        ("--host", "*.example", "no name"),
        ("--host", "a/b", "no name"),
        ("--url", "/srv/fleet.git", "no URL"),
        ("--url", "file:///srv/fleet.git", "no URL"),
        ("--url", "https://", "no URL"),
        ("--url", "https://git.example:99999/x", "no URL"),
        ("--url", "https://me:secret@git.example/x", "holds a credential"),
        ("--url", "https://token@git.example/x", "holds a credential"),
        ("--deadline", "soon", "not a duration"),
        ("--deadline", "0s", "not a duration"),
        ("--replicas", "0", "range"),
        ("--mode", "daemon", "is not one of"),
        ("--part", "moon", "is not one of"),
    ],
)
def test_a_wrong_choice_is_wrong_usage(option: str, value: str, reason: str) -> None:
    done = CliRunner().invoke(gitops, ["manifests", *GOOD, option, value], standalone_mode=False)

    assert isinstance(done.exception, click.UsageError)
    assert re.search(reason, done.exception.format_message())
    assert "secret@" not in done.exception.format_message()
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("mode", "option"),
    [
        ("serve", ("--deadline", "3h")),
        ("cronjob", ("--replicas", "2")),
        ("cronjob", ("--host", "gitops.example")),
        ("cronjob", ("--ingress-class", "nginx")),
        ("cronjob", ("--tls-secret", "tls")),
        ("cronjob", ("--service-monitor",)),
        ("cronjob", ("--webhook-secret", "hook")),
        ("cronjob", ("--dashboard-token-secret", "token")),
        ("cronjob", ("--dashboard-password-secret", "passwords")),
    ],
)
def test_what_does_nothing_in_a_mode_is_refused_there_and_taken_elsewhere(mode: str, option: tuple[str, ...]) -> None:
    def asked(mode: str) -> BaseException | None:
        command = ["manifests", "dev", *GOOD, "--mode", mode, *option]
        return CliRunner().invoke(gitops, command, standalone_mode=False).exception

    refusal = asked(mode)

    assert isinstance(refusal, click.UsageError)
    assert refusal.message == f"{option[0]} does nothing with --mode {mode}"
    assert asked("both") is None


@pytest.mark.parametrize("missing", ["--image", "--url"])
def test_what_is_missing_is_named(missing: str) -> None:
    at = GOOD.index(missing)
    given = [*GOOD[:at], *GOOD[at + 2 :]]

    done = CliRunner().invoke(gitops, ["manifests", *given], standalone_mode=False)

    assert isinstance(done.exception, click.UsageError)
    assert f"{missing} is missing" in done.exception.format_message()


@pytest.mark.parametrize(
    ("given", "error", "reason"),
    [
        pytest.param(
            ["--dashboard-token-secret", "a", "--dashboard-password-secret", "b"],
            click.UsageError,
            "name one Secret",
            id="two ways into the dashboard",
        ),
        pytest.param(["--forge", "gitlab"], click.UsageError, "without a token", id="a forge that takes nothing"),
        pytest.param(
            ["--forge-secret", "a"], Refused, r"runs at git\.example is not known", id="a forge of what kind?"
        ),
        pytest.param(
            ["--forge-secret", "a", "--forge", "gitlab"],
            Refused,
            r"--forge-repository OWNER/NAME",
            id="and where there?",
        ),
    ],
)
def test_what_would_fail_in_every_pod_fails_here(given: list[str], error: type[Exception], reason: str) -> None:
    done = CliRunner().invoke(gitops, ["manifests", *GOOD, *given], standalone_mode=False)

    assert isinstance(done.exception, error)
    assert re.search(reason, str(done.exception))
    assert done.stdout == ""


@pytest.mark.parametrize(
    "cron", ["*/30 * * * *", "0 6 * * 1-5", "15,45 */2 1-7 JAN,jul MON", "0 0 29 2 *", "0 0 * * 0", "0 0 * JUL SUN"]
)
def test_what_kubernetes_and_serve_both_read_is_taken(cron: str) -> None:
    assert settings.schedule(cron) == cron


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("https://git.example/x.git", 443),
        ("https://git.example:8443/x.git", 8443),
        ("ssh://git@git.example/x.git", 22),
        ("ssh://git@[2001:db8::1]:2222/x.git", 2222),
        ("git@git.example:team/x.git", 22),
        ("git.example:x.git", 22),
    ],
)
def test_a_url_leads_to_a_port(url: str, port: int) -> None:
    assert settings.port_of(settings.url(url)) == port
