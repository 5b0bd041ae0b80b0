"""How the printed objects are called and labelled."""

from __future__ import annotations

import hashlib

APP = "shoot-gitops"
"""What the pipeline is called in a cluster."""
_CRONJOB_NAME = 52
"""A CronJob appends eleven characters for its Jobs, whose names are labels (kubernetes pkg/apis/batch/validation)."""


def labels(component: str, overlay: str = "") -> dict[str, str]:
    """Labels of an object, by Kubernetes' recommendation.

    Args:
        component: what part of the pipeline it is.
        overlay: whose it is; empty for what all share.
    """
    return {
        "app.kubernetes.io/name": APP,
        "app.kubernetes.io/component": component,
        **({"app.kubernetes.io/instance": overlay} if overlay else {}),
    }


def cronjob_name(overlay: str) -> str:
    """A name short enough for a CronJob, and unlike every other overlay's."""
    name = f"{APP}-{overlay}"
    if len(name) <= _CRONJOB_NAME:
        return name
    return f"{name[: _CRONJOB_NAME - 9].rstrip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
