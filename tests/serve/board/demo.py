"""A dashboard to look at: `python -m tests.serve.board.demo [PORT]`.

Fleets are made up; plans, rollouts and explanations are real. One overlay goes on moving for as long as it runs.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette

from gitops.clock import SystemClock
from gitops.desired.compose import Desired, DesiredShoot, Origin
from gitops.manifest import GARDEN, Manifest, Target, ref_of
from gitops.nri.placement.verification import Scene
from gitops.nri.prerequisites.facts import node_facts
from gitops.nri.prerequisites.ledger import entry_of, write_ledger
from gitops.observer import Observers, Run
from gitops.ownership.applyset import member_labels
from gitops.plan.changes import Plan
from gitops.plan.document import digest
from gitops.plan.observed import NO_REGISTRATIONS, Inside, NodeWork, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, make_plan
from gitops.report.control import Controlled
from gitops.rollout.admission import Held, HeldBy
from gitops.rollout.rollout import Rollout
from gitops.serve.board import Board, Everybody, ViewAccess, routes
from tests.nri.placement import scenes
from tests.nri.prerequisites import nodes
from tests.plan.fleet import live_objects, policy
from tests.report.placements import machine, told
from tests.report.plans import REVISION, example_plan
from tests.report.rollouts import NOON, SUCCEEDED, live_shoot, overlay_of
from tests.serve.fleets import BrokenOffError, Fleet, StoppedClock

EVIL = "<script>document.title='owned'</script>"
SUBJECT = f"Give the latency balloons a third core {EVIL}"
BALLOONS = [{"name": name, "namespaces": [name]} for name in ("latency", "database", "batch", "dpdk")]
THOUSANDS = {"canary": 10, "early": 490, "fleet": 4500}


def app(board: Board, access: ViewAccess | None = None) -> Starlette:
    """The dashboard alone."""
    return Starlette(routes=routes(board, access or Everybody()))


def demo_board(clock: Any = None) -> Board:
    """A board with a bit of everything on it."""
    board = Board(clock or StoppedClock(NOON + timedelta(minutes=4)))
    _moving(board)
    _planned(board)
    _stopped(board)
    _troubled(board)
    _pinned(board)
    return board


def thousands(board: Board, turns: int = 6000) -> Fleet:
    """An overlay of 5 000 shoots in the midst of its rollout."""
    fleet = Fleet("prod", THOUSANDS, lambda _, number: number % 3 == 0, at_once=40)
    fleet.label({"region": "eu-west-1", "cpu": "balloons"})
    fleet.refuse("garden-local/fleet-1002", "admission webhook denied it: quota of 40 machines would be exceeded")
    board.committed("prod", REVISION, SUBJECT, "Ada Lovelace")
    board.scheduled("prod", NOON + timedelta(minutes=26))
    board.queued("prod", ("push",))
    with contextlib.suppress(BrokenOffError):
        fleet.rollout(board, turns)
    return fleet


def _moving(board: Board) -> None:
    thousands(board, 900)


def _planned(board: Board) -> None:
    plan = example_plan()
    desired = _declaring(plan)
    shoots = {
        target: Observed(live_shoot(shoot, SUCCEEDED, "evaluation"), NOON, Unobserved("the shoot is hibernated"))
        for target, shoot in desired.shoots.items()
    }
    run = Run("plan", "dev", REVISION, "schedule", NOON)
    board.committed("dev", REVISION, "Grow the latency balloon", "Grace Hopper")
    board.began(run, desired)
    board.planned(run, Planned(plan, ()), Outlook(desired, shoots, NO_REGISTRATIONS))
    held = {target: Held(HeldBy.APPROVAL, "waits for approval") for target in list(desired.shoots)[:17]}
    held |= {plan.waves[0].shoots[0].shoot: Held(HeldBy.WINDOW, "waits for a window", NOON + timedelta(hours=7))}
    board.asked(Controlled("dev", digest(plan), None, None, held))


def _stopped(board: Board) -> None:
    fleet = Fleet("staging", {"canary": 2, "fleet": 12}, at_once=3)
    fleet.label({"team": EVIL})
    fleet.refuse("garden-local/fleet-03", f'denied by policy: {EVIL} & "quotes"')
    board.committed("staging", REVISION, SUBJECT, "Ada Lovelace")
    fleet.rollout(board)


def _troubled(board: Board) -> None:
    fleet = Fleet("lab", {"all": 3}, lambda *_: False)
    fleet.rollout(board)
    file = "overlays/lab/overlay.yaml"
    for _ in range(3):
        fleet.fail(
            board,
            f"{file}:12: patches[0]: matches nothing [dead-patch]\n{file}:31: wave 'late' is named twice [wave-twice]",
        )


def pinned_outlook(overlay: str) -> tuple[Desired, Outlook]:
    """One shoot whose containers run in nine balloons, as far as somebody looked."""
    target, declared = "garden-local/pinned", policy()
    shoot: Manifest = {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": "pinned", "namespace": "garden-local", "labels": {"cpu": "balloons"}},
        "spec": {"purpose": "testing"},
    }
    origins = {
        ref_of(GARDEN, shoot): Origin("clusters/pinned.yaml", 1),
        ref_of(target, declared): Origin("policies/balloons.yaml", 1),
    }
    wanted = DesiredShoot(target, shoot, {ref_of(target, declared): declared}, "all", (), origins)
    desired = Desired(overlay_of(["all"], name=overlay), REVISION, {target: wanted}, ())
    node = nodes.node("w1-0")
    node["metadata"]["labels"]["kubernetes.io/os"] = "linux"
    facts = node_facts(node)
    report = replace(nodes.report(), cpus=machine())
    ledger = write_ledger({"w1-0": entry_of(facts, report, NOON, "run", repaired=False)})
    pods = tuple(scenes.pod(name.rpartition("/")[0]) for name in told().assignments)
    scene = Scene(
        (node,),
        (*pods, *scenes.PODS[:1]),
        (scenes.policy(balloonTypes=BALLOONS),),
        (scenes.plugin(),),
        {"w1-0": told()},
    )
    objects = {ref_of(target, live): live for live in live_objects(declared, labels=member_labels(overlay))}
    inside = Inside(objects, (node,), frozenset(), node_work=NodeWork(ledger, (), (), "run"), scene=scene)
    return desired, Outlook(
        desired, {target: Observed(live_shoot(wanted, SUCCEEDED, overlay=overlay), NOON, inside)}, NO_REGISTRATIONS
    )


def _pinned(board: Board) -> None:
    desired, outlook = pinned_outlook("pinned")
    run = Run("pinned", "pinned", REVISION, "command", NOON)
    board.began(run, desired)
    board.planned(run, make_plan(desired, outlook.shoots), outlook)


def _declaring(plan: Plan) -> Desired:
    """An overlay that declares the shoots of a plan."""
    shoots: dict[Target, DesiredShoot] = {}
    for wave in plan.waves:
        for shoot in wave.shoots:
            namespace, _, name = shoot.shoot.partition("/")
            manifest: Manifest = {
                "apiVersion": "core.gardener.cloud/v1beta1",
                "kind": "Shoot",
                "metadata": {"name": name, "namespace": namespace, "labels": {"wave": wave.name}},
                "spec": {"purpose": "testing"},
            }
            shoots[shoot.shoot] = DesiredShoot(
                shoot.shoot, manifest, {}, wave.name, (), {ref_of(GARDEN, manifest): Origin(f"clusters/{name}.yaml", 1)}
            )
    return Desired(
        overlay_of([wave.name for wave in plan.waves], name=plan.overlay),
        plan.revision,
        dict(sorted(shoots.items())),
        (),
    )


class _Slowly(Observers):
    """Tells a board in turns that people can follow."""

    def moved(self, run: Run, rollout: Rollout) -> None:
        super().moved(run, rollout)
        time.sleep(0.05)


def _forever(board: Board) -> None:
    """One overlay that is rolled out again and again, slowly."""
    while not board.closed:
        fleet = Fleet(
            "moving",
            {"canary": 3, "fleet": 40, "rest": 200},
            lambda _, number: number % 4 == 0,
            at_once=3,
            soak=timedelta(seconds=30),
        )
        now = SystemClock().now()
        fleet.run = replace(fleet.run, started=now)

        slow = _Slowly(board)
        fleet.rollout(slow)
        time.sleep(3)


def main(arguments: list[str]) -> None:
    """Serve it until stopped."""
    board = demo_board(SystemClock() if "--live" in arguments else None)
    if "--live" in arguments:
        threading.Thread(target=_forever, args=(board,), daemon=True).start()
    port = next((int(word) for word in arguments if word.isdigit()), 8080)
    uvicorn.run(app(board), host="127.0.0.1", port=port, log_level="warning", proxy_headers=False)


if __name__ == "__main__":
    main(sys.argv[1:])
