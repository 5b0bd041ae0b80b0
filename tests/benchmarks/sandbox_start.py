"""What a landscape with 5 000 Shoots costs: seconds to start, memory."""

from __future__ import annotations

import resource
import sys
import time

from gitops.sandbox import Landscape, Options, Server
from tests.benchmarks.list_shoots import SANDBOX, declared


def main() -> None:
    """Print seconds until it serves, and the greatest memory."""
    start = time.perf_counter()
    with Server(Landscape([declared()], options=Options(copies=SANDBOX - 1))):
        seconds = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(f"{SANDBOX} Shoots: serving after {seconds:.1f} s, {memory / 1e6:.0f} MB\n")


if __name__ == "__main__":
    main()
