"""What whoever runs the pipeline in a cluster may choose, and what is wrong with a choice.

The functions return what they were given, or raise ValueError with a sentence for the command line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from gitops.desired.cron import read_cron
from gitops.gardener.image_vector.reference import parse_reference

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_CRON_FIELD = re.compile(r"[0-9A-Za-z*/,-]+")
_SUNDAY_AS_SEVEN = re.compile(r"(^|[,-])7($|[,/-])")
_SCP = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)(?P<path>\S+)")
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
API_SERVER_PORTS = (443, 6443)
"""Where API servers listen: behind Gardener's ingress or a load balancer, and by Kubernetes' own default."""


class Mode(Enum):
    """What runs the pipeline."""

    CRONJOB = "cronjob"
    """One run at each time of a schedule."""
    SERVE = "serve"
    """`gitops serve`, always there: webhook, schedule, dashboard, metrics."""
    BOTH = "both"
    """`serve` for pushes, and the CronJob for the schedule, so that either goes on when the other is ill."""


@dataclass(frozen=True)
class Secrets:
    """Names of Secrets where the pipeline runs; what is in them is never seen here."""

    garden: str = "shoot-gitops-garden"
    """Key `kubeconfig`: the garden. Empty: the pipeline runs in the garden itself and uses its pod's own account."""
    runtime: str = "shoot-gitops-runtime"
    """Key `kubeconfig`: the garden's runtime cluster; used only where an overlay writes operator Extensions."""
    git: str = ""
    """`ssh-privatekey` and `known_hosts`, or `.git-credentials`; empty where everybody may read the repository."""
    webhook: str = "shoot-gitops-webhook"
    """Key `secret`: what forges sign their deliveries with."""
    forge: str = ""
    """Key `token`: with which commit statuses are set; empty sets none."""
    dashboard_token: str = ""
    """Key `token`: opens the dashboard of `gitops serve`."""
    dashboard_passwords: str = ""
    """Key `passwords`: names and passwords that open the dashboard; without it and the token there is none."""
    signers: str = ""
    """Key `allowed_signers`: by whom commits must be signed; empty asks for no signature."""
    pull: str = ""
    """Of type kubernetes.io/dockerconfigjson: opens the image's registry; empty where everybody may pull."""
    tls: str = "shoot-gitops-tls"
    """Of type kubernetes.io/tls: the certificate of the Ingress."""


@dataclass(frozen=True)
class Forge:
    """Which repository on which forge is told of runs; what is empty, the repository's URL says."""

    kind: str = ""
    """What runs there, such as `gitlab`."""
    address: str = ""
    repository: str = ""
    """Its path there."""


@dataclass(frozen=True)
class Settings:
    """All choices, each of them sound."""

    image: str
    url: str
    """Where the pods read the repository."""
    namespace: str = "shoot-gitops"
    """Where it runs."""
    mode: Mode = Mode.CRONJOB
    schedule: str = "*/30 * * * *"
    time_zone: str = "Etc/UTC"
    deadline: timedelta = timedelta(hours=2)
    """The longest that a run of the CronJob may take."""
    secrets: Secrets = field(default_factory=Secrets)
    forge: Forge = field(default_factory=Forge)
    hosts: tuple[str, ...] = ()
    """Host names under which the world reaches `serve`; none makes no Ingress."""
    ingress_class: str = ""
    """Which ingress controller serves them; empty takes the cluster's default."""
    replicas: int = 1
    """Of `serve`."""
    service_monitor: bool = False
    """Whether the Prometheus operator is to scrape `serve`; its ServiceMonitor kind must be served then."""
    create_namespace: bool = False
    """Whether the namespace is printed too."""

    @property
    def in_cluster(self) -> bool:
        """Whether the garden is the cluster that the pods run in."""
        return not self.secrets.garden

    @property
    def dashboard(self) -> bool:
        """Whether `serve` shows one: others than its machine reach it, so it has to know who may look."""
        return bool(self.secrets.dashboard_token or self.secrets.dashboard_passwords)


def image(text: str) -> str:
    """A whole image reference with a version."""
    if parse_reference(text).repository is None:
        raise ValueError(f"{text!r} names no repository: write registry/image:tag")
    return text


def label(text: str) -> str:
    """A name for a namespace, a Service or an overlay's objects (RFC 1123 label)."""
    if not _LABEL.fullmatch(text):
        raise ValueError(
            f"{text!r} cannot name an object: use 1 to 63 lower-case letters, digits and dashes, a letter or digit at "
            "both ends"
        )
    return text


def subdomain(text: str) -> str:
    """A name for a Secret or a host (RFC 1123 subdomain)."""
    if len(text) > 253 or not all(map(_LABEL.fullmatch, text.split("."))):
        raise ValueError(f"{text!r} is no name such as my-secret or gitops.example.com: lower-case labels between dots")
    return text


def schedule(text: str) -> str:
    """Five fields of a cron expression that the CronJob controller and `gitops serve` both read alike.

    Kubernetes reads them by robfig/cron's standard parser, which knows neither `L`, `#`, nor 7 for Sunday, and
    refuses a time zone inside (kubernetes pkg/apis/batch/validation).
    """
    fields = text.split()
    if len(fields) != 5 or not all(map(_CRON_FIELD.fullmatch, fields)):
        raise ValueError(f"{text!r} is no cron expression of five fields such as '*/30 * * * *'")
    day, weekday = fields[2].upper(), fields[4].upper()
    if "L" in day or re.search(r"\dL|L\d|^L$", weekday):
        raise ValueError(f"{text!r}: Kubernetes does not know L in cron expressions")
    if _SUNDAY_AS_SEVEN.search(weekday):
        raise ValueError(f"{text!r}: Kubernetes counts weekdays from 0 to 6, and Sunday is 0")
    read_cron(text, ZoneInfo("UTC"))
    return text


def time_zone(text: str) -> str:
    """A zone of the IANA database; Kubernetes refuses `Local`."""
    if text not in available_timezones() or text == "localtime":
        raise ValueError(f"{text!r} is no time zone of the IANA database, such as Europe/Berlin")
    return text


def url(text: str) -> str:
    """Where git reads a repository from afar, without a secret in it."""
    if _SCP.fullmatch(text):
        return text
    try:
        parts = urlsplit(text)
        sound = parts.scheme in _PORTS and parts.hostname and parts.port != 0 and not re.search(r"\s", text)
    except ValueError:
        sound = False
    if not sound:
        raise ValueError(f"{text!r} is no URL that a pod could read: write https://…, ssh://… or git@host:path")
    if parts.password is not None or (parts.username and parts.scheme != "ssh"):
        raise ValueError(
            "the URL holds a credential, which everybody who reads the manifests would see: put it in a Secret and "
            "name it with --git-secret"
        )
    return text


def port_of(text: str) -> int:
    """The port that a sound URL leads to."""
    if _SCP.fullmatch(text):
        return _PORTS["ssh"]
    parts = urlsplit(text)
    return parts.port or _PORTS[parts.scheme]
