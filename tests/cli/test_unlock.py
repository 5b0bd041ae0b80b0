"""`gitops unlock`, and what `gitops reconcile` says of a lease that another run holds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import open_garden
from gitops.manifest import GARDEN, Ref, get
from tests.cli.conftest import Open, Run
from tests.end_to_end.repository import Repository

REF = Ref(GARDEN, "coordination.k8s.io/v1", "Lease", "garden-dev", "shoot-gitops-dev")
HOLDER = "elsewhere/7/abcdef01"
Place = tuple[str, Cluster]
"""A garden's kubeconfig, and the way to it."""


@pytest.fixture
def place(sandbox: Callable[..., str]) -> Iterator[Place]:
    """A garden in which somebody holds the lease of `dev`, which lasts a second."""
    kubeconfig = sandbox()
    transport = open_garden({}, file=Path(kubeconfig))
    garden = Cluster(transport, target=GARDEN)
    garden.create(
        {
            "apiVersion": REF.api_version,
            "kind": REF.kind,
            "metadata": {"name": REF.name, "namespace": REF.namespace},
            "spec": {"holderIdentity": HOLDER, "leaseDurationSeconds": 1, "acquireTime": "2026-01-01T00:00:00.000000Z"},
        }
    )
    yield kubeconfig, garden
    transport.close()


@contextmanager
def alive(garden: Cluster) -> Iterator[None]:
    """The holder renews the lease while the block runs."""
    end = threading.Event()

    def renew() -> None:
        times = 0
        while not end.wait(0.1):
            times += 1
            garden.patch(REF, [{"op": "add", "path": "/spec/leaseTransitions", "value": times}])

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def holder(garden: Cluster) -> str:
    return str(get(garden.get(REF), "spec", "holderIdentity"))


@pytest.mark.parametrize("how", [("--holder", HOLDER), ("--yes",)], ids=["named", "whoever"])
def test_a_lease_is_taken_away(gitops: Run, place: Place, how: tuple[str, ...]) -> None:
    kubeconfig, garden = place

    done = gitops("unlock", "dev", "--kubeconfig", kubeconfig, *how)
    again = gitops("unlock", "dev", "--kubeconfig", kubeconfig, *how)

    assert done.returncode == 0, done.stderr
    assert f"Lease garden-dev/shoot-gitops-dev is held by {HOLDER} (since 2026-01-01" in done.stderr
    assert "dev is free" in done.stderr
    assert holder(garden) == ""
    assert (again.returncode, "nobody holds the lease of overlay dev" in again.stderr) == (1, True)


def test_it_is_not_taken_from_another_holder_than_was_named(gitops: Run, place: Place) -> None:
    kubeconfig, garden = place

    done = gitops("unlock", "--kubeconfig", kubeconfig, "--holder", "somebody")

    assert (done.returncode, "not held by somebody" in done.stderr) == (1, True)
    assert holder(garden) == HOLDER


def test_where_nobody_can_be_asked_the_holder_must_be_named(gitops: Run, place: Place) -> None:
    kubeconfig, garden = place

    done = gitops("unlock", "--kubeconfig", kubeconfig)

    assert done.returncode == 64
    assert f"--holder {HOLDER}" in done.stderr
    assert holder(garden) == HOLDER


def test_a_person_is_asked_and_may_say_no(on_terminal: Open, place: Place) -> None:
    kubeconfig, garden = place
    run = on_terminal("unlock", "--kubeconfig", kubeconfig)
    run.wait_for("Take it away?")

    run.type("n\n")

    assert run.exit_code() == 1
    assert "left as it is" in run.text
    assert holder(garden) == HOLDER


@pytest.mark.parametrize("lock_timeout", ["0s", "1s"])
def test_a_run_names_the_holder_that_it_waited_for(gitops: Run, place: Place, lock_timeout: str) -> None:
    kubeconfig, garden = place

    with alive(garden):
        done = gitops("reconcile", "--kubeconfig", kubeconfig, "--lock-timeout", lock_timeout)

    assert done.returncode == 1
    assert f"waiting for {HOLDER}" in done.stderr
    assert f"error: another run is at work on overlay dev: {HOLDER}" in done.stderr
    assert holder(garden) == HOLDER


def test_a_run_follows_a_holder_that_is_dead(gitops: Run, place: Place) -> None:
    kubeconfig, garden = place

    done = gitops("reconcile", "--kubeconfig", kubeconfig, "--poll-interval", "500ms")

    assert done.returncode == 0, done.stderr
    assert f"waiting for {HOLDER}" in done.stderr
    assert holder(garden) == ""


def test_a_run_that_waited_does_not_undo_what_was_pushed_meanwhile(
    on_terminal: Open, repository: Repository, place: Place
) -> None:
    kubeconfig, garden = place
    with alive(garden):
        run = on_terminal("reconcile", "--kubeconfig", kubeconfig, "--lock-timeout", "1m")
        run.wait_for(f"waiting for {HOLDER}")
        newer = repository.commit("newer")
    garden.patch(REF, [{"op": "add", "path": "/spec/holderIdentity", "value": ""}])

    assert run.exit_code() == 3
    assert f"revision {newer[:12]} took the place of" in run.text
    assert holder(garden) == ""
