"""What runs the pipeline: a CronJob for each overlay, and the Deployment of `gitops serve`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from gitops.deploy.naming import APP, cronjob_name, labels
from gitops.deploy.pod import GRACE, access, pod_spec, secret_file
from gitops.deploy.printed import Because, Part, Printed
from gitops.deploy.settings import Mode, Settings
from gitops.desired.compose import Desired
from gitops.manifest import RUNTIME, Manifest

PORT = 8080
"""Where `serve` listens; it needs no right for that."""
CRONJOB, SERVE = "cronjob", "serve"
"""Labels of what runs."""
_START_WITHIN = 600
_HANGS_AFTER = timedelta(minutes=10)


def cronjob(desired: Desired, settings: Settings) -> Printed:
    """Runs of one overlay by the clock."""
    overlay = desired.overlay.name
    reach, secrets = access(settings, runtime=writes_extensions([desired]))
    seconds = int(settings.deadline.total_seconds())
    arguments = ["reconcile", overlay, *reach, "--trigger", "schedule", "--ok-to-wait", "--deadline", f"{seconds}s"]
    job = {
        "backoffLimit": Because(0, "The next run is the retry: it looks first, and goes on where this one ended."),
        "activeDeadlineSeconds": Because(
            seconds + int(_HANGS_AFTER.total_seconds()), "For a process that hangs: a run ends itself by --deadline."
        ),
        "template": {
            "metadata": {"labels": labels(CRONJOB, overlay)},
            "spec": {"restartPolicy": "Never", **pod_spec(settings, arguments, secrets)},
        },
    }
    spec = {
        "schedule": settings.schedule,
        "timeZone": settings.time_zone,
        "concurrencyPolicy": Because("Forbid", "A second run would only wait for the first one's Lease."),
        "startingDeadlineSeconds": Because(
            _START_WITHIN,
            "A start that was missed for longer is left out. Without it a CronJob that missed a hundred never starts "
            "again.",
        ),
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": Because(3, "For their logs; `gitops history` knows the runs themselves."),
        "jobTemplate": {"metadata": {"labels": labels(CRONJOB, overlay)}, "spec": job},
    }
    why = (
        f"Runs `gitops reconcile {overlay}` by the clock. A run that waits, for approval, a window or a soak, is no "
        "failed Job; `gitops status` tells what it waits for."
    )
    metadata = {"name": cronjob_name(overlay), "namespace": settings.namespace, "labels": labels(CRONJOB, overlay)}
    return Printed(Part.RUN, {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}, why)


def deployment(overlays: Sequence[Desired], settings: Settings) -> Printed:
    """`gitops serve`, always there."""
    reach, secrets = access(settings, runtime=writes_extensions(overlays))
    secrets["webhook"] = settings.secrets.webhook
    names = [desired.overlay.name for desired in overlays]
    arguments = ["serve", *names, *reach, "--listen", f"0.0.0.0:{PORT}", "--grace-period", f"{GRACE - 5}s"]
    arguments += ["--log-format", "json", "--webhook-secret-file", secret_file("webhook", "secret")]
    if settings.secrets.dashboard_token:
        secrets["dashboard"] = settings.secrets.dashboard_token
        arguments += ["--dashboard-token-file", secret_file("dashboard", "token")]
    elif settings.secrets.dashboard_passwords:
        secrets["dashboard"] = settings.secrets.dashboard_passwords
        arguments += ["--dashboard-password-file", secret_file("dashboard", "passwords")]
    if settings.mode is Mode.SERVE:
        arguments += ["--schedule", settings.schedule, "--time-zone", settings.time_zone]
    pod = pod_spec(
        settings,
        arguments,
        secrets,
        ports=[{"name": "http", "containerPort": PORT}],
        startupProbe=Because(
            {**_probe("/readyz/repository"), "failureThreshold": 60},
            "Started is what has read the repository once. From then on neither its silence nor the garden's may keep "
            "webhooks and the dashboard from their senders and readers: alert on /metrics instead.",
        ),
        readinessProbe=_probe("/healthz"),
        livenessProbe={**_probe("/healthz"), "failureThreshold": 6},
    )
    spec = {
        "replicas": Because(
            settings.replicas, "Any number is safe: one run at a time holds an overlay's Lease, the others wait for it."
        ),
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": Because(
                {"maxUnavailable": 0, "maxSurge": 1},
                "The new pod is ready before the old one stops, so that no push is lost. Meanwhile the Lease keeps "
                "them from running the same overlay.",
            ),
        },
        "selector": {"matchLabels": labels(SERVE)},
        "template": {"metadata": {"labels": labels(SERVE)}, "spec": pod},
    }
    shown = "dashboard" if settings.dashboard else "no dashboard, as no Secret says who may look at it"
    why = f"Waits for pushes and shows the fleet: webhook, metrics, {shown}."
    return Printed(Part.RUN, {**_object("apps/v1", "Deployment", settings), "spec": spec}, why)


def service(settings: Settings) -> Printed:
    """The address of `serve` in the cluster."""
    spec = {"selector": labels(SERVE), "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}
    return Printed(Part.RUN, {**_object("v1", "Service", settings), "spec": spec}, "Leads to `gitops serve`.")


def disruption_budget(settings: Settings) -> Printed:
    """How many pods of `serve` a drain may take at once."""
    spec = {
        "maxUnavailable": Because(1, "minAvailable: 1 would keep a node with the only pod from ever being drained."),
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": labels(SERVE)},
    }
    why = "Drains take one pod of `gitops serve` after the other."
    return Printed(Part.RUN, {**_object("policy/v1", "PodDisruptionBudget", settings), "spec": spec}, why)


_HOOKS = (("/hooks", "Prefix"),)
_DASHBOARD = (
    ("/", "Exact"),
    ("/overlays", "Prefix"),
    ("/events", "Exact"),
    ("/assets", "Prefix"),
    ("/api", "Prefix"),
)


def ingress(settings: Settings) -> Printed:
    """How the world reaches `serve`."""
    backend = {"service": {"name": APP, "port": {"name": "http"}}}
    shown = [*_HOOKS, *(_DASHBOARD if settings.dashboard else ())]
    paths = [{"path": path, "pathType": kind, "backend": backend} for path, kind in shown]
    spec = {
        **({"ingressClassName": settings.ingress_class} if settings.ingress_class else {}),
        "tls": [{"hosts": list(settings.hosts), "secretName": settings.secrets.tls}],
        "rules": [{"host": host, "http": {"paths": paths}} for host in settings.hosts],
    }
    dashboard = "; the other paths are the dashboard, which asks who one is" if settings.dashboard else ""
    why = f"Forges deliver pushes to /hooks/<forge>{dashboard}. /metrics is for the cluster alone."
    return Printed(Part.RUN, {**_object("networking.k8s.io/v1", "Ingress", settings), "spec": spec}, why)


def service_monitor(settings: Settings) -> Printed:
    """What the Prometheus operator is to scrape."""
    spec = {
        "selector": {"matchLabels": labels(SERVE)},
        "endpoints": [{"port": "http", "path": "/metrics"}],
    }
    why = "For the Prometheus operator, which has to serve this kind; its Prometheus has to select these labels."
    return Printed(Part.RUN, {**_object("monitoring.coreos.com/v1", "ServiceMonitor", settings), "spec": spec}, why)


def writes_extensions(overlays: Sequence[Desired]) -> bool:
    """Whether any overlay writes to the garden's runtime cluster."""
    return any(ref.target == RUNTIME for desired in overlays for ref in desired.registrations)


def _object(api_version: str, kind: str, settings: Settings) -> Manifest:
    metadata = {"name": APP, "namespace": settings.namespace, "labels": labels(SERVE)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _probe(path: str) -> Manifest:
    return {"httpGet": {"path": path, "port": "http"}, "periodSeconds": 10, "timeoutSeconds": 5}
