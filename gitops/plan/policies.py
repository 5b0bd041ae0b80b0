"""What a plan says about the policies of one shoot, before any node sees them."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import Overlay
from gitops.errors import Violation
from gitops.manifest import Manifest
from gitops.nri.agents import agents_of
from gitops.nri.machines import machines_of
from gitops.nri.resolution import is_policy
from gitops.plan.changes import Action, Change
from gitops.plan.observed import Inside
from gitops.plan.policy_notes import changing_notes, doubt_notes, foreseen_notes, standing_notes, unwatched_notes
from gitops.plan.policy_problems import asked, refusals, rival_plugins
from gitops.plan.policy_scene import PolicyScene

_PENDING = {Action.CREATED, Action.CONFIGURED}


def review_policies(
    desired: DesiredShoot, inside: Inside, scene: PolicyScene, changes: Sequence[Change]
) -> tuple[tuple[str, ...], tuple[Violation, ...]]:
    """Notes, and why the run must not write; most of both only while a policy is about to change.

    Args:
        desired: what is declared.
        inside: what the shoot holds.
        scene: the nodes and their policies.
        changes: of the objects inside the shoot.
    """
    around = inside.surroundings
    changing = {
        change.ref for change in changes if change.action in _PENDING and is_policy(desired.objects.get(change.ref, {}))
    }
    if around is None or not changing:
        return tuple(standing_notes(desired, scene)), ()
    agents = agents_of(around.daemon_sets)
    answers = asked(desired, scene, changing)
    notes = (
        *changing_notes(desired, scene),
        *unwatched_notes(desired, inside, agents),
        *doubt_notes(scene, answers, around),
    )
    problems = (*refusals(desired, answers), *rival_plugins(desired, scene, agents))
    return tuple(dict.fromkeys(notes)), problems


def foresee_policies(desired: DesiredShoot, overlay: Overlay, shoot: Manifest) -> tuple[str, ...]:
    """Notes on a shoot that nobody can look into now, from the worker pools that it will have."""
    return tuple(foreseen_notes(desired, machines_of(shoot, None, overlay.machines)))
