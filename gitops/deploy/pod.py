"""The pod that the pipeline runs in: nothing but the program, its Secrets, and two folders that it may write to.

It passes Pod Security's level `restricted` (kubernetes.io/docs/concepts/security/pod-security-standards).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from gitops.deploy.naming import APP
from gitops.deploy.printed import Because
from gitops.deploy.settings import Forge, Settings
from gitops.manifest import Manifest

USER = 65532
"""As the Dockerfile has it; a number, so that Kubernetes can tell that it is not root."""
HOME = "/home/gitops"
"""Where mirrors of repositories are kept, and gpg and ssh look for their files; the Dockerfile says the same."""
_SECRETS = "/etc/shoot-gitops"
_MODE = "0440, for the group above; ssh takes a key that a group may read as long as somebody else owns it."
GRACE = 30
"""Seconds from being asked to stop until being killed; `gitops serve` gives itself five less."""


def pod_spec(settings: Settings, arguments: list[str], secrets: dict[str, str], **container: Any) -> Manifest:
    """The spec of a pod that runs one command.

    Args:
        settings: image and the like.
        arguments: of `gitops`.
        secrets: folders below which a Secret is mounted, by `secret_file`'s folder: the Secret's name.
        container: further fields of its one container.
    """
    volumes: list[Manifest] = [
        {"name": "home", "emptyDir": {"sizeLimit": Because("2Gi", "Mirrors of repositories: made anew by each pod.")}},
        {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
    ]
    mounts: list[Manifest] = [{"name": "home", "mountPath": HOME}, {"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108 - in the pod
    for folder, secret in sorted(secrets.items()):
        volumes.append({"name": folder, "secret": {"secretName": secret, "defaultMode": Because(0o440, _MODE)}})
        mounts.append({"name": folder, "mountPath": f"{_SECRETS}/{folder}", "readOnly": True})
    return {
        "serviceAccountName": APP,
        "automountServiceAccountToken": (
            Because(value=True, why="The garden is this cluster: the pod acts by its own account.")
            if settings.in_cluster
            else Because(value=False, why="Nothing is asked of the cluster that this runs in.")
        ),
        **({"imagePullSecrets": [{"name": settings.secrets.pull}]} if settings.secrets.pull else {}),
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": Because(USER, "Lets the user read the Secrets below, and write to the empty folders."),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": Because(
            GRACE, "A run that is asked to stop finishes what is under way and writes its record first."
        ),
        "containers": [
            {
                "name": "gitops",
                "image": settings.image,
                "command": ["gitops"],
                "args": arguments,
                "env": [{"name": "HOME", "value": HOME}, {"name": "XDG_CACHE_HOME", "value": f"{HOME}/.cache"}],
                **container,
                "resources": {
                    "requests": {"cpu": "100m", "memory": "256Mi"},
                    "limits": Because(
                        {"memory": "1Gi"},
                        "Thousands of Shoots fit. There is no limit of CPU, which would only make a run wait.",
                    ),
                },
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": mounts,
            }
        ],
        "volumes": volumes,
    }


def access(settings: Settings, *, runtime: bool) -> tuple[list[str], dict[str, str]]:
    """Arguments by which a command finds repository and gardens, and the Secrets they lead to, by folder.

    Args:
        settings: where they are.
        runtime: whether the garden's runtime cluster is needed.
    """
    arguments, secrets = ["--repo", settings.url], {}
    if settings.secrets.git:
        secrets["git"] = settings.secrets.git
        if _by_ssh(settings.url):
            arguments += ["--ssh-key", secret_file("git", "ssh-privatekey")]
            arguments += ["--ssh-known-hosts", secret_file("git", "known_hosts")]
        else:
            arguments += ["--git-credentials", secret_file("git", ".git-credentials")]
    if settings.secrets.signers:
        secrets["signers"] = settings.secrets.signers
        arguments += ["--require-signed", "--allowed-signers", secret_file("signers", "allowed_signers")]
    if settings.secrets.forge:
        secrets["forge"] = settings.secrets.forge
        arguments += ["--forge-token-file", secret_file("forge", "token"), *_forge(settings.forge)]
    if not settings.in_cluster:
        secrets["garden"] = settings.secrets.garden
        arguments += ["--kubeconfig", secret_file("garden", "kubeconfig")]
    if runtime:
        secrets["runtime"] = settings.secrets.runtime
        arguments += ["--runtime-kubeconfig", secret_file("runtime", "kubeconfig")]
    return arguments, secrets


def _forge(forge: Forge) -> list[str]:
    said = {"--forge": forge.kind, "--forge-url": forge.address, "--forge-repository": forge.repository}
    return [part for option, value in said.items() if value for part in (option, value)]


def secret_file(folder: str, key: str) -> str:
    """Where a pod finds a key of a Secret."""
    return f"{_SECRETS}/{folder}/{key}"


def _by_ssh(url: str) -> bool:
    return "://" not in url or urlsplit(url).scheme == "ssh"
