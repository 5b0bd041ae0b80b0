"""One fleet per test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control_plane.garden import Garden
from tests.end_to_end.fleet import Fleet


@pytest.fixture
def fleet(garden: Garden, tmp_path: Path) -> Fleet:
    """Three Shoots that were reconciled before the tool came, and a repository that declares them."""
    return Fleet(garden, tmp_path)
