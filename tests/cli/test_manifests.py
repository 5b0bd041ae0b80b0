"""`gitops manifests` as a process: streams, exit codes, and the folder it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository

CHOSEN = ("--image", "registry.example/shoot-gitops:1", "--url", "https://git.example/fleet.git")


def test_results_go_to_standard_output_and_nothing_else_does(gitops: Run) -> None:
    done = gitops("manifests", *CHOSEN)

    assert (done.returncode, done.stderr) == (0, "")
    kinds = [each["kind"] for each in yaml.safe_load_all(done.stdout)]
    assert {"CronJob", "Role", "ClusterRole"} <= set(kinds)


def test_a_url_needs_to_be_said_once(gitops: Run, repository: Repository) -> None:
    assert gitops("manifests", *CHOSEN[:2]).returncode == 64
    del repository


def test_wrong_usage_and_invalid_input_are_told_apart(gitops: Run) -> None:
    cron = gitops("manifests", *CHOSEN, "--schedule", "never")
    overlay = gitops("manifests", *CHOSEN, "nowhere")

    assert (cron.returncode, cron.stdout) == (64, "")
    assert "'never' is no cron expression" in cron.stderr
    assert (overlay.returncode, overlay.stdout) == (1, "")
    assert "no overlay 'nowhere'" in overlay.stderr


def test_the_dockerfile_needs_no_repository(gitops: Run, tmp_path: Path) -> None:
    done = gitops("manifests", "--dockerfile", "--repo", str(tmp_path), "--base", "python:3.13")

    assert done.returncode == 0
    assert "ARG BASE=python:3.13\n" in done.stdout


def test_each_cluster_has_a_folder_for_kustomize(gitops: Run, tmp_path: Path) -> None:
    folder = tmp_path / "deploy"

    done = gitops("manifests", *CHOSEN, "--to", str(folder))

    assert (done.returncode, done.stdout) == (0, "")
    for part in ("run", "project", "garden"):
        listed = yaml.safe_load((folder / part / "kustomization.yaml").read_text())["resources"]
        assert {*listed, "kustomization.yaml"} == {file.name for file in (folder / part).iterdir()}
    stream = list(yaml.safe_load_all(gitops("manifests", *CHOSEN).stdout))
    objects = [yaml.safe_load(file.read_text()) for file in folder.glob("*/*.yaml")]
    assert len([each for each in objects if each["kind"] != "Kustomization"]) == len(stream)


def test_what_is_the_same_is_not_written_again(gitops: Run, tmp_path: Path) -> None:
    gitops("manifests", *CHOSEN, "--to", str(tmp_path / "deploy"))
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.yaml")}

    assert gitops("manifests", *CHOSEN, "--to", str(tmp_path / "deploy"), "--schedule", "0 * * * *").returncode == 0

    changed = [file for file, time in before.items() if file.stat().st_mtime_ns != time]
    assert [file.name for file in changed if "repository" not in file.parts] == [
        "cronjob-shoot-gitops-shoot-gitops-dev.yaml"
    ]


def test_a_file_that_would_be_left_behind_is_refused(gitops: Run, tmp_path: Path) -> None:
    gitops("manifests", *CHOSEN, "--mode", "both", "--to", str(tmp_path / "deploy"))

    done = gitops("manifests", *CHOSEN, "--mode", "cronjob", "--to", str(tmp_path / "deploy"))

    assert done.returncode == 1
    assert "is not printed any more: remove it" in done.stderr


@pytest.mark.parametrize("part", ["run", "project", "garden"])
def test_a_part_is_printed_alone(gitops: Run, part: str, tmp_path: Path) -> None:
    gitops("manifests", *CHOSEN, "--to", str(tmp_path / "deploy"))

    objects = list(yaml.safe_load_all(gitops("manifests", *CHOSEN, "--part", part).stdout))

    files = [file for file in (tmp_path / "deploy" / part).iterdir() if file.name != "kustomization.yaml"]
    assert len(objects) == len(files)
