"""Thousands of Shoots fit in memory; how fast they are is measured in tests/benchmarks."""

import subprocess
import sys

from tests.waiting import PATIENCE


def test_five_thousand_shoots_fit_in_half_a_gigabyte() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.sandbox_start"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)

    megabytes = float(done.stdout.split()[-2])

    assert megabytes < 500, done.stdout
