"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from gitops.cli.git_options import GIT_OPTIONS, git_settings
from gitops.cli.world import Where
from gitops.desired.artifact import Artifact
from gitops.desired.compose import Desired
from gitops.desired.overlay_file import overlay_names
from gitops.errors import InvalidInput, Violation
from gitops.ownership.equality import seconds
from gitops.source.access import Access
from gitops.source.repository import Commit, open_artifact
from gitops.source.trust import Trust
from gitops.source.worktree import open_worktree

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """Which files a command reads."""

    repo: str
    revision: str
    worktree: bool
    access: Access = field(default_factory=Access)
    """How a remote repository is reached."""
    trust: Trust | None = None
    """Whose signature the commit must carry; None when nobody's."""

    @contextmanager
    def opened(self) -> Iterator[Artifact]:
        """The artifact, for as long as it is read.

        Raises:
            SourceError: there is no such repository or revision.
            Untrusted: the commit does not carry the signature that is required.
        """
        if self.worktree:
            yield open_worktree(self.repo)
        else:
            with self.commit() as artifact:
                yield artifact

    def commit(self) -> AbstractContextManager[Commit]:
        """The commit, for as long as it is read; never the working tree.

        Raises:
            SourceError, Untrusted: as for `opened`.
        """
        return open_artifact(self.repo, self.revision, cache=cache_folder(), access=self.access, trust=self.trust)


def cache_folder() -> Path:
    """Where mirrors of remote repositories are kept, by the XDG base directory specification."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "shoot-gitops" / "mirrors"


def chosen_overlay(artifact: Artifact, name: str | None) -> str:
    """The overlay to work on; where there is only one it need not be named.

    Raises:
        InvalidInput: the repository has none.
        UsageError: it has several and none was named.
    """
    if name is not None:
        return name
    names = overlay_names(artifact)
    if not names:
        message = f"{artifact.repository} has no overlays/<name>/overlay.yaml at {artifact.revision[:12]}"
        raise InvalidInput([Violation("overlays", 0, "", "no-overlay", message)])
    if len(names) > 1:
        raise click.UsageError(f"which overlay? There are {', '.join(names)}.")
    return names[0]


def chosen_target(desired: Desired, shoot: str) -> str:
    """A shoot by `<namespace>/<name>`, or by its name where that is enough."""
    matching = [target for target in desired.shoots if shoot in {target, target.partition("/")[2]}]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(matching or desired.shoots)
    raise click.UsageError(f"{'more than one' if matching else 'no'} shoot {shoot!r} in the overlay: {known}")


def overlay_and_shoot(artifact: Artifact, arguments: Sequence[str]) -> tuple[str, str | None]:
    """What `[OVERLAY] [SHOOT]` stand for: one word alone is an overlay where there is one of that name.

    Raises:
        InvalidInput: the repository has no overlay.
        UsageError: too many words, or an overlay must be named and none is.
    """
    if len(arguments) > 2:
        raise click.UsageError(f"unexpected {arguments[2]!r}: name an overlay and a shoot at most")
    if len(arguments) == 2:
        return arguments[0], arguments[1]
    if arguments and arguments[0] not in overlay_names(artifact):
        return chosen_overlay(artifact, None), arguments[0]
    return chosen_overlay(artifact, arguments[0] if arguments else None), None


class Duration(click.ParamType[timedelta]):
    """A Go duration such as `90s`, `10m` or `1h30m`."""

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read it, or fail as a usage error."""
        if isinstance(value, timedelta):
            return value
        number = seconds(value)
        if number is None or number < 0 or (number == 0 and not self._zero):
            self.fail(f"{value!r} is not a duration such as 90s, 10m or 1h30m", param, ctx)
        return timedelta(seconds=float(number))


def repository_options(function: F) -> F:
    """`--repo`, `--revision` and all about git itself, handed over as one `source`."""

    @functools.wraps(function)
    def with_source(
        *, repo: str, revision: str, access: Access, trust: Trust | None, worktree: bool = False, **others: Any
    ) -> Any:
        if worktree and trust is not None:
            raise click.UsageError("nobody signs a working tree: leave out --worktree, or --require-signed")
        return function(source=Source(repo, revision, worktree, access, trust), **others)

    where = "The repository that declares everything."
    which = "The commit to read."
    wait = "How long a fetch may take."
    options = (
        *reversed(GIT_OPTIONS),
        click.option("--git-timeout", type=Duration(), default=timedelta(minutes=5), show_default="5m", help=wait),
        click.option("--revision", default="HEAD", show_default=True, metavar="REF", help=which),
        click.option("--repo", default=".", show_default=True, metavar="PATH|URL", help=where),
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", git_settings(with_source)))


def source_options(function: F) -> F:
    """`--repo`, `--revision` and `--worktree`, handed over as one `source`."""
    worktree = click.option("--worktree", is_flag=True, help="Read the working tree instead of a commit.")
    return worktree(repository_options(function))


def kubeconfig_options(function: F) -> F:
    """`--kubeconfig` and `--runtime-kubeconfig`, handed over as one `where`."""

    @functools.wraps(function)
    def with_where(
        *,
        kubeconfig: Path | None,
        runtime_kubeconfig: Path | None,
        sandbox: bool = False,
        time_scale: float = 1.0,
        **others: Any,
    ) -> Any:
        return function(where=Where(kubeconfig, sandbox, time_scale, runtime_kubeconfig), **others)

    what = "The garden's kubeconfig; KUBECONFIG and in-cluster credentials otherwise."
    runtime = "Of the garden's runtime cluster, where operator Extensions are declared."
    path = click.Path(dir_okay=False, path_type=Path)
    options = (
        click.option("--runtime-kubeconfig", type=path, metavar="FILE", help=runtime),
        click.option("--kubeconfig", type=path, metavar="FILE", help=what),
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", with_where))


def world_options(function: F) -> F:
    """`--kubeconfig`, `--sandbox` and `--time-scale`, handed over as one `where`."""
    fresh = "Work on a fresh embedded landscape that holds the overlay's Shoots."
    speed = "With --sandbox: seconds of the landscape that pass in one second."
    options = (
        click.option("--time-scale", type=click.FloatRange(min=1), default=240, show_default=True, help=speed),
        click.option("--sandbox", is_flag=True, help=fresh),
    )
    return functools.reduce(lambda command, option: option(command), options, kubeconfig_options(function))


def output_option(*formats: str) -> Callable[[F], F]:
    """`-o`, with the first format as its default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How results are printed.",
    )


lock_timeout_option = click.option(
    "--lock-timeout",
    type=Duration(zero=True),
    default=timedelta(0),
    show_default="0s",
    help="Wait so long for another run on OVERLAY; one that shows no sign of life is waited out in any case.",
)

overlay_argument = click.argument("overlay", required=False)
