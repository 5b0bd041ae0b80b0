"""Images of extensions, on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository

BASE = "images:\n- name: balloons\n  repository: public/balloons\n  tag: v1\n"
OVERWRITE = "# Ours.\nimages:\n- name: balloons\n  repository: mirror/balloons # near\n  tag: v2\n"
ENTRY = {
    "extension": "cri-resmgr-extension",
    "registration": "ControllerDeployment",
    "form": "String",
    "path": "vector.yaml",
    "base": "images.yaml",
}


@pytest.fixture(autouse=True)
def vectors(repository: Repository) -> None:
    repository.overlay["spec"]["imageVectors"] = [ENTRY]
    folder = repository.path / "overlays" / "dev"
    (folder / "vector.yaml").write_text(OVERWRITE)
    (folder / "images.yaml").write_text(BASE)
    repository.commit()


def vector(repository: Repository, overlay: str = "dev") -> str:
    return (repository.path / "overlays" / overlay / "vector.yaml").read_text()


def test_a_check_shows_what_is_pulled(gitops: Run) -> None:
    text = gitops("image-vector", "check")
    document = json.loads(gitops("image-vector", "check", "dev", "-o", "json").stdout)

    assert text.returncode == 0
    assert text.stdout.splitlines()[1].split()[:4] == [
        "cri-resmgr-extension",
        "balloons",
        "overwrite",
        "mirror/balloons:v2",
    ]
    assert document["extensions"][0]["images"][0]["reference"] == "mirror/balloons:v2"


def test_an_overwrite_that_loses_fails_check_and_validate(gitops: Run, repository: Repository) -> None:
    (repository.path / "overlays" / "dev" / "vector.yaml").write_text(OVERWRITE + "  targetVersion: '>= 1.31'\n")
    repository.commit()
    checked, validated = gitops("image-vector", "check"), gitops("validate", "-o", "json")

    assert checked.returncode == validated.returncode == 1
    assert "vector.yaml:3" in checked.stderr
    assert "loses to public/balloons:v1" in checked.stderr
    (violation,) = json.loads(validated.stdout)["violations"]
    assert (violation["file"], violation["line"], violation["rule"]) == (
        "overlays/dev/vector.yaml",
        3,
        "overwrite-loses",
    )


def test_warnings_of_image_vectors_are_validations_own(gitops: Run, repository: Repository) -> None:
    repository.overlay["spec"]["imageVectors"] = [{key: value for key, value in ENTRY.items() if key != "base"}]
    repository.commit()
    validated = json.loads(gitops("validate", "-o", "json").stdout)

    assert (validated["valid"], [found["rule"] for found in validated["warnings"]]) == (True, ["no-base"])


def test_an_image_is_set_in_the_work_tree(gitops: Run, repository: Repository) -> None:
    looked = gitops("image-vector", "set", "dev", "balloons", ":v3", "--check")
    before = vector(repository)
    done = gitops("image-vector", "set", "dev", "balloons", ":v3")

    assert (looked.returncode, before) == (0, OVERWRITE)
    assert "-  tag: v2\n+  tag: v3\n" in looked.stdout
    assert looked.stdout == done.stdout
    assert (done.returncode, vector(repository)) == (0, OVERWRITE.replace("v2", "v3"))
    assert gitops("image-vector", "set", "dev", "balloons", ":v3").stderr == "nothing to change\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("balloon", ":v3"), "there are balloons", id="image"),
        pytest.param(("balloons", "v3"), "says no version", id="version"),
    ],
)
def test_an_image_that_is_not_clear_is_a_usage_error(gitops: Run, arguments: tuple[str, ...], says: str) -> None:
    done = gitops("image-vector", "set", "dev", *arguments)

    assert done.returncode == 64
    assert says in done.stderr


@pytest.fixture
def prod(repository: Repository) -> Repository:
    overlay = {**repository.overlay, "metadata": {"name": "prod"}}
    repository.write("overlays/prod/overlay.yaml", overlay)
    folder = repository.path / "overlays" / "prod"
    (folder / "vector.yaml").write_text(BASE)
    (folder / "images.yaml").write_text(BASE)
    repository.commit()
    return repository


def test_an_overlay_is_promoted(gitops: Run, prod: Repository) -> None:
    looked = gitops("promote", "dev", "prod", "--unproven", "--check")
    before = vector(prod, "prod")
    done = gitops("promote", "dev", "prod", "--unproven")

    assert (looked.returncode, before) == (0, BASE)
    assert looked.stdout == done.stdout
    assert "image vector cri-resmgr-extension: taken over, with overlays/prod/vector.yaml" in done.stderr
    assert (done.returncode, vector(prod, "prod")) == (0, OVERWRITE)
    assert prod.git("status", "--porcelain") == "M overlays/prod/vector.yaml"


def test_what_is_not_committed_is_not_promoted(gitops: Run, prod: Repository) -> None:
    (prod.path / "overlays" / "dev" / "vector.yaml").write_text(OVERWRITE.replace("v2", "v9"))
    gitops("promote", "dev", "prod", "--unproven")

    assert vector(prod, "prod") == OVERWRITE


def test_a_promotion_needs_a_garden_to_ask(gitops: Run, prod: Repository) -> None:
    done = gitops("promote", "dev", "prod")

    assert done.returncode == 1
    assert vector(prod, "prod") == BASE


@pytest.fixture
def kubeconfig(prod: Repository, tmp_path: Path) -> Iterator[str]:
    """A garden for both overlays, which declare no image vector: no run writes one yet."""
    del prod.overlay["spec"]["imageVectors"]
    prod.write("overlays/prod/overlay.yaml", {**prod.overlay, "metadata": {"name": "prod"}})
    prod.commit()
    file = tmp_path / "kubeconfig"
    command = [sys.executable, "-m", "gitops", "sandbox", "dev", "--time-scale", "60", "--kubeconfig-file", str(file)]
    with subprocess.Popen(command, cwd=prod.path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield str(file)
        process.send_signal(signal.SIGINT)


def test_only_what_a_run_has_proven_is_promoted(gitops: Run, prod: Repository, kubeconfig: str) -> None:
    never = gitops("promote", "dev", "prod", "--kubeconfig", kubeconfig)
    run = gitops("reconcile", "dev", "--kubeconfig", kubeconfig, "--poll-interval", "1s")
    proven = gitops("promote", "dev", "prod", "--kubeconfig", kubeconfig)
    prod.commit("something else")
    later = gitops("promote", "dev", "prod", "--kubeconfig", kubeconfig)

    assert (never.returncode, run.returncode, proven.returncode, later.returncode) == (1, 0, 0, 1)
    assert "never been reconciled" in never.stderr
    assert "converged at" in later.stderr


def test_an_overlay_is_not_promoted_to_itself(gitops: Run) -> None:
    assert gitops("promote", "dev", "dev", "--unproven").returncode == 64
