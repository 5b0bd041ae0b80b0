"""matchExpressions that are valid and never say anything.

Source: nri-plugins pkg/resmgr/cache/container.go and pod.go (EvalKey), pkg/apis/resmgr/v1alpha1/expression.go
(ResolveRef). `pod/qosclass` is valid and never found: ResolveRef takes a string and is given a PodQOSClass.
"""

from __future__ import annotations

from gitops.nri.acceptance.expressions import expressions, split_keys
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.globs import BadPatternError, check_glob
from gitops.nri.acceptance.spec import Policy, text, texts

_OF_CONTAINERS = {"name", "namespace", "qosclass", "id"}
_OF_PODS = {"name", "namespace", "id", "uid"}
_MAPS = {"labels", "tags"}
_NEGATIVE = {"NotEqual", "NotIn", "NotExist", "MatchesNot", "MatchesNone"}
_GLOBBING = {"Matches", "MatchesNot", "MatchesAny", "MatchesNone"}
_RUNTIME_LABELS = "io.kubernetes."


def unresolvable_key(policy: Policy) -> Faults:
    """A key that passes the check, and that no container has."""
    for at, given in expressions(policy):
        keys = split_keys(text(given, "key"))
        if not any(_resolves(key) for key in keys):
            outcome = "always true" if text(given, "operator") in _NEGATIVE else "never true"
            message = f"the key {text(given, 'key')!r} is never found, so the expression is {outcome}"
            yield Fault((*at, "key"), message, _instead(keys[0]))


def container_label(policy: Policy) -> Faults:
    """Labels of containers are the runtime's own; what a manifest sets are labels of the pod."""
    for at, given in expressions(policy):
        for key in split_keys(text(given, "key")):
            label = key.removeprefix("labels/")
            if label != key and not label.startswith(_RUNTIME_LABELS):
                message = f"the key {key!r} looks at labels of the container, and only pods have such labels"
                yield Fault((*at, "key"), message, f"write pod/{key}")


def malformed_value(policy: Policy) -> Faults:
    """A malformed glob matches nothing, and the plugin does not say so."""
    for at, given in expressions(policy):
        for position, pattern in enumerate(texts(given, "values") if text(given, "operator") in _GLOBBING else ()):
            try:
                check_glob(pattern)
            except BadPatternError as error:
                hint = "close every [ and write \\\\ for a backslash"
                yield Fault((*at, "values", position), f"the glob never matches: {error}", hint)


def _resolves(key: str) -> bool:
    steps = [step for step in key.split("/") if step]
    if not steps or key.startswith("/"):
        return False
    if steps[0] == "pod":
        return len(steps) > 1 and (steps[1] in _OF_PODS or (steps[1] == "labels" and len(steps) > 2))
    return steps[0] in _OF_CONTAINERS or (steps[0] in _MAPS and len(steps) > 1)


def _instead(key: str) -> str:
    return {"uid": "write pod/uid", "pod/qosclass": "write qosclass"}.get(key, f"write {key.strip('/')} or another key")
