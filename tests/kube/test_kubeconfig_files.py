from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.errors import CredentialsError
from gitops.kube.kubeconfig_files import find, read


def write(path: Path, content: dict[str, Any] | str | None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def user(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "user": fields}


def test_an_explicit_file_takes_the_place_of_all_others(tmp_path: Path) -> None:
    file = write(tmp_path / "a", {})

    assert find({"KUBECONFIG": str(tmp_path / "b")}, file) == [file]


def test_kubeconfig_lists_files_of_which_missing_ones_are_skipped(tmp_path: Path) -> None:
    files = [write(tmp_path / "a", {}), write(tmp_path / "b", {})]
    listed = f"{files[0]}:{tmp_path / 'missing'}::{files[1]}"

    assert find({"KUBECONFIG": listed, "HOME": str(tmp_path)}, None) == files


def test_the_default_is_in_the_home_folder(tmp_path: Path) -> None:
    assert find({"HOME": str(tmp_path)}, None) == []

    file = write(tmp_path / ".kube" / "config", {})

    assert find({"HOME": str(tmp_path)}, None) == [file]


@pytest.mark.parametrize("environment", [{}, {"KUBECONFIG": "/no/such/file"}])
def test_what_was_asked_for_and_is_missing_is_an_error(environment: dict[str, str]) -> None:
    with pytest.raises(CredentialsError, match="/no/such/file"):
        find(environment, None if environment else Path("/no/such/file"))


def test_the_first_to_name_an_entry_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "a", {"users": [user("u", username="1")]})
    second = write(
        tmp_path / "b", {"current-context": "b", "users": [user("u", username="2"), user("v", username="3")]}
    )
    third = write(tmp_path / "c", {"current-context": "c"})

    merged = read([first, second, third])

    assert merged["users"] == [user("u", username="1"), user("v", username="3")]
    assert merged["current-context"] == "b"


def test_relative_paths_are_relative_to_their_own_file(tmp_path: Path) -> None:
    users = [
        user("u", **{"client-key": "k", "tokenFile": "/absolute", "exec": {"command": "bin/x"}}),
        user("v", exec={"command": "gardenlogin"}),
    ]
    clusters = [{"name": "k", "cluster": {"certificate-authority": "../ca", "server": "https://x"}}]
    file = write(tmp_path / "d" / "config", {"users": users, "clusters": clusters})

    merged = read([file])

    assert merged["users"][0]["user"] == {
        "client-key": str(tmp_path / "d" / "k"),
        "tokenFile": "/absolute",
        "exec": {"command": str(tmp_path / "d" / "bin" / "x")},
    }
    assert merged["users"][1]["user"] == {"exec": {"command": "gardenlogin"}}
    assert merged["clusters"][0]["cluster"]["certificate-authority"] == str(tmp_path / "d" / "../ca")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("users:\n- name: u\n  user: {token: hunter2\n", r"config:\d+: this is not valid YAML"),
        ("\0hunter2", "not valid YAML"),
        ("hunter2", "is no kubeconfig"),
        ("users: hunter2", "users must be a list"),
        ("users: [hunter2]", r"users\[0\] must have a name and a user"),
        ("contexts: [{name: x, context: hunter2}]", r"contexts\[0\] must have a name and a context"),
    ],
    ids=["syntax", "NUL", "a word", "no list", "no entry", "no section"],
)
def test_a_malformed_file_is_named_with_its_fault_and_without_its_content(
    content: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CredentialsError, match=message) as caught:
        read([write(tmp_path / "config", content)])

    assert "hunter2" not in str(caught.value)


def test_an_empty_file_adds_nothing(tmp_path: Path) -> None:
    assert read([write(tmp_path / "a", "")])["users"] == []
