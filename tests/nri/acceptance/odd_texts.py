"""Texts that are nearly, or oddly, a quantity, a CPU list, a glob, a key, a frequency or a duration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.nri.acceptance.plain import Spec


def _text(random: Random, alphabet: Sequence[str], longest: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(random.randint(0, longest)))


def _quantity(random: Random) -> Spec:
    return {"reservedResources": {"cpu": _text(random, "012..+-eEmkKiMGnu ", 4)}}


def _large_quantity(random: Random) -> Spec:
    digits = "".join(random.choice("0123456789") for _ in range(random.choice([1, 6, 12, 17, 18, 19, 20, 25])))
    number = random.choice([digits, digits, "9223372036854775807", "9223372036854775", "2"])
    decimals = random.choice(["", "", ".", f".{digits}", ".0000000001"])
    suffix = random.choice(
        [*"numkMGTPE", "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "E-1", "e-18", "E3", "e40", "E-40"]
    )
    return {"reservedResources": {"cpu": random.choice(["", "+", "-"]) + number + decimals + suffix}}


def _cpus(random: Random) -> Spec:
    return {"reservedResources": {"cpu": "cpuset:" + _text(random, "0123,-+ ", 5)}}


def _glob(random: Random) -> Spec:
    return {"controllableInterrupts": [_text(random, "[]^-ab\\*?/", 6)]}


def _key(random: Random) -> Spec:
    key = _text(random, (":", ":", "/", "pod", "name", "labels", "id", ",", "a", "-"), 6)
    return {"preserve": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}


def _frequency(random: Random) -> Spec:
    text = _text(random, (".", "1", "0", "G", "M", "Hz", "k", " ", "min", "-", "e"), 5)
    return {"cpuClasses": [{"name": "x", "minFreq": text}]}


def _duration(random: Random) -> Spec:
    return {"instrumentation": {"reportPeriod": _text(random, ".10hmsun-+µ", 5)}}


ODD_TEXTS: dict[str, Callable[[Random], Spec]] = {
    "quantity": _quantity,
    "large quantity": _large_quantity,
    "cpus": _cpus,
    "glob": _glob,
    "key": _key,
    "frequency": _frequency,
    "duration": _duration,
}
