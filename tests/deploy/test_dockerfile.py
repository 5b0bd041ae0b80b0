"""The Dockerfile, as far as that can be told without building an image: linted, read, and its installation done."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitops.deploy.dockerfile import dockerfile
from gitops.deploy.manifests import manifests
from gitops.deploy.pod import HOME, USER
from gitops.deploy.settings import Settings
from tests.deploy.declared import composed, documents

ROOT = Path(__file__).parents[2]


def instructions(text: str) -> list[tuple[str, str]]:
    """Instructions with their arguments, continued lines joined."""
    joined = text.replace("\\\n", "")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def last_stage() -> list[tuple[str, str]]:
    found = instructions(dockerfile())
    start = max(index for index, (word, _) in enumerate(found) if word == "FROM")
    return found[start:]


@pytest.mark.parametrize("base", ["docker.io/library/python:3.13-slim", f"python:3.13@sha256:{'0' * 64}"])
def test_hadolint_has_nothing_to_say(base: str) -> None:
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert hadolint

    done = subprocess.run([hadolint, "-"], input=dockerfile(base), capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_both_stages_stand_on_the_base_that_was_asked_for() -> None:
    found = instructions(dockerfile("registry.example/python:3.12@sha256:" + "1" * 64))

    assert found[0] == ("ARG", "BASE=registry.example/python:3.12@sha256:" + "1" * 64)
    assert [rest for word, rest in found if word == "FROM"] == ["${BASE} AS build", "${BASE}"]


def test_the_image_is_what_the_pods_expect() -> None:
    stage = last_stage()
    environment = next(rest for word, rest in stage if word == "ENV")
    pods = manifests(
        [composed(documents("v1", "default"))], Settings("registry.example/x:1", "https://git.example/x.git")
    )
    job = next(each.manifest for each in pods if each.manifest["kind"] == "CronJob")["spec"]["jobTemplate"]["spec"]
    pod = job["template"]["spec"]

    assert ("USER", f"{USER}:{USER}") in stage
    assert pod["securityContext"]["runAsUser"] == USER
    for variable in pod["containers"][0]["env"]:
        assert f"{variable['name']}={variable['value']}" in environment
    assert f"HOME={HOME}" in environment
    assert ("ENTRYPOINT", '["gitops"]') in stage
    assert pod["containers"][0]["command"] == ["gitops"]


def test_what_checks_signatures_and_reaches_git_is_there() -> None:
    (install,) = [rest for word, rest in last_stage() if word == "RUN"]

    assert {"git", "gnupg", "openssh-client", "ca-certificates"} <= set(install.split())


def test_a_run_is_asked_to_stop_by_what_it_listens_to() -> None:
    assert ("STOPSIGNAL", "SIGINT") in last_stage()


def test_nothing_that_is_copied_is_missing() -> None:
    sources = [
        name
        for word, rest in instructions(dockerfile())
        if word == "COPY" and "--from" not in rest
        for name in rest.split()[:-1]
    ]

    assert sources
    assert all((ROOT / name).exists() for name in sources)


@pytest.mark.package_index
@pytest.mark.timeout(300)
def test_what_is_copied_can_be_installed_and_run_without_writing_anything(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "opt"
    for word, rest in instructions(dockerfile()):
        if word == "COPY" and "--from" not in rest:
            *names, folder = rest.split()
            for name in names:
                _copy(ROOT / name, tmp_path / folder.strip("/"))
    (command,) = [rest for word, rest in instructions(dockerfile()) if word == "RUN" and "venv" in rest]
    command = command.replace("/opt/gitops", str(target)).replace("/source", str(source))
    command = re.sub(r"^python ", f"{sys.executable} ", command)
    home = tmp_path / "home"
    home.mkdir()
    index = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http", "HTTP"))}

    subprocess.run(["/bin/sh", "-c", command], env={"PATH": "/usr/bin:/bin", "HOME": str(home), **index}, check=True)

    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    environment = {"PATH": f"{target}/bin:/usr/bin:/bin", "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["gitops", "--help"], env=environment, capture_output=True, text=True, check=True)
    assert "reconcile" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == before


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
