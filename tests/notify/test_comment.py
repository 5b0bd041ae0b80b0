"""One comment per overlay, whatever else is said on the pull request."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from gitops.notify.comment import Published, mark, marked, publish
from gitops.notify.web import Undelivered
from tests.notify.conftest import Client
from tests.notify.stub_forge import ME, Fault, StubForge

PULL = 7
MARKDOWN = MarkdownIt("commonmark")


def test_a_comment_is_made_once_and_then_changed(forge: StubForge, client: Client, kind: str) -> None:
    forge.comment(PULL, "looks good", "jo")
    texts = [marked("dev", text) for text in ("one", "one", "two", "three")]

    done = [publish(client(kind), PULL, "dev", text) for text in texts]

    assert done == [Published.CREATED, Published.UNCHANGED, Published.UPDATED, Published.UPDATED]
    assert [comment["text"] for comment in forge.comments[PULL]] == ["looks good", texts[-1]]


def test_each_overlay_has_its_own(forge: StubForge, client: Client, kind: str) -> None:
    for overlay in ("dev", "dev-2", "prod"):
        publish(client(kind), PULL, overlay, marked(overlay, f"plan of {overlay}"))
    publish(client(kind), PULL, "dev", marked("dev", "another"))

    texts = [comment["text"].splitlines()[-1] for comment in forge.comments[PULL]]
    assert texts == ["another", "plan of dev-2", "plan of prod"]


def test_it_is_found_among_hundreds(forge: StubForge, client: Client, kind: str) -> None:
    for number in range(150):
        forge.comment(PULL, f"comment {number}", "jo")
    publish(client(kind), PULL, "dev", marked("dev", "one"))
    for number in range(150):
        forge.comment(PULL, f"comment {number}", "jo")

    assert publish(client(kind), PULL, "dev", marked("dev", "two")) is Published.UPDATED
    assert len(forge.comments[PULL]) == 301


def test_somebody_elses_comment_with_our_mark_is_not_ours(forge: StubForge, client: Client, kind: str) -> None:
    """Else they could have us put the plan into a comment whose text they may change afterwards."""
    forge.comment(PULL, marked("dev", "trust me, it is harmless"), "mallory")

    assert publish(client(kind), PULL, "dev", marked("dev", "the plan")) is Published.CREATED
    assert publish(client(kind), PULL, "dev", marked("dev", "the next plan")) is Published.UPDATED
    assert [comment["author"] for comment in forge.comments[PULL]] == ["mallory", ME]
    assert "trust me" in forge.comments[PULL][0]["text"]


@pytest.mark.parametrize("kind", ["github", "bitbucket"])
def test_a_token_that_is_no_users_knows_its_comment_by_being_a_bot(forge: StubForge, client: Client, kind: str) -> None:
    forge.me = ""
    forge.comment(PULL, marked("dev", "trust me"), "mallory")
    publish(client(kind), PULL, "dev", marked("dev", "one"))

    assert publish(client(kind), PULL, "dev", marked("dev", "two")) is Published.UPDATED
    assert len(forge.comments[PULL]) == 2


def test_a_mark_inside_a_sentence_is_none(forge: StubForge, client: Client) -> None:
    forge.comment(PULL, f"what is `{mark('dev')}`?", ME)

    assert publish(client("github"), PULL, "dev", marked("dev", "one")) is Published.CREATED


def test_line_ends_of_a_forge_are_no_change(forge: StubForge, client: Client) -> None:
    publish(client("gitlab"), PULL, "dev", marked("dev", "one\n\ntwo\n"))
    comment = forge.comments[PULL][0]
    comment["text"] = comment["text"].replace("\n", "\r\n").rstrip()

    assert publish(client("gitlab"), PULL, "dev", marked("dev", "one\n\ntwo\n")) is Published.UNCHANGED


def test_a_lost_answer_makes_no_second_comment(forge: StubForge, client: Client) -> None:
    forge.faults.append(Fault(reset=True, done=True, method="POST"))
    with pytest.raises(Undelivered):
        publish(client("gitea"), PULL, "dev", marked("dev", "one"))

    assert publish(client("gitea"), PULL, "dev", marked("dev", "one")) is Published.UNCHANGED
    assert len(forge.comments[PULL]) == 1


@pytest.mark.parametrize("overlay", ["dev", "a b", "x) <b>", "öko", "a\nb", "--"])
def test_nobody_sees_the_mark(overlay: str) -> None:
    assert MARKDOWN.render(marked(overlay, "# Plan")) == "<h1>Plan</h1>\n"
    assert mark(overlay).isascii()
    assert "\n" not in mark(overlay)
