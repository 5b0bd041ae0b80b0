"""What one check of a policy against one machine costs, and ten thousand of them from the cache."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from time import perf_counter

import yaml

from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.check import check
from gitops.nri.acceptance.machine import parse_machine

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "balloons"
MACHINE = parse_machine("2x2x8x2:256Gi")


def main() -> None:
    """Print the median and the greatest of the samples, each the best of twenty, and the cached total."""
    policies = [yaml.safe_load(path.read_text()) for path in sorted(SAMPLES.glob("*.yaml"))]
    times = []
    for policy in policies:
        best = float("inf")
        for _ in range(20):
            start = perf_counter()
            check(policy, MACHINE)
            best = min(best, perf_counter() - start)
        times.append(best * 1e3)
    answers = Answers()
    start = perf_counter()
    for number in range(10_000):
        answers.check(policies[number % len(policies)], MACHINE)
    sys.stdout.write(
        f"one check: median {statistics.median(times):.2f} ms, greatest {max(times):.2f} ms; "
        f"10 000 cached checks: {perf_counter() - start:.2f} s\n"
    )


if __name__ == "__main__":
    main()
