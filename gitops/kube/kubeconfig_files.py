"""Kubeconfig files: where they are, and how several become one (client-go tools/clientcmd/loader.go)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from gitops.errors import CredentialsError
from gitops.manifest import Manifest

_SECTIONS = ("clusters", "contexts", "users")
_PATHS = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}


def find(environment: Mapping[str, str], file: Path | None) -> list[Path]:
    """The files to read, in order; empty when there is none.

    Args:
        environment: KUBECONFIG, a list of paths of which missing ones are skipped, and HOME.
        file: takes the place of all others.

    Raises:
        CredentialsError: `file` does not exist, or none of the files in KUBECONFIG does.
    """
    if file is not None:
        if not file.is_file():
            raise CredentialsError(f"there is no kubeconfig {file}")
        return [file]
    if listed := environment.get("KUBECONFIG"):
        paths = [Path(path).expanduser() for path in listed.split(os.pathsep) if path]
        if not any(path.is_file() for path in paths):
            raise CredentialsError(f"none of the files in KUBECONFIG exists: {listed}")
        return [path for path in paths if path.is_file()]
    default = Path(environment.get("HOME", "")) / ".kube" / "config"
    return [default] if environment.get("HOME") and default.is_file() else []


def read(paths: Sequence[Path]) -> Manifest:
    """One kubeconfig from several files: the first to name an entry, or the current context, wins.

    Relative paths become absolute, each from the folder of its own file.

    Raises:
        CredentialsError: a file cannot be read or is no kubeconfig.
    """
    merged: Manifest = {section: [] for section in _SECTIONS}
    for path in paths:
        config = _parse(path)
        if config.get("current-context"):
            merged.setdefault("current-context", config["current-context"])
        for section in _SECTIONS:
            known = {entry["name"] for entry in merged[section]}
            merged[section] += [e for e in _entries(path, config, section) if e["name"] not in known]
    return merged


def _parse(path: Path) -> dict[str, Any]:
    try:
        config = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise CredentialsError(f"kubeconfig {path}: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:  # its text may quote the file
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise CredentialsError(f"kubeconfig {path}:{line}: this is not valid YAML") from None
    except yaml.YAMLError:
        raise CredentialsError(f"kubeconfig {path}: this is not valid YAML") from None
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise CredentialsError(f"kubeconfig {path}: this is no kubeconfig, which is a map")
    return config


def _entries(path: Path, config: dict[str, Any], section: str) -> Iterable[dict[str, Any]]:
    """The named entries of a section, their paths made absolute."""
    kind = section.removesuffix("s")
    entries = config.get(section) or []
    if not isinstance(entries, list):
        raise CredentialsError(f"kubeconfig {path}: {section} must be a list")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or "name" not in entry or not isinstance(entry.get(kind), dict | None):
            raise CredentialsError(f"kubeconfig {path}: {section}[{number}] must have a name and a {kind}")
        yield {**entry, kind: _absolute(path.absolute().parent, kind, entry.get(kind) or {})}


def _absolute(folder: Path, kind: str, section: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {
        key: str(folder / section[key]) for key in _PATHS.get(kind, ()) if isinstance(section.get(key), str)
    }
    if kind == "user" and isinstance(section.get("exec"), dict):
        changed["exec"] = _absolute_command(folder, section["exec"])
    return {**section, **changed}


def _absolute_command(folder: Path, plugin: dict[str, Any]) -> dict[str, Any]:
    """A command with a slash is a path; without one it is looked up in PATH."""
    command = plugin.get("command")
    if isinstance(command, str) and "/" in command:
        return {**plugin, "command": str(folder / command)}
    return plugin
