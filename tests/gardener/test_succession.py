"""One extension takes over from another."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitops.gardener.shoot_merge import ShootMerge, Terms, merge_shoot
from gitops.gardener.succession import Move, lost
from gitops.manifest import Manifest
from tests.gardener.shoots import live_shoot, shoot, written

OLD, NEW = "cri-resmgr-extension", "nri-resource-policy"
SELECTOR = {"nodeSelector": {"worker.gardener.cloud/pool": "local"}}
FOREIGN = {"type": "shoot-dns-service", "providerConfig": {"kind": "DNSConfig"}}
DECLARED = shoot({"extensions": [{"type": NEW, "disabled": False}, {"type": OLD, "disabled": True}]})


def live(*entries: Any) -> Manifest:
    return live_shoot({"extensions": list(entries)})


def moved(on: Manifest, declared: Manifest = DECLARED) -> ShootMerge:
    return merge_shoot(declared, on, Terms("dev", moves=(Move(OLD, NEW),)))


def extensions(outcome: ShootMerge) -> dict[str, Any]:
    return {entry["type"]: entry for entry in written(outcome)["spec"]["extensions"]}


def test_what_still_means_something_moves_on_and_the_old_entry_keeps_its_own() -> None:
    config = {**SELECTOR, "configs": {"default": "policy: {}"}}

    found = extensions(moved(live(FOREIGN, {"type": OLD, "providerConfig": config})))

    assert found[NEW] == {"type": NEW, "providerConfig": SELECTOR}
    assert found[OLD] == {"type": OLD, "disabled": True, "providerConfig": config}
    assert found["shoot-dns-service"] == FOREIGN


def test_what_moved_on_belongs_to_nobody() -> None:
    first = moved(live({"type": OLD, "providerConfig": SELECTOR}))
    after = written(first)
    after["spec"]["extensions"][-1].setdefault("providerConfig", {})["more"] = True

    assert not moved(after).writes
    assert not any("providerConfig" in path for path in first.record.fields)


@pytest.mark.parametrize(
    ("entries", "declared"),
    [
        pytest.param([{"type": OLD, "providerConfig": SELECTOR}, {"type": NEW}], DECLARED, id="the new one was there"),
        pytest.param([{"type": OLD}], DECLARED, id="there was none"),
        pytest.param([], DECLARED, id="the old one was not there"),
    ],
)
def test_nothing_else_is_given(entries: list[Any], declared: Manifest) -> None:
    assert "providerConfig" not in extensions(moved(live(*entries), declared))[NEW]


def test_what_git_declares_for_the_new_one_wins() -> None:
    own = {"kind": "Own"}
    declared = shoot({"extensions": [{"type": NEW, "providerConfig": own}, {"type": OLD, "disabled": True}]})

    assert extensions(moved(live({"type": OLD, "providerConfig": SELECTOR}), declared))[NEW]["providerConfig"] == own


@pytest.mark.parametrize(
    ("old", "config", "words"),
    [
        pytest.param(OLD, SELECTOR, [], id="nothing is lost"),
        pytest.param(OLD, {"configs": {}}, ["providerConfig.configs of cri-resmgr-extension.*gitops migrate"], id="it"),
        pytest.param("other", {"kind": "X", "b": 1, "a": 2}, ["providerConfig.a, providerConfig.b of other"], id="all"),
        pytest.param("other", None, [], id="no config"),
    ],
)
def test_what_is_left_behind_is_told(old: str, config: Any, words: list[str]) -> None:
    told = lost(old, config)

    assert len(told) == len(words)
    assert all(re.search(word, sentence) for word, sentence in zip(words, told, strict=True))
