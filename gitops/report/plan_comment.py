"""A plan as a comment for forges that show no HTML: its text in a block of code, where nothing is markup."""

from __future__ import annotations

import re

from gitops.plan.changes import Plan
from gitops.report.plan_markdown import plan_markdown
from gitops.report.plan_text import plan_text
from gitops.report.style import Style
from gitops.report.words import counted, printable


def plan_comment(plan: Plan, digest: str, *, limit: int, html: bool) -> str:
    """The plan as a comment.

    Args:
        plan: what a run would do.
        digest: the plan's own.
        limit: the most characters.
        html: whether the forge shows HTML, so that details can be folded.
    """
    return plan_markdown(plan, digest, limit) if html else fenced(plan_text(plan, digest, Style()), limit)


def refusal_comment(overlay: str, reason: str, limit: int) -> str:
    """Why there is no plan, in the words of the terminal."""
    head = "### No plan\n\n"
    return head + fenced(f"Overlay {overlay} cannot be rolled out as it is declared here:\n{reason}", limit - len(head))


def problems_comment(reason: str, limit: int) -> str:
    """Why a plan must not be carried out, to be put below it."""
    head = "\n### This plan would be refused\n\n"
    return head + fenced(reason, limit - len(head))


def fenced(text: str, limit: int) -> str:
    """A text in a block of code, at most so long; lines that have no room are counted.

    No line begins with a slash: GitLab (lib/gitlab/quick_actions/extractor.rb) and bots such as Prow would take one for
    a command of whoever owns the token. Neither of them understands a block whose fence is longer than usual.
    """
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    lines = [printable(f" {line}" if line.startswith("/") else line) for line in text.rstrip("\n").split("\n")]
    room = limit - 2 * len(fence) - len("\n\n\n") - len(_left_out(len(lines)))
    shown: list[str] = []
    for line in lines:
        if (room := room - len(line) - 1) < 0:
            break
        shown.append(line)
    left = len(lines) - len(shown)
    whole = "\n".join([fence, *shown, fence]) + "\n"
    return whole + (_left_out(left) if left else "")


def _left_out(lines: int) -> str:
    return f"\n{counted(lines, 'more line')} left out: a comment has no room for more.\n"
