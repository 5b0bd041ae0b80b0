from pathlib import Path

import pytest

from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoots_in

pytestmark = pytest.mark.control_plane

CLUSTERS = Path(__file__).parents[2] / "clusters"


@pytest.mark.parametrize("project", sorted(folder.name for folder in CLUSTERS.iterdir()))
def test_gardener_accepts_every_shoot_of_the_example_repository(garden: Garden, project: str) -> None:
    garden.add_project(f"garden-{project}")

    accepted = [garden.create_shoot(manifest)["metadata"]["name"] for manifest in shoots_in(CLUSTERS / project)]

    assert accepted
