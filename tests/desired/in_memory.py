"""An Artifact in memory, and the overlay most tests start from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from gitops.desired.artifact import Blob
from gitops.source.artifact import refuse_by_content, refuse_by_listing

REVISION = "1" * 40


class Files:
    """Files by path; counts how often each was read."""

    repository = "memory"
    revision = REVISION

    def __init__(self, files: Mapping[str, str | bytes], modes: Mapping[str, str] | None = None) -> None:
        self._data = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
        self._modes = modes or {}
        self.reads: list[str] = []
        self.files: Mapping[str, Blob] = {path: self._blob(path) for path in sorted(files)}

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        refuse_by_listing(self.files[path])
        refuse_by_content(self.files[path], self._data[path])
        return self._data[path]

    def _blob(self, path: str) -> Blob:
        data = self._data[path]
        return Blob(path, self._modes.get(path, "100644"), hashlib.sha1(data).hexdigest(), len(data))  # noqa: S324 - as git does


SHOOT = """\
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: one
  namespace: garden-dev
  labels: {cpu: balloons}
spec:
  kubernetes: {version: "1.35"}
"""
POLICY = """\
apiVersion: config.nri/v1alpha1
kind: BalloonsPolicy
metadata:
  name: default
  namespace: kube-system
spec:
  reservedResources: {cpu: "1"}
"""
OVERLAY = """\
apiVersion: shoot-gitops/v1alpha1
kind: Overlay
metadata: {name: dev}
spec:
  garden: {identity: test, namespaces: [garden-dev]}
  resources: [../../clusters]
  policies:
  - path: ../../policies
  waves:
  - {name: all}
"""
SHOOT_FILE = "clusters/one.yaml"
POLICY_FILE = "policies/default.yaml"
OVERLAY_FILE = "overlays/dev/overlay.yaml"


def repository(**changed: str | bytes) -> dict[str, str | bytes]:
    """Three sound files, with the text of `shoot`, `policy` or `overlay` exchanged."""
    names = {"shoot": SHOOT_FILE, "policy": POLICY_FILE, "overlay": OVERLAY_FILE}
    files: dict[str, str | bytes] = {SHOOT_FILE: SHOOT, POLICY_FILE: POLICY, OVERLAY_FILE: OVERLAY}
    return files | {names[name]: text for name, text in changed.items()}


def overlay(spec: str) -> str:
    """The overlay with these lines added to its spec."""
    return OVERLAY + spec
