"""Desired state as YAML, per shoot, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from gitops.desired.compose import Desired, DesiredShoot
from gitops.desired.scalars import plain_scalar
from gitops.manifest import GARDEN, Target, ref_of


class _Dumper(yaml.CSafeDumper):
    """Block style, no aliases, and quotes around every text that our reader would not read as that text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None if _is_plain(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _is_plain(text: str) -> bool:
    try:
        return plain_scalar(text) == text
    except ValueError:
        return False


_Dumper.add_representer(str, _text)


def render(desired: Desired) -> Iterator[tuple[Target, str]]:
    """For every shoot its target and a YAML stream: the Shoot itself, then what goes inside it."""
    for target, shoot in desired.shoots.items():
        yield target, render_shoot(shoot)


def render_shoot(shoot: DesiredShoot) -> str:
    """The YAML stream of one shoot; comments name the wave, and where each object is declared."""
    parts = [f"# {shoot.target}, wave {shoot.wave}\n"]
    for ref, manifest in [(ref_of(GARDEN, shoot.shoot), shoot.shoot), *shoot.objects.items()]:
        origin = shoot.origins[ref]
        parts.append(f"---\n# {origin.file}:{origin.line}\n{to_yaml(manifest)}")
    return "".join(parts)


def render_registrations(desired: Desired) -> str:
    """The YAML stream of what comes before all waves; comments name where each object is declared, and its cluster."""
    parts = []
    for ref, manifest in desired.registrations.items():
        origin = desired.origins[ref]
        parts.append(f"---\n# {origin.file}:{origin.line}, in the {ref.target} cluster\n{to_yaml(manifest)}")
    return "".join(("# before all waves\n", *parts))


def to_yaml(value: Any) -> str:
    """A JSON value as a YAML document, keys in their own order."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=120)
