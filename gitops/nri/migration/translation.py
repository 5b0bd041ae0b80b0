"""Translate one old configuration into a policy, and say what changes.

Keys of the old program were read in any case; those of the CRDs are not. Which keys there are now is known from the
tables of fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.migration.old import OldConfig, as_map, settings
from gitops.nri.schema.fields import Field, fields_of

_KINDS = {"balloons": "BalloonsPolicy", "topology-aware": "TopologyAwarePolicy"}
_PRIORITIES = ("high", "normal", "low", "none")
_CPU_LIST = re.compile(r"\d+(-\d+)?([,]\d+(-\d+)?)*")
_COMPUTED = {"policy", "cpu", "logger", "instrumentation"}


@dataclass
class Translation:
    """A policy, what had no counterpart, and what means something else now."""

    policy: Manifest | None
    """None where the active policy has no counterpart."""
    lost: list[str] = field(default_factory=list)
    """Old settings that have no counterpart, each with the reason."""
    changed: list[str] = field(default_factory=list)
    """What is translated and means something else."""


def translate(old: OldConfig) -> Translation:
    """The policy that says what the old configuration said, as far as it can be said."""
    policy = dict(settings(old.modules, "policy"))
    active = str(_pop(policy, "Active") or "")
    kind = _KINDS.get(active)
    if kind is None:
        reason = f"policy.Active: {active or 'nothing'}: there is no such policy any more"
        return Translation(None, [reason])
    done = Translation(None)
    spec: dict[str, Any] = {}
    for constraint in ("availableResources", "reservedResources"):
        _constraint(_pop(policy, constraint), constraint, spec, done)
    section = _pop(policy, active)
    _copy(as_map(section), fields_of(kind), f"policy.{active}", spec, done)
    done.lost += [f"policy.{key}: settings of another policy" for key in policy]
    if kind == "BalloonsPolicy":
        _about_default(spec, done)
        _cpu_classes(old, spec, done)
    else:
        done.lost += [f"cpu.{key}: only the balloons policy read it" for key, _ in settings(old.modules, "cpu")]
    _others(old, kind, spec, done)
    metadata = {"name": old.name, "namespace": old.namespace}
    done.policy = {"apiVersion": "config.nri/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    return done


def _constraint(old: Any, name: str, spec: dict[str, Any], done: Translation) -> None:
    constraints = dict(as_map(old))
    cpu = _pop(constraints, "CPU")
    done.lost += [f"policy.{name}.{key}: only cpu counts" for key in constraints]
    text = "" if cpu is None else str(cpu)
    if _CPU_LIST.fullmatch(text) and not text.isdigit():
        text = f"cpuset:{text}"
    if text.startswith("/"):
        done.lost.append(f"policy.{name}.CPU: {text}: the CPUs of a cgroup cannot be named any more")
        text = ""
    if text and name == "availableResources" and not text.startswith("cpuset:"):
        done.lost.append(f"policy.{name}.CPU: {text}: a number does not say which CPUs; list them as cpuset:0-3")
        text = ""
    if text:
        spec[name] = {"cpu": text}
    elif name == "reservedResources":
        spec[name] = {}
        done.changed.append("nothing is reserved: reservedResources is required and may be empty")


def _copy(old: Mapping[str, Any], holder: Field, path: str, new: dict[str, Any], done: Translation) -> None:
    """Copy every key that there is a field for, in the field's spelling."""
    spelling = {key.lower(): key for key in holder.children}
    for key, value in old.items():
        name = spelling.get(str(key).lower())
        if name is None:
            done.lost.append(f"{path}.{key}: there is no such setting")
        elif value is not None:
            new[name] = _value(value, holder.children[name], f"{path}.{key}", done)


def _value(old: Any, target: Field, path: str, done: Translation) -> Any:
    if isinstance(old, dict) and target.type == "object":
        new: dict[str, Any] = {}
        _copy(old, target, path, new, done)
        return new
    if isinstance(old, list) and target.type in {"list", "set"}:
        return [
            _value(element, target.children["[]"], f"{path}.{position}", done) for position, element in enumerate(old)
        ]
    if target.allowed == _PRIORITIES and isinstance(old, int) and old in range(len(_PRIORITIES)):
        return _PRIORITIES[old]
    if target.type == "string" and isinstance(old, int) and not isinstance(old, bool):
        return str(old)
    return old


def _about_default(spec: Mapping[str, Any], done: Translation) -> None:
    types = spec.get("balloonTypes")
    named = [one for one in types if get(one, "name") == "default"] if isinstance(types, list) else []
    if not any(get(one, key) for one in named for key in ("minCPUs", "maxCPUs")):
        done.changed.append(
            "the balloon type default has CPUs of its own now; without minCPUs and maxCPUs it ran on the reserved CPUs"
        )


def _cpu_classes(old: OldConfig, spec: dict[str, Any], done: Translation) -> None:
    classes: list[dict[str, Any]] = []
    for section, named in settings(old.modules, "cpu"):
        if section.lower() != "classes" or not isinstance(named, dict):
            done.lost.append(f"cpu.{section}: there is no such setting")
            continue
        for name, given in named.items():
            classes.append({"name": str(name), **_cpu_class(f"cpu.{section}.{name}", as_map(given), done)})
    if classes:
        spec["cpuClasses"] = classes


def _cpu_class(path: str, given: Mapping[str, Any], done: Translation) -> dict[str, Any]:
    """Frequencies were numbers of kHz; files that say 3600 probably meant MHz and were taken by their word."""
    copied: dict[str, Any] = {}
    _copy(given, fields_of("BalloonsPolicy").children["cpuClasses"].children["[]"], path, copied, done)
    for key in ("uncoreMinFreq", "uncoreMaxFreq"):
        value = copied.pop(key, None)
        if value:
            done.lost.append(
                f"{path}.{key}: {value}: nodes without the driver intel_uncore_frequency refuse the whole policy; "
                f"write {key}: {value}kHz where all have it"
            )
    for key in ("minFreq", "maxFreq"):
        if isinstance(copied.get(key), int):
            if copied[key] < 100_000:
                meant = f"write {copied[key]}MHz if that was meant"
                done.changed.append(f"{path}.{key}: {copied[key]} counted as kHz and does so again; {meant}")
            copied[key] = f"{copied[key]}kHz"
    return copied


def _others(old: OldConfig, kind: str, spec: dict[str, Any], done: Translation) -> None:
    fields = fields_of(kind)
    logger = dict(settings(old.modules, "logger"))
    debug = _pop(logger, "Debug")
    log: dict[str, Any] = {}
    if debug:
        words = debug if isinstance(debug, list) else str(debug).split(",")
        log["debug"] = [str(word).strip() for word in words]
    _copy(logger, fields.children["log"], "logger", log, done)
    instrumentation: dict[str, Any] = {}
    _copy(
        dict(settings(old.modules, "instrumentation")),
        fields.children["instrumentation"],
        "instrumentation",
        instrumentation,
        done,
    )
    spec.update({name: new for name, new in (("log", log), ("instrumentation", instrumentation)) if new})
    for module in old.modules:
        if module.lower() in {"rdt", "blockio"}:
            done.lost.append(f"{module}: set spec.control.{module.lower()} by hand, its form is another one")
        elif module.lower() not in _COMPUTED:
            done.lost.append(f"{module}: there is no such module")


def _pop(given: dict[str, Any], name: str) -> Any:
    """Take a value out by its key in any case."""
    for key in list(given):
        if str(key).lower() == name.lower():
            return given.pop(key)
    return None
