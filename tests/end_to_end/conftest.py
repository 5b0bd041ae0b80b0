"""One fleet per test: in the sandbox, and on the control plane."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control_plane.garden import Garden
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.fleet import Fleet
from tests.end_to_end.sandbox_fleet import SandboxFleet


@pytest.fixture(params=["sandbox", pytest.param("control-plane", marks=pytest.mark.control_plane)])
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Fleet:
    """Three Shoots that were reconciled before the tool came, and a repository that declares them."""
    if request.param == "sandbox":
        return SandboxFleet(tmp_path)
    return ControlPlaneFleet(request.getfixturevalue("garden"), tmp_path)


@pytest.fixture
def real_fleet(garden: Garden, tmp_path: Path) -> ControlPlaneFleet:
    """The fleet on real API servers, for what only other processes and real files can show."""
    return ControlPlaneFleet(garden, tmp_path)


@pytest.fixture
def sandbox_fleet(tmp_path: Path) -> SandboxFleet:
    """The fleet in the sandbox, for what takes too long elsewhere."""
    return SandboxFleet(tmp_path)
