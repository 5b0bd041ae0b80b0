"""Who asks."""

from __future__ import annotations

from gitops.errors import Absent, Forbidden, Rejected
from gitops.kube.cluster import Cluster
from gitops.manifest import get


def asker(garden: Cluster, otherwise: str) -> str:
    """The user that the garden takes us for (SelfSubjectReview, Kubernetes 1.28); it is asked and stores nothing.

    Args:
        garden: whom to ask.
        otherwise: who it is where the garden does not say.

    Raises:
        Unreachable: it does not answer.
    """
    question = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    try:
        review = garden.create(question)
    except (Absent, Forbidden, Rejected):
        return otherwise
    return str(get(review, "status", "userInfo", "username") or otherwise)
