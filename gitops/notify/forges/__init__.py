"""One file per forge: its requests by its public documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitops.notify.forge import Forge
from gitops.notify.forges.bitbucket import Bitbucket
from gitops.notify.forges.bitbucket_server import BitbucketServer
from gitops.notify.forges.gitea import Gitea
from gitops.notify.forges.github import GitHub
from gitops.notify.forges.gitlab import GitLab

FORGES: Mapping[str, Callable[[str, str], Forge]] = {
    forge.name: forge for forge in (GitHub, GitLab, Gitea, Bitbucket, BitbucketServer)
}
"""By the name that `--forge` takes; made from the forge's address and the repository's path."""

__all__ = ["FORGES", "Bitbucket", "BitbucketServer", "GitHub", "GitLab", "Gitea"]
