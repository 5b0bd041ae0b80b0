"""`gitops migrate`, file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

_OLD = "policy: {Active: balloons, ReservedResources: {CPU: 1}}\ndump: {}\n"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "nodes.cfg"
    file.write_text(_OLD)
    return file


def test_policies_are_printed_and_the_report_stays_out_of_their_way(gitops: Run, old: Path) -> None:
    migrated = gitops("migrate", str(old))

    assert migrated.returncode == 0
    assert migrated.stdout.startswith("# No counterpart: dump: there is no such module\n")
    assert migrated.stdout.endswith('spec:\n  reservedResources:\n    cpu: "1"\n')
    assert "migrated: BalloonsPolicy kube-system/default" in migrated.stderr


def test_policies_are_written_where_policy_check_accepts_them(gitops: Run, old: Path, tmp_path: Path) -> None:
    assert gitops("migrate", str(old), "--to", str(tmp_path / "policies")).returncode == 0

    assert gitops("policy", "check", str(tmp_path / "policies" / "nodes.yaml"), "--machine", "1x1x2x1").returncode == 0


def test_migrating_twice_changes_nothing(gitops: Run, old: Path, tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    gitops("migrate", str(old), "--to", str(policies))
    first = (policies / "nodes.yaml").stat().st_mtime_ns
    again = gitops("migrate", str(old), str(policies / "nodes.yaml"), "--to", str(policies))

    assert again.returncode == 0
    assert [file.name for file in policies.iterdir()] == ["nodes.yaml"]
    assert (policies / "nodes.yaml").stat().st_mtime_ns == first


def test_a_file_that_says_something_else_is_never_replaced(gitops: Run, old: Path, tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text("mine: true\n")
    refused = gitops("migrate", str(old), "--to", str(tmp_path))

    assert refused.returncode == 1
    assert "exists and holds something else" in refused.stderr
    assert (tmp_path / "nodes.yaml").read_text() == "mine: true\n"


def test_what_nodes_would_refuse_is_not_written(gitops: Run, old: Path, tmp_path: Path) -> None:
    old.write_text(_OLD.replace("CPU: 1", "CPU: 'cpuset:3-1'"))
    refused = gitops("migrate", str(old), "--to", str(tmp_path / "policies"))

    assert refused.returncode == 1
    assert "not migrated: default:" in refused.stdout
    assert list((tmp_path / "policies").iterdir()) == []


def test_a_policy_is_left_alone(gitops: Run, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: config.nri/v1alpha1\nkind: BalloonsPolicy\nmetadata: {name: default}\nspec: {}\n")
    migrated = gitops("migrate", str(policy))

    assert (migrated.returncode, migrated.stdout) == (0, "")
    assert migrated.stderr.strip() == "nothing to migrate"
