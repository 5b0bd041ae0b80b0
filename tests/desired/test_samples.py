"""Real files from public repositories: composed, or refused for the right reason."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gitops.desired.compose import compose
from gitops.errors import InvalidInput
from tests.desired.in_memory import OVERLAY, Files, repository

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
SHOOTS = sorted((SAMPLES / "shoot").glob("*.yaml"))
BALLOONS = sorted((SAMPLES / "balloons").glob("*.yaml"))

REFUSED = {
    "argoproj__argo-cd__shoot-healthy.yaml": ["server-field"],
    "argoproj__argo-cd__shoot-progressing.yaml": ["server-field"],
    "gardener__gardener-extension-provider-aws__usage.yaml": ["not-a-shoot", "not-a-shoot"],
    "timebertt__kubernetes-controller-sharding__shoot.yaml": ["two-cloud-profiles"],
    "opea-project__GenAIEval__doc__platform-optimization__README__0.yaml": ["no-namespace"],
    "opea-project__GenAIEval__older-README.yaml": ["no-namespace"],
    "sample-configs__balloons-config.yaml": ["no-namespace"],
    "sample-configs__balloons-config__v0.3.0.yaml": ["no-namespace"],
    "sample-configs__balloons-config__v0.4.1.yaml": ["no-namespace"],
    # Upstream's own tests of what the plugin refuses.
    "derived-e2e__n4c16__test07-maxballoons__balloons-maxballoons-impossible.yaml": ["type-min-balloons"],
    "derived-e2e__n4c16__test19-pct__balloons-pct-invalid.yaml": ["pct-priority-and-clos"],
    "test__e2e__policies.test-suite__balloons__n4c16__test20-config-status__broken-balloons-config.yaml": [
        "type-min-cpus"
    ],
}


def outcome(files: dict[str, str | bytes]) -> list[str]:
    try:
        compose(Files(files), "dev")
    except InvalidInput as error:
        return [violation.rule for violation in error.violations]
    return []


@pytest.mark.parametrize("path", SHOOTS, ids=lambda path: path.name)
def test_sample_shoots(path: Path) -> None:
    data = path.read_bytes()
    namespaces = {document["metadata"]["namespace"] for document in yaml.safe_load_all(data) if document}
    text = OVERLAY.replace("[garden-dev]", f"[{', '.join(namespaces)}]")
    assert outcome(repository(shoot=data, overlay=text)) == REFUSED.get(path.name, [])


@pytest.mark.parametrize("path", BALLOONS, ids=lambda path: path.name)
def test_sample_policies(path: Path) -> None:
    assert outcome(repository(policy=path.read_bytes())) == REFUSED.get(path.name, [])


def test_no_sample_is_missing() -> None:
    assert (len(SHOOTS), len(BALLOONS)) == (20, 62)
    assert set(REFUSED) <= {path.name for path in (*SHOOTS, *BALLOONS)}
