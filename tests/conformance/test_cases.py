"""Every story, told to both servers: each answers as the control plane did when it was recorded."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.conformance.stories import Story, Subject, stories, tell

_RECORDS = os.environ.get("SHOOT_GITOPS_CONFORMANCE") == "record"
_Recorded = dict[Path, dict[tuple[str, int], Any]]


@pytest.fixture(scope="session")
def recorded() -> Iterator[_Recorded]:
    """What the control plane has said; written into the cases at the end of a recording."""
    found: _Recorded = defaultdict(dict)
    yield found
    yaml = YAML()
    yaml.width = 110
    yaml.preserve_quotes = True
    for file, answers in found.items():
        document = yaml.load(file.read_text())
        for case in document:
            looked = [step for step in case["steps"] if "see" in step]
            for index, step in enumerate(looked):
                if (case["case"], index) in answers:
                    step["answer"] = answers[case["case"], index]
        with file.open("w") as out:
            yaml.dump(document, out)


@pytest.mark.parametrize("story", [pytest.param(s, id=f"{s.file.stem}: {s.name}") for s in stories()])
def test_both_servers_answer_alike(story: Story, subject: Subject, recorded: _Recorded) -> None:
    for index, (step, seen) in enumerate(tell(story, subject)):
        if _RECORDS:
            recorded[story.file][story.name, index] = seen
        else:
            assert seen == step["answer"], f"step {index}"
