"""The Dockerfile of an image that runs with a read-only root file system and without root."""

from __future__ import annotations

from gitops.deploy.pod import HOME, USER

BASE = "docker.io/library/python:3.13-slim-bookworm"
_TEMPLATE = """\
# Image of shoot-gitops. Build it in the folder that holds pyproject.toml:
#   gitops manifests --dockerfile | docker build --tag registry.example/shoot-gitops:0.1.0 --file - .
# Pin the base by its digest (--base {base_repository}@sha256:...) where builds must be repeatable.
ARG BASE={base}

# What builds a wheel stays behind in this stage.
FROM ${{BASE}} AS build
COPY pyproject.toml README.md /source/
COPY gitops /source/gitops
RUN python -m venv /opt/gitops && /opt/gitops/bin/pip install --no-cache-dir /source

FROM ${{BASE}}
# git reads repositories, ssh reaches them, and gpg and ssh-keygen check signatures for --require-signed.
# Their versions come with the base, and security updates with every build.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git gnupg openssh-client \\
 && rm -rf /var/lib/apt/lists/* \\
 && groupadd --gid {user} gitops \\
 && useradd --uid {user} --gid {user} --home-dir {home} --create-home --shell /usr/sbin/nologin gitops
# ssh refuses a user without a name, so there is one; Kubernetes wants its number.
COPY --from=build /opt/gitops /opt/gitops
# The root file system is read-only: no byte code is written, and all else goes below HOME and /tmp, which are mounts.
ENV PATH=/opt/gitops/bin:$PATH HOME={home} XDG_CACHE_HOME={home}/.cache PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER {user}:{user}
WORKDIR {home}
# What Ctrl-C sends: a run finishes what is under way and writes its record. A first process ignores SIGTERM.
STOPSIGNAL SIGINT
ENTRYPOINT ["gitops"]
"""


def dockerfile(base: str = BASE) -> str:
    """The text.

    Args:
        base: an image of Debian with Python 3.11 or newer; it may be pinned by digest.
    """
    repository = base.partition("@")[0].rpartition(":")[0] or base.partition("@")[0]
    return _TEMPLATE.format(base=base, base_repository=repository, user=USER, home=HOME)
