"""Label selectors: metav1.LabelSelector as overlays write it, and the string form kustomize targets use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Operator(Enum):
    """How a requirement compares; the words are metav1's."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


_TAKES_VALUES = {Operator.IN, Operator.NOT_IN}


@dataclass(frozen=True)
class Requirement:
    """One condition on one label."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()
    """At least one for In and NotIn, none for the others."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels meet it; an absent label meets NotIn, as in Kubernetes."""
        match self.operator:
            case Operator.IN:
                return self.key in labels and labels[self.key] in self.values
            case Operator.NOT_IN:
                return labels.get(self.key) not in self.values
            case Operator.EXISTS:
                return self.key in labels
            case Operator.DOES_NOT_EXIST:
                return self.key not in labels


@dataclass(frozen=True)
class Selector:
    """All requirements must be met; without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def selects(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    """Whether a selector that may be absent, and then means everything, selects these labels."""
    return selector is None or selector.matches(labels)


# k8s.io/apimachinery/pkg/util/validation: IsQualifiedName and IsValidLabelValue
_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_KEY = re.compile(rf"(?:(?=.{{1,253}}/){_LABEL}(?:\.{_LABEL})*/)?{_NAME}")
_VALUE = re.compile(rf"(?:{_NAME})?")


def label_selector(raw: Mapping[str, Any]) -> Selector:
    """A metav1.LabelSelector whose shape the overlay's schema has already checked.

    Raises:
        ValueError: a key, value or combination that the API server would refuse; the message says which.
    """
    equal = [_requirement(key, Operator.IN, [value]) for key, value in sorted(raw.get("matchLabels", {}).items())]
    expressions = [
        _requirement(item["key"], Operator(item["operator"]), item.get("values") or [])
        for item in raw.get("matchExpressions", [])
    ]
    return Selector((*equal, *expressions))


def _requirement(key: str, operator: Operator, values: list[str]) -> Requirement:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is not a label key")
    if operator in _TAKES_VALUES and not values:
        raise ValueError(f"{operator.value} on {key!r} needs at least one value")
    if operator not in _TAKES_VALUES and values:
        raise ValueError(f"{operator.value} on {key!r} takes no values")
    for value in values:
        if not _VALUE.fullmatch(value) or len(value) > 63:
            raise ValueError(f"{value!r} is not a label value")
    return Requirement(key, operator, tuple(values))


_TERM = re.compile(
    r"""\s*(?:
        !\s*(?P<absent>[^\s!=,()]+)
      | (?P<set>[^\s!=,()]+)\s+(?P<in>in|notin)\s*\(\s*(?P<values>[^()]*?)\s*\)
      | (?P<key>[^\s!=,()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s!=,()]*)
      | (?P<exists>[^\s!=,()]+)
    )\s*(?:,|$)""",
    re.VERBOSE,
)


def parse_selector(text: str) -> Selector:
    """The string form: `a=b,c!=d,e in (f,g),h notin (i),j,!k` (k8s.io/apimachinery labels.Parse).

    Raises:
        ValueError: the text is no selector; the message says where it stops being one.
    """
    requirements: list[Requirement] = []
    position = 0
    while position < len(text.rstrip()):
        term = _TERM.match(text, position)
        if term is None:
            raise ValueError(f"no label selector at {text[position:].strip()!r}")
        requirements.append(_term_requirement(term))
        position = term.end()
    if text.rstrip().endswith(","):
        raise ValueError("a label selector cannot end with a comma")
    return Selector(tuple(requirements))


def _term_requirement(term: re.Match[str]) -> Requirement:
    if absent := term["absent"]:
        return _requirement(absent, Operator.DOES_NOT_EXIST, [])
    if exists := term["exists"]:
        return _requirement(exists, Operator.EXISTS, [])
    if key := term["set"]:
        operator = Operator.IN if term["in"] == "in" else Operator.NOT_IN
        return _requirement(key, operator, [value.strip() for value in term["values"].split(",")])
    operator = Operator.NOT_IN if term["op"] == "!=" else Operator.IN
    return _requirement(term["key"], operator, [term["value"]])
