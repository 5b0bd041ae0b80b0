from __future__ import annotations

from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.check import check
from gitops.nri.acceptance.machine import Machine

_MACHINE = Machine(packages=2, nodes=2, cores=8, threads=2)


def _policy(types: int) -> dict[str, object]:
    balloon_types = [{"name": f"t{number}", "namespaces": [f"n{number}-*"], "minCPUs": 1} for number in range(types)]
    return {"kind": "BalloonsPolicy", "spec": {"reservedResources": {"cpu": "1"}, "balloonTypes": balloon_types}}


def test_an_answer_is_what_the_check_says() -> None:
    answers = Answers()

    assert answers.check(_policy(3), _MACHINE) == check(_policy(3), _MACHINE)
    assert answers.check(_policy(3), _MACHINE) is answers.check(_policy(3), _MACHINE)
    assert answers.check(_policy(3), None) is not answers.check(_policy(3), _MACHINE)


def test_ten_thousand_shoots_with_ten_policies_cost_ten_checks() -> None:
    answers = Answers()

    given = {id(answers.check(_policy(1 + number % 10), _MACHINE)) for number in range(10_000)}

    assert len(given) == 10
