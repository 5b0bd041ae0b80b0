"""The post-receive hook of a plain git server, as text; and what git tells it.

githooks(5): it runs in the repository that was pushed to, gets `<old> <new> <ref>` lines on standard input, and the
push waits until every process that holds its output has ended.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitops.trigger.push import RefChange, ref_change

MARK = "# Written by `gitops hook install`."
"""A hook with this line is ours to write again."""
CHAINED = "post-receive.before-gitops"
"""What a hook is called that was there before, and still runs first."""
LOG = "shoot-gitops.log"
"""In the repository's git folder."""
_TEXT = """\
#!/bin/sh
{mark} Run that again to change it.
# After a push it starts a run. It neither holds up the push nor fails it: what goes wrong is in {log} of this
# repository. A hook that was here before is beside it, as {chained}, and runs first.
updates=$(cat)
status=0
before=$(dirname -- "$0")/{chained}
if [ -x "$before" ]; then
  printf '%s\\n' "$updates" | "$before" "$@" || status=$?
fi
if repository=$(git rev-parse --absolute-git-dir) && [ -n "$updates" ]; then
  log=$repository/{log}
  if [ -f "$log" ] && [ "$(wc -c <"$log")" -gt 1048576 ]; then mv -f -- "$log" "$log.1"; fi
  ( : >>"$log" ) 2>/dev/null || log=/dev/null
  (
    trap '' HUP
    # shellcheck disable=SC2046 # each word is a variable, which would lead git to this repository
    unset $(git rev-parse --local-env-vars)
    printf '%s\\n' "$updates" | {command} --repo "$repository"
  ) </dev/null >>"$log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
fi
exit "$status"
"""


@dataclass(frozen=True)
class Update:
    """One line that the hook gets."""

    old: str
    new: str
    ref: str
    """In full, such as `refs/heads/main`."""

    @property
    def change(self) -> RefChange | None:
        """None for what is neither branch nor tag."""
        return ref_change(self.ref, self.old, self.new)


def hook_text(command: Sequence[str]) -> str:
    """The hook, which hands on its lines in the background.

    Args:
        command: what reads the lines; gets `--repo` and the repository's git folder besides.
    """
    return _TEXT.format(mark=MARK, log=LOG, chained=CHAINED, command=shlex.join(command))


def read_updates(text: str) -> Iterator[Update]:
    """What the hook was told; lines of another form are left out, as git writes none."""
    for line in text.splitlines():
        parts = line.split(" ", 2)
        if len(parts) == 3:
            yield Update(*parts)
