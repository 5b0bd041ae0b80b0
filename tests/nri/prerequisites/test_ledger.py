"""What is remembered of nodes is read back, and nonsense is as if nobody had looked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitops.manifest import Manifest
from gitops.nri.prerequisites.facts import node_facts
from gitops.nri.prerequisites.ledger import entry_of, read_ledger, write_ledger
from tests.nri.prerequisites.nodes import node, report

FACTS = node_facts(node("w1-0"))
ENTRY = entry_of(FACTS, report(error="busy"), datetime(2026, 1, 1, tzinfo=UTC), "run-1", repaired=True)


def test_entries_are_read_back() -> None:
    assert read_ledger(write_ledger({"w1-0": ENTRY, "w1-1": ENTRY})) == {"w1-0": ENTRY, "w1-1": ENTRY}


@pytest.mark.parametrize(
    "ledger",
    [None, {}, {"data": None}, {"data": {"w1-0": ""}}, {"data": {"w1-0": "[]"}}, {"data": {"w1-0": '{"report": {}}'}}],
)
def test_nonsense_is_no_entry(ledger: Manifest | None) -> None:
    assert read_ledger(ledger) == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [("2026-01-01T00:00:00Z", "2026-01-01T00:00:00"), ("2026-01-01T00:00:00Z", "noon"), ('"v":1', '"v":2')],
    ids=["no-time-zone", "no-time", "another-version"],
)
def test_an_entry_that_cannot_be_read_is_none_and_the_others_stay(before: str, after: str) -> None:
    ledger = write_ledger({"w1-0": ENTRY, "w1-1": ENTRY})
    assert before in ledger["data"]["w1-0"]
    ledger["data"]["w1-0"] = ledger["data"]["w1-0"].replace(before, after)

    assert set(read_ledger(ledger)) == {"w1-1"}


def test_an_entry_is_of_a_node_until_it_boots_or_its_runtime_changes() -> None:
    assert ENTRY.is_of(FACTS)
    assert not ENTRY.is_of(node_facts(node("w1-0", boot="boot-2")))
    assert not ENTRY.is_of(node_facts(node("w1-0", runtime="containerd://2.1.4")))
