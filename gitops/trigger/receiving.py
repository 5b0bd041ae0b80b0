"""The forges' webhooks: each verified by its own rule, then read as a push.

Accepted and refused deliveries are told apart in this order: signature, replay by timestamp, JSON, event, repeated
delivery. Nothing of a body is parsed before its signature holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitops.trigger.push import Delivery, Outcome, Refusal, Refused
from gitops.trigger.replay import ReplayWindow
from gitops.trigger.webhook import bitbucket, generic, gitea, github, gitlab


@dataclass(frozen=True)
class Forge:
    """How one forge's deliveries are judged."""

    verify: Callable[[Delivery, Sequence[str]], Refusal | None]
    """None when one of the secrets proves who sent it."""
    read: Callable[[Delivery, Mapping[str, Any]], Outcome]
    """What a genuine delivery says, from its headers and its JSON object."""
    ids: tuple[str, ...]
    """Headers that may hold the forge's name for a delivery, best first."""
    proven: Callable[[Delivery], bytes] = lambda delivery: delivery.body
    """What the signature vouches for; empty where nothing is signed."""


FORGES = {
    "github": Forge(github.verify, github.read, github.IDS),
    "gitlab": Forge(gitlab.verify, gitlab.read, gitlab.IDS, gitlab.proven),
    "gitea": Forge(gitea.verify, gitea.read, gitea.IDS),
    "bitbucket": Forge(bitbucket.verify, bitbucket.read, bitbucket.IDS),
    "generic": Forge(generic.verify, generic.read, (), generic.proven),
}
"""By the last part of their path."""


def receive(forge: Forge, delivery: Delivery, secrets: Sequence[str], seen: ReplayWindow) -> Outcome:
    """Judge a delivery. Only what is accepted is remembered, so that a forge may repeat what was refused."""
    if (refusal := forge.verify(delivery, secrets)) is not None:
        return Refused(refusal)
    try:
        document = json.loads(delivery.body)
    except (ValueError, RecursionError):  # a body of nothing but brackets is too deep for the parser
        return Refused(Refusal.MALFORMED)
    if not isinstance(document, dict):
        return Refused(Refusal.MALFORMED)
    outcome = forge.read(delivery, document)
    if isinstance(outcome, Refused):
        return outcome
    name = next((delivery.headers[header] for header in forge.ids if delivery.headers.get(header)), "")
    if not seen.first_time(name, forge.proven(delivery), delivery.received):
        return Refused(Refusal.REPLAY)
    return outcome
