from __future__ import annotations

from click.testing import CliRunner

from gitops.cli import gitops
from gitops.serve.board.passwords import read_passwords


def test_a_line_lets_its_person_in_and_hides_the_password() -> None:
    ran = CliRunner().invoke(gitops, ["password", "ada"], input="correct horse\ncorrect horse\n", standalone_mode=False)

    line = ran.stdout.splitlines()[-1]
    assert "correct horse" not in ran.stdout
    assert read_passwords(line, "people")["ada"].fits("correct horse")


def test_a_name_that_cannot_be_one_is_refused() -> None:
    ran = CliRunner().invoke(gitops, ["password", "a:b", "--password", "x"], standalone_mode=False)

    assert "cannot be a name here" in str(ran.exception)
