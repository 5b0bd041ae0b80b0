"""matchExpressions that the agent refuses before the policy sees them.

Source: nri-plugins pkg/apis/resmgr/v1alpha1/expression.go (Validate, splitKeys). A key may join several keys:
`:k1:k2`, or `:<key separator><value separator><keys>`; it is only a joint key from four bytes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.spec import Policy, entries, text, texts
from gitops.nri.schema.fields import Location

_ARITY = {
    **dict.fromkeys(("Equals", "NotEqual", "Matches", "MatchesNot"), 1),
    **dict.fromkeys(("Exists", "NotExist", "AlwaysTrue"), 0),
    **dict.fromkeys(("In", "NotIn", "MatchesAny", "MatchesNone"), None),
}
"""How many values an operator takes; None for any number."""

_PLAIN = {"id", "uid", "name", "namespace", "qosclass"}
_MAPS = {"labels", "tags"}
_KEYS = "name, namespace, qosclass, id, labels/KEY, tags/KEY, or pod/ and one of name, namespace, qosclass, labels/KEY"


def expressions(policy: Policy) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    """Every expression of a policy and where it stands."""
    for position, given in entries(policy.spec.get("preserve"), "matchExpressions"):
        yield ("spec", "preserve", "matchExpressions", position), given
    for known in policy.types:
        for position, given in entries(known.given, "matchExpressions"):
            yield (*known.at, "matchExpressions", position), given


def unknown_operator(policy: Policy) -> Faults:
    """The documentation writes `NotExists`; the plugin knows `NotExist`."""
    for at, given in expressions(policy):
        operator = text(given, "operator")
        if operator not in _ARITY:
            yield Fault((*at, "operator"), f"there is no operator {operator!r}", f"use one of {', '.join(_ARITY)}")


def wrong_number_of_values(policy: Policy) -> Faults:
    """Some operators take exactly one value, some none."""
    for at, given in expressions(policy):
        operator, count = text(given, "operator"), len(texts(given, "values"))
        wanted = _ARITY.get(operator)
        if wanted is not None and count != wanted:
            message = f"{operator} takes {'exactly one value' if wanted else 'no values'} and has {count}"
            yield Fault((*at, "values"), message, "use In for several values" if wanted else "leave out values")


def unknown_key(policy: Policy) -> Faults:
    """A key that names nothing a container has."""
    for at, given in expressions(policy):
        for part, problem in _key_problems(text(given, "key")):
            if problem == "unknown":
                yield Fault((*at, "key"), f"there is no key {part!r}", f"use {_KEYS}")


def trailing_key(policy: Policy) -> Faults:
    """`name/x`: a plain value has no parts."""
    for at, given in expressions(policy):
        for part, problem in _key_problems(text(given, "key")):
            if problem == "trailing":
                yield Fault((*at, "key"), f"{part!r} goes on after a key that has no parts", f"use {_KEYS}")


def missing_key(policy: Policy) -> Faults:
    """`pod`, `labels` and `tags` need to say which."""
    for at, given in expressions(policy):
        for part, problem in _key_problems(text(given, "key")):
            if problem == "missing":
                yield Fault((*at, "key"), f"{part!r} does not say which", f"write {part.rstrip('/')}/KEY")


def split_keys(key: str) -> list[str]:
    """The keys that a joint key joins; a plain key alone."""
    data = key.encode(errors="surrogatepass")
    if len(data) < 4 or not data.startswith(b":"):
        return [key]
    rest = data[1:]
    separator = b":"
    if _separates(rest[0]) and _separates(rest[1]):
        separator, rest = rest[:1], rest[2:]
    return [part.decode(errors="replace") for part in rest.split(separator)]


def _separates(byte: int) -> bool:
    char = chr(byte)
    return not (char.isascii() and char.isalnum()) and char not in "/."


def _key_problems(key: str) -> Iterator[tuple[str, str]]:
    for part in split_keys(key):
        problem = _problem(part.lstrip("/"))
        if problem:
            yield part, problem


def _problem(key: str) -> str:
    first, _, rest = key.partition("/")
    while first == "pod" and rest:
        first, _, rest = rest.partition("/")
    if first == "pod" or first in _MAPS:
        return "" if rest else "missing"
    if first in _PLAIN:
        return "trailing" if rest else ""
    return "unknown"
