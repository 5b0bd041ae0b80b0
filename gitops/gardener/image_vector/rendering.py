"""The chart values that carry an overwrite, as a chart wants them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import yaml


class Form(Enum):
    """What a chart's template does with the value; the other form renders text that no reader understands."""

    STRING = "String"
    """It indents the value: `{{ .Values.imageVectorOverwrite | indent 4 }}`."""
    OBJECT = "Object"
    """It writes the value as YAML: `{{ toYaml .Values.imageVectorOverwrite | indent 4 }}`."""


# Extensions by the name of their ControllerDeployment, without `gardener-` and `extension-` in front: from the charts
# themselves, and from gardener-landscape-kit pkg/components/gardener-extensions.
_KNOWN_FORMS = {
    **dict.fromkeys(
        (
            "cri-resmgr",
            "cri-resmgr-extension",
            "networking-calico",
            "networking-cilium",
            "os-coreos",
            "os-gardenlinux",
            "os-suse-chost",
            "os-ubuntu",
            "provider-alicloud",
            "provider-aws",
            "provider-azure",
            "provider-gcp",
            "provider-openstack",
            "shoot-cert-service",
            "shoot-dns-service",
            "shoot-networking-problemdetector",
        ),
        Form.STRING,
    ),
    **dict.fromkeys(("provider-local", "runtime-gvisor", "shoot-oidc-service", "shoot-traefik"), Form.OBJECT),
}


def known_form(extension: str) -> Form | None:
    """What the chart of a public extension wants; None where it is not known."""
    return _KNOWN_FORMS.get(extension.removeprefix("gardener-").removeprefix("extension-"))


def overwrite_value(vector: Mapping[str, Any], form: Form) -> str | dict[str, Any]:
    """The value of `imageVectorOverwrite`; comments are gone, so that a change of them restarts nothing.

    Args:
        vector: the JSON value of the vector's file.
        form: what the chart wants.
    """
    return dict(vector) if form is Form.OBJECT else _text(vector)


def components_value(components: Mapping[str, Mapping[str, Any]], form: Form) -> str | dict[str, Any]:
    """The value of `componentImageVectorOverwrites`, in which each component's vector is text in any form.

    From gardener pkg/utils/imagevector/imagevector_components.go.

    Args:
        components: the JSON value of each component's vector, by the component's name.
        form: what the chart wants.
    """
    listed = [{"name": name, "imageVectorOverwrite": _text(vector)} for name, vector in components.items()]
    return overwrite_value({"components": listed}, form)


def _text(value: Mapping[str, Any]) -> str:
    # Double quotes around every text: no reader of YAML takes it for a number or a boolean then.
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=2**16)


class _Dumper(yaml.SafeDumper):
    """Writes values in quotes and keys plain, without aliases."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:  # noqa: FBT001 - PyYAML's own
        node = super().represent_mapping(tag, mapping, flow_style)
        for key, _ in node.value:
            key.style = None
        return node


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _quoted)
