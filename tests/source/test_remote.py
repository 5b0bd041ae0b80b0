from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitops.source.remote import remote_url


@pytest.mark.parametrize("url", ["https://git.acme.test/a/b.git", "git@git.acme.test:a/b.git"])
def test_a_url_is_where_a_repository_came_from(url: str) -> None:
    assert remote_url(url) == url


def test_a_clone_knows_its_origin(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    assert remote_url(str(tmp_path)) == ""

    origin = "ssh://git@git.acme.test:2222/a/b.git"
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", origin], check=True)
    folder = tmp_path / "below"
    folder.mkdir()
    assert remote_url(str(folder)) == origin


def test_a_folder_without_a_repository_has_none(tmp_path: Path) -> None:
    assert remote_url(str(tmp_path / "nowhere")) == ""
