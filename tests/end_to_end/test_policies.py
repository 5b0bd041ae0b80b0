"""Policies that must not reach a node: found in the plan, before anything is written."""

from __future__ import annotations

from tests.actors import crds
from tests.end_to_end.fleet import Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.test_refusals import refused


def test_a_field_that_a_shoots_older_definition_would_drop_names_the_release_that_brought_it(fleet: Fleet) -> None:
    fleet.reconcile()
    crds.install(fleet.shoot_client("three"), [crds.balloons_of("v0.9.4")])
    types = [{"name": "irq", "irqMode": "sink", "schedulingClass": "fast"}]
    classes = [{"name": "fast", "policy": "fifo", "priority": 1}]
    fleet.repository.policy("default", **balloons(balloonTypes=types, schedulingClasses=classes))
    fleet.repository.commit()

    refused(
        fleet,
        r"^policies/default.yaml:1: BalloonsPolicy kube-system/default in shoot \S+/three: .*"
        r"irqMode came with nri-plugins v0\.14\.0: the CRD here is older.*"
        r"schedulingClasses came with nri-plugins v0\.12\.1[^\n]*refused-by-the-shoot\]$",
    )
