from __future__ import annotations

from time import perf_counter

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


def test_the_checks_of_ten_thousand_shoots_take_less_than_a_second() -> None:
    answers = Answers()
    policies = [_policy(1 + number % 10) for number in range(10_000)]

    start = perf_counter()
    for policy in policies:
        answers.check(policy, _MACHINE)

    assert perf_counter() - start < 1
