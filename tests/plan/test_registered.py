"""Which entries of extensions Gardener would refuse, said before anything is written."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitops.manifest import Manifest
from gitops.plan.planning import make_plan
from gitops.plan.registered import touches_extensions, unregistered
from tests.plan.fleet import declared, desired, live_shoot, observed


def registered(*resources: Any) -> Manifest:
    return {"kind": "ControllerRegistration", "spec": {"resources": list(resources)}}


def extension(type_: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Extension", "type": type_, **more}


def messages(entries: list[Any], live: list[Any], *resources: Any, workers: bool = True) -> list[str]:
    shoot = declared(spec={"extensions": entries})
    there = live_shoot(shoot, spec={"extensions": live, "provider": {"workers": [{"name": "w"}] if workers else []}})
    seen = {shoot.target: observed(there)}
    found = list(unregistered(desired(shoot), seen, seen, [registered(*resources)]))
    assert all(violation.rule == "unregistered-extension" for violation in found)
    return [violation.message for violation in found]


@pytest.mark.parametrize(
    ("entries", "live", "resources", "words"),
    [
        pytest.param([{"type": "a"}], [], [extension("a")], None, id="registered"),
        pytest.param([{"type": "a"}], [], [], "type a: declare its ControllerRegistration", id="not registered"),
        pytest.param([{"type": "a", "disabled": True}], [], [], "only disabled must be registered", id="disabled"),
        pytest.param([{"type": "a"}], [], [extension("a", primary=False)], "type a: declare", id="not primary"),
        pytest.param([{"type": "a"}], [], [{"kind": "Network", "type": "a"}], "type a: declare", id="another kind"),
        pytest.param(
            [{"type": "a"}], [], [extension("a", clusterCompatibility=["seed"])], "not for shoots", id="for seeds"
        ),
        pytest.param(
            [{"type": "a"}], [{"type": "b"}], [extension("a")], "type b:.*not from git", id="somebody else's entry"
        ),
    ],
)
def test_every_listed_type_must_be_registered(
    entries: list[Any], live: list[Any], resources: list[Any], words: str | None
) -> None:
    found = messages(entries, live, *resources)

    assert len(found) == (0 if words is None else 1)
    if words is not None:
        assert re.search(words, found[0])


def test_a_shoot_without_workers_needs_an_extension_that_supports_that() -> None:
    assert messages([{"type": "a"}], [], extension("a"), workers=False)
    assert not messages([{"type": "a"}], [], extension("a", workerlessSupported=True), workers=False)
    assert not messages([{"type": "a", "disabled": True}], [], extension("a"), workers=False)


def test_only_shoots_whose_extensions_change_are_asked_about() -> None:
    changing = declared(name="a", spec={"extensions": [{"type": "nri"}]})
    other = declared(name="b", spec={"purpose": "testing"})
    fixed = declared(name="c", spec={"extensions": [{"type": "nri"}]})
    wanted = desired(changing, other, fixed)
    seen = {
        changing.target: observed(live_shoot(changing, spec={})),
        other.target: observed(live_shoot(other, spec={})),
        fixed.target: observed(live_shoot(fixed)),
    }

    assert touches_extensions(make_plan(wanted, seen).plan) == (changing.target,)
