"""One etcd for all API servers of a landscape, each under a key prefix of its own."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import urllib3

from tests.control_plane.process import Process, free_port


class Etcd:
    """A running etcd without fsync: its data lives as long as the tests."""

    def __init__(self, binary: Path, folder: Path) -> None:
        port, peers = free_port(), free_port()
        self.url = f"http://127.0.0.1:{port}"
        peer_url = f"http://127.0.0.1:{peers}"
        self._http = urllib3.PoolManager(retries=False, timeout=30)
        self._process = Process(
            [
                str(binary),
                f"--data-dir={folder / 'etcd'}",
                f"--listen-client-urls={self.url}",
                f"--advertise-client-urls={self.url}",
                f"--listen-peer-urls={peer_url}",
                f"--initial-advertise-peer-urls={peer_url}",
                f"--initial-cluster=default={peer_url}",
                "--unsafe-no-fsync",
                "--quota-backend-bytes=4294967296",
            ],
            folder / "etcd.log",
        )
        self._process.wait_until(self._healthy)

    def keys(self, prefix: str) -> frozenset[str]:
        """All keys below `prefix`, which ends with a slash."""
        answer = self._call("kv/range", {**_range(prefix), "keys_only": True})
        return frozenset(base64.b64decode(entry["key"]).decode() for entry in answer.get("kvs", []))

    def delete(self, keys: frozenset[str]) -> None:
        """Delete keys; API servers see it as they see the deletions of their peers, by their watches."""
        ordered = sorted(keys)
        for start in range(0, len(ordered), 100):  # etcd takes 128 operations in a transaction
            deletions = [{"requestDeleteRange": {"key": _b64(key)}} for key in ordered[start : start + 100]]
            self._call("kv/txn", {"success": deletions})

    def stop(self) -> None:
        self._process.stop()

    def _healthy(self) -> bool:
        try:
            return self._http.request("GET", f"{self.url}/health").status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def _call(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        response = self._http.request("POST", f"{self.url}/v3/{method}", body=json.dumps(body).encode())
        if response.status != 200:
            raise RuntimeError(f"etcd {method}: {response.status} {response.data[:500]!r}")
        answer: dict[str, Any] = response.json()
        return answer


class Baseline:
    """The keys that were below some prefixes at a moment, to go back to.

    Objects that were there already are not restored when somebody changed them.
    """

    def __init__(self, etcd: Etcd, *prefixes: str) -> None:
        self._etcd = etcd
        self._prefixes = prefixes
        self._keys = self._now()

    def restore(self) -> frozenset[str]:
        """Delete every key that came since, and return those keys."""
        added = frozenset(key for key in self._now() - self._keys if not _is_own_business(key))
        self._etcd.delete(added)
        return added

    def _now(self) -> frozenset[str]:
        return frozenset().union(*(self._etcd.keys(prefix) for prefix in self._prefixes))


def _is_own_business(key: str) -> bool:
    """Whether an API server keeps this key to say that it is alive."""
    return any(part in key for part in ("/masterleases/", "/leases/kube-system/", "/peerserverleases/"))


def _range(prefix: str) -> dict[str, str]:
    return {"key": _b64(prefix), "range_end": _b64(prefix[:-1] + chr(ord("/") + 1))}


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
