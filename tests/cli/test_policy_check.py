"""`gitops policy check`, as a person, a hook and a script use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

_POLICY = """\
apiVersion: config.nri/v1alpha1
kind: BalloonsPolicy
metadata: {name: default, namespace: kube-system}
spec:
  reservedResources: {cpu: "1"}
  balloonTypes:
  - name: fast
    namespaces: [fast]
    minCPUs: 4
    minBalloons: 2
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(_POLICY)
    return file


def _entries(text: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(text)
    return entries


def test_an_accepted_policy_exits_with_0(gitops: Run, policy: Path) -> None:
    checked = gitops("policy", "check", str(policy), "--machine", "2x2x4x2:64Gi")

    assert checked.returncode == 0
    assert checked.stdout == f"{policy}:1: accepted: BalloonsPolicy kube-system/default on 2x2x4x2:64Gi\n"
    assert checked.stderr == ""


def test_a_policy_that_one_machine_refuses_exits_with_1_and_names_the_machine_and_the_line(
    gitops: Run, policy: Path
) -> None:
    checked = gitops("policy", "check", str(policy), "--machine", "2x2x4x2", "--machine", "1x1x4x2")

    assert checked.returncode == 1
    assert [line.partition(" default on")[0] for line in checked.stdout.splitlines()]
    assert f"{policy}:5: refused: BalloonsPolicy kube-system/default on 1x1x4x2: the balloon type" in checked.stdout
    assert f"{policy}:1: accepted: BalloonsPolicy kube-system/default on 2x2x4x2\n" in checked.stdout


def test_the_json_has_one_entry_per_policy_and_machine(gitops: Run, policy: Path) -> None:
    checked = gitops("policy", "check", str(policy), "--machine", "2x2x4x2", "--machine", "1x1x4x2", "-o", "json")
    accepted, refused = _entries(checked.stdout)

    assert checked.returncode == 1
    assert {key: accepted[key] for key in ("file", "policy", "machine", "verdict", "rule", "path", "message")} == {
        "file": str(policy),
        "policy": "default",
        "machine": "2x2x4x2",
        "verdict": "accepted",
        "rule": "",
        "path": "",
        "message": "",
    }
    assert (refused["machine"], refused["verdict"], refused["rule"]) == ("1x1x4x2", "refused", "not-enough-cpus")
    assert refused["path"] == "/spec/reservedResources/cpu"
    assert refused["message"].startswith("the balloon type 'reserved' starts with 1 balloon of 1 CPU")


def test_what_depends_on_hardware_is_unknown_and_no_failure(gitops: Run, policy: Path) -> None:
    policy.write_text(_POLICY + "  control: {rdt: {enable: true}}\n")
    checked = gitops("policy", "check", str(policy), "-o", "json")

    assert checked.returncode == 0
    assert [entry["verdict"] for entry in _entries(checked.stdout)] == ["unknown"]


def test_a_policy_that_only_the_api_server_refuses_is_invalid_input(gitops: Run, policy: Path) -> None:
    policy.write_text(_POLICY.replace('  reservedResources: {cpu: "1"}\n', "  pinCPU: true\n"))
    checked = gitops("policy", "check", str(policy), "-o", "json")
    (entry,) = _entries(checked.stdout)

    assert checked.returncode == 1
    assert entry["verdict"] == "accepted"
    assert [found["path"] for found in entry["objections"]] == ["/spec/reservedResources"]


def test_warnings_are_no_failure(gitops: Run, policy: Path) -> None:
    policy.write_text(_POLICY.replace("minCPUs", "minCpus"))
    checked = gitops("policy", "check", str(policy))

    assert checked.returncode == 0
    assert f"{policy}:9: warning: BalloonsPolicy kube-system/default: minCpus is dropped silently" in checked.stdout


def test_annotations_for_github_stand_beside_the_line(gitops: Run, policy: Path) -> None:
    policy.write_text(_POLICY.replace('"1"', '"0-1"'))
    checked = gitops("policy", "check", str(policy), "-o", "github")

    assert checked.returncode == 1
    assert checked.stdout.startswith(f"::error file={policy},line=5,title=reserved-quantity-malformed::BalloonsPolicy")


def test_sarif_names_rules_levels_and_places(gitops: Run, policy: Path) -> None:
    policy.write_text(_POLICY.replace('"1"', '"0-1"').replace("minCPUs", "minCpus"))
    (run,) = json.loads(gitops("policy", "check", str(policy), "-o", "sarif").stdout)["runs"]

    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["key-ignored", "reserved-quantity-malformed"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("reserved-quantity-malformed", "error"),
        ("key-ignored", "warning"),
    ]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": str(policy)}, "region": {"startLine": 5}}


def test_a_hook_may_hand_over_files_that_hold_no_policy(gitops: Run, tmp_path: Path) -> None:
    chart = tmp_path / "template.yaml"
    chart.write_text("{{ if .Values.x }}\nnot: yaml: at all\n")
    checked = gitops("policy", "check", str(chart))

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "no policy among the files\n")


def test_a_policy_that_cannot_be_read_is_an_error_with_its_line(gitops: Run, policy: Path) -> None:
    policy.write_text(_POLICY + "  pinCPU: yes\n")
    checked = gitops("policy", "check", str(policy))

    assert checked.returncode == 1
    assert f"{policy}:11" in checked.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--machine", "2x2x8"), id="no machine"),
        pytest.param(("nowhere.yaml",), id="no file"),
    ],
)
def test_wrong_usage_exits_with_64(gitops: Run, policy: Path, arguments: tuple[str, ...]) -> None:
    assert gitops("policy", "check", str(policy), *arguments).returncode == 64
