"""What one extension inherits from another that it takes over from.

Source: intel/gardener-extension-cri-resmgr, `configs` and `nodeSelector` of its providerConfig on master and in pull
request 267, which renders the balloons chart: that chart reads no `configs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Move:
    """One type of extension that takes over from another on one shoot."""

    old: str
    new: str


@dataclass(frozen=True)
class _Heritage:
    keeps: tuple[str, ...]
    """Fields of the old providerConfig that mean the same to the successor."""
    loses: Mapping[str, str] = field(default_factory=dict)
    """Fields that mean nothing to it, with what to do instead."""


_KNOWN = {
    "cri-resmgr-extension": _Heritage(
        keeps=("nodeSelector",),
        loses={
            "configs": "NRI plugins do not read it: declare policies instead (`gitops migrate` translates them)",
        },
    )
}
_UNKNOWN = _Heritage(keeps=())


def inherited(old: str, config: Any) -> dict[str, Any]:
    """What of the old extension's providerConfig its successor gets; empty where nothing still means anything."""
    heritage = _KNOWN.get(old, _UNKNOWN)
    return {key: config[key] for key in heritage.keeps if isinstance(config, Mapping) and key in config}


def lost(old: str, config: Any) -> tuple[str, ...]:
    """Sentences about fields of the old providerConfig that stay behind."""
    if not isinstance(config, Mapping):
        return ()
    heritage = _KNOWN.get(old, _UNKNOWN)
    told = [
        f"providerConfig.{key} of {old} is left behind: {why}" for key, why in heritage.loses.items() if key in config
    ]
    others = sorted(config.keys() - {*heritage.keeps, *heritage.loses, "apiVersion", "kind"})
    if others:
        names = ", ".join(f"providerConfig.{key}" for key in others)
        told.append(f"{names} of {old} is left behind: declare for the new type what still means something there")
    return tuple(told)
