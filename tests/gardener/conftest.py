from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gardener.oracle import Oracle, running_oracle


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    with running_oracle() as process:
        yield process
