"""Label and field selectors, as query parameters spell them (apimachinery pkg/labels and pkg/fields)."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gitops.sandbox.wire import Manifest, bad_request

Predicate = Callable[[Manifest], bool]

_SET = re.compile(r"\s*(?P<key>[^\s,!=()]+)\s+(?P<op>in|notin)\s*\((?P<values>[^)]*)\)\s*(,|$)")
_EQUAL = re.compile(r"\s*(?P<key>[^\s,!=()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s,()]*)\s*(,|$)")
_EXISTS = re.compile(r"\s*(?P<not>!?)\s*(?P<key>[^\s,!=()]+)\s*(,|$)")


def labels(text: str) -> Predicate:
    """Return whether an object's labels match a selector; raises 400 where it cannot be read."""
    terms: list[Callable[[Mapping[str, str]], bool]] = []
    rest = text
    while rest.strip():
        for pattern, term in ((_SET, _set_term), (_EQUAL, _equal_term), (_EXISTS, _exists_term)):
            found = pattern.match(rest)
            if found:
                terms.append(term(found))
                rest = rest[found.end() :]
                break
        else:
            raise bad_request(f"unable to parse requirement: found '{rest.strip()[:1]}', expected: identifier")
    if text.rstrip().endswith(","):
        raise bad_request("found '', expected: identifier after ','")
    return lambda manifest: all(term(manifest["metadata"].get("labels") or {}) for term in terms)


def _set_term(found: re.Match[str]) -> Callable[[Mapping[str, str]], bool]:
    key, values = found["key"], {value.strip() for value in found["values"].split(",")}
    if found["op"] == "in":
        return lambda own: own.get(key) in values
    return lambda own: own.get(key) not in values


def _equal_term(found: re.Match[str]) -> Callable[[Mapping[str, str]], bool]:
    key, value = found["key"], found["value"]
    if found["op"] == "!=":
        return lambda own: own.get(key) != value
    return lambda own: own.get(key) == value


def _exists_term(found: re.Match[str]) -> Callable[[Mapping[str, str]], bool]:
    key, absent = found["key"], bool(found["not"])
    return lambda own: (key in own) is not absent


_GENERAL = ("metadata.name", "metadata.namespace")
_OWN = {
    "pods": ("spec.nodeName", "status.phase", "spec.restartPolicy", "spec.serviceAccountName"),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "events": ("involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "reason", "type"),
    "shoots": ("spec.seedName", "status.seedName", "spec.cloudProfile.name", "status.technicalID"),
    "controllerinstallations": ("spec.registrationRef.name", "spec.seedRef.name"),
    "seeds": (),
}


def fields(text: str, plural: str) -> Predicate:
    """Return whether an object matches a field selector; raises 400 for a field that is not indexed."""
    terms = []
    for term in filter(None, text.split(",")):
        found = re.fullmatch(r"([^!=]+)(==|=|!=)(.*)", term)
        if not found:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        if found[1] not in _GENERAL + _OWN.get(plural, ()):
            raise bad_request(_unknown(found[1], plural))
        terms.append((found[1].split("."), found[2] != "!=", found[3]))
    return lambda manifest: all((_at(manifest, path) == value) is wanted for path, wanted, value in terms)


def _unknown(name: str, plural: str) -> str:
    if plural in _OWN:
        return f"field label not supported: {name}"
    return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _at(manifest: Any, path: list[str]) -> str:
    for step in path:
        manifest = manifest.get(step) if isinstance(manifest, dict) else None
    if isinstance(manifest, bool):
        return str(manifest).lower()
    return "" if manifest is None else str(manifest)
