"""The two subjects."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.stories import Story, Subject
from tests.conformance.subjects import CRD_PATH, WIDGETS, ControlPlane, Sandbox, policies
from tests.control_plane.garden import Garden


@pytest.fixture(scope="session")
def real_garden(request: pytest.FixtureRequest) -> Iterator[Garden]:
    """One Garden for all stories: each makes its own Project in it."""
    garden = Garden(request.getfixturevalue("landscape"))
    subject = ControlPlane(garden.kubeconfig, garden.namespace)
    for crd in (WIDGETS, policies()):
        subject.send("POST", CRD_PATH, json.dumps(crd).encode(), "application/json", "application/json")
        spec: Any = crd["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        while subject.send("GET", path, None, "", "application/json").status != 200:
            subject.pause()
    yield garden
    garden.leave()


@pytest.fixture(params=["sandbox", pytest.param("control_plane", marks=pytest.mark.control_plane)])
def subject(request: pytest.FixtureRequest, story: Story) -> Subject:
    """Each server in turn, with a namespace for the story, a Project's where it is about Shoots."""
    if request.param == "sandbox":
        return Sandbox()
    garden: Garden = request.getfixturevalue("real_garden")
    namespace = f"garden-{secrets.token_hex(3)}"
    if story.is_about_shoots:
        garden.add_project(namespace)
    else:
        garden.client.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
    return ControlPlane(garden.kubeconfig, namespace)
