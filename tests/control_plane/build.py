"""Build etcd, kube-apiserver and gardener-apiserver from go.mod, once per set of inputs.

The binaries lie in `${XDG_CACHE_HOME:-~/.cache}/shoot-gitops/control-plane/<hash of go.mod, go.sum and the Go
version>/`. A folder of that name is complete: it is filled under another name and renamed, under a lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.control_plane.toolchain import GO_MOD, SETTINGS, BuildError, Go, find_go

_PROGRESS_SECONDS = 30


@dataclass(frozen=True)
class Tool:
    """A binary, and what it is built from."""

    name: str
    package: str
    """Go package of its `main`."""
    module: str
    """Go module whose version it reports as its own; without that, kubectl warns of a skew."""


ETCD = Tool("etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3")
KUBE_APISERVER = Tool("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes")
GARDENER_APISERVER = Tool(
    "gardener-apiserver", "github.com/gardener/gardener/cmd/gardener-apiserver", "github.com/gardener/gardener"
)


@dataclass(frozen=True)
class Binaries:
    """Paths of the servers."""

    etcd: Path
    kube_apiserver: Path
    gardener_apiserver: Path


def binaries() -> Binaries:
    """The servers, built now if they are not in the cache.

    `KUBEBUILDER_ASSETS` names a folder that has etcd and kube-apiserver already.

    Raises:
        BuildError: there is no Go, or a build failed.
    """
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets:
        ready = Path(assets)
        for tool in (ETCD, KUBE_APISERVER):
            if not (ready / tool.name).is_file():
                raise BuildError(f"KUBEBUILDER_ASSETS={assets} has no {tool.name}")
        built = _built([GARDENER_APISERVER])
    else:
        ready = built = _built([ETCD, KUBE_APISERVER, GARDENER_APISERVER])
    return Binaries(ready / ETCD.name, ready / KUBE_APISERVER.name, built / GARDENER_APISERVER.name)


def cache_folder() -> Path:
    """Where binaries and landscapes are kept; outside the tree, and made if need be."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "shoot-gitops" / "control-plane"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _built(tools: list[Tool]) -> Path:
    go = find_go()
    folder = cache_folder() / _key(tools, go)
    with _locked(folder.with_suffix(".lock")):
        if not folder.is_dir():
            partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
            try:
                for tool in tools:
                    _build(go, tool, partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return folder


def _key(tools: list[Tool], go: Go) -> str:
    digest = hashlib.sha256()
    for part in (
        GO_MOD.read_bytes(),
        GO_MOD.with_name("go.sum").read_bytes(),
        go.version.encode(),
        repr((tools, SETTINGS)).encode(),
    ):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


def _build(go: Go, tool: Tool, folder: Path) -> None:
    command = [str(go.command), "build", "-mod=readonly", "-ldflags", _linker_flags(tool)]
    command += ["-o", str(folder / tool.name), tool.package]
    log = folder / f"{tool.name}.log"
    start = time.monotonic()
    _say(f"building {tool.name} with {go.version}")
    with log.open("w") as output:
        build = subprocess.Popen(command, cwd=GO_MOD.parent, env=go.environment, stdout=output, stderr=output)
        try:
            while _still_runs(build):
                _say(f"still building {tool.name}, {time.monotonic() - start:.0f} s")
        finally:
            build.kill()
            build.wait()
    if build.returncode:
        raise BuildError(f"{' '.join(command)} failed:\n{log.read_text()[-4000:]}")
    log.unlink()
    _say(f"built {tool.name} in {time.monotonic() - start:.0f} s")


def _linker_flags(tool: Tool) -> str:
    version = re.search(rf"^\t{re.escape(tool.module)} (v\S+)", GO_MOD.read_text(), re.MULTILINE)
    if version is None:
        raise BuildError(f"go.mod does not require {tool.module}")
    return f"-s -w -X k8s.io/component-base/version.gitVersion={version[1]}"


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=_PROGRESS_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock; the kernel lets go of it if we die."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another process that builds the test control plane")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    sys.stderr.write(f"control plane: {line}\n")
    sys.stderr.flush()
