"""Answers that many shoots ask for: what differs between them is seldom the policy or the machine."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from gitops.manifest import Manifest
from gitops.nri.acceptance.check import Acceptance, check
from gitops.nri.acceptance.machine import Machine


@dataclass
class Answers:
    """Remembers the answer for each kind, spec and machine."""

    _known: dict[tuple[str, str, Machine | None], Acceptance] = field(default_factory=dict)

    def check(self, policy: Manifest, machine: Machine | None) -> Acceptance:
        """What `check` says.

        Raises:
            KeyError: it is not a policy.
        """
        key = (policy["kind"], json.dumps(policy.get("spec"), sort_keys=True), machine)
        answer = self._known.get(key)
        if answer is None:
            answer = self._known[key] = check(policy, machine)
        return answer
