"""What holds for the whole suite, and its fixtures: the test control plane (see `tests/control_plane/__init__.py`)."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.control_plane.build import binaries
from tests.control_plane.garden import Garden
from tests.control_plane.landscape import Landscape
from tests.control_plane.oracle import oracle
from tests.control_plane.toolchain import BuildError

_SKIPPED = os.environ.get("SHOOT_GITOPS_CONTROL_PLANE") == "skip"


def pytest_configure() -> None:
    """Hear Ctrl-C even where a shell started the suite in the background, which has it ignored from then on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("untimed", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("untimed")  # of one example, a law says what comes of it and not when


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the control plane where, and only where, the environment says so."""
    if _SKIPPED:
        for item in items:
            if item.get_closest_marker("control_plane"):
                item.add_marker(pytest.mark.skip(reason="SHOOT_GITOPS_CONTROL_PLANE=skip"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build servers and oracles before the first test, whose time limit is shorter; progress stays visible."""
    if session.config.option.collectonly:
        return
    marks = [mark for item in session.items for mark in item.iter_markers()]
    capture = session.config.pluginmanager.getplugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled():
            if not _SKIPPED and any(mark.name == "control_plane" for mark in marks):
                binaries()
            for folder in sorted({mark.args[0] for mark in marks if mark.name == "oracle"}):
                oracle(session.config.rootpath / folder)
    except BuildError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture(scope="session")
def landscape() -> Iterator[Landscape]:
    """The running servers, shared by all tests of the session."""
    with tempfile.TemporaryDirectory(prefix="shoot-gitops-landscape-") as folder:
        landscape = Landscape(binaries(), Path(folder))
        try:
            landscape.shoots.prepare(2)
            yield landscape
        finally:
            landscape.stop()


@pytest.fixture
def garden(landscape: Landscape) -> Iterator[Garden]:
    """A Project of its own in the garden; everything the test leaves behind is wiped."""
    garden = Garden(landscape)
    yield garden
    garden.leave()
