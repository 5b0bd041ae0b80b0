"""The error codes that Gardener writes into `status.lastErrors` and conditions, and which of them a user must solve.

Source: the table in gardener docs/usage/shoot/shoot_status.md, column "User error", and
pkg/apis/core/v1beta1/types_common.go. It is a wider set than the codes for which gardenlet gives up by itself
(`HasNonRetryableErrorCode` in pkg/api/core/v1beta1/helper/errors.go): for those the operation is `Failed` anyway.
What is left are user errors that Gardener goes on retrying for up to 12 hours, and a rollout must not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

USER_ERRORS: Mapping[str, str] = {
    "ERR_INFRA_UNAUTHENTICATED": "the infrastructure does not accept the credentials",
    "ERR_INFRA_UNAUTHORIZED": "the credentials lack permissions on the infrastructure",
    "ERR_INFRA_QUOTA_EXCEEDED": "a quota of the infrastructure account is used up",
    "ERR_INFRA_DEPENDENCIES": "something else on the infrastructure stands in the way",
    "ERR_INFRA_RESOURCES_DEPLETED": "the infrastructure has none left of what was asked for",
    "ERR_CLEANUP_CLUSTER_RESOURCES": "objects inside the shoot are stuck in deletion",
    "ERR_CONFIGURATION_PROBLEM": "the Shoot's configuration is wrong",
    "ERR_RETRYABLE_CONFIGURATION_PROBLEM": "the configuration, of the Shoot or inside it, stands in the way",
    "ERR_PROBLEMATIC_WEBHOOK": "a webhook inside the shoot blocks Gardener",
}
"""Code to what it means, said to the user. Rate limits and retryable dependencies are nobody's to solve."""


def user_errors(codes: Iterable[object]) -> tuple[str, ...]:
    """Those of the codes that wait for a user, each once, in the order given."""
    return tuple(dict.fromkeys(code for code in codes if isinstance(code, str) and code in USER_ERRORS))
