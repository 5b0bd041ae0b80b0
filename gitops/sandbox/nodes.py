"""The pretend nodes of a shoot: so many per worker pool, as big as their machine type."""

import zlib

from gitops.sandbox.wire import Manifest

MACHINES = {
    "local": ("16", "64Gi"),
    "small": ("2", "4Gi"),
    "medium": ("4", "16Gi"),
    "large": ("8", "32Gi"),
    "xlarge": ("16", "64Gi"),
}
"""CPU and memory by the last part of a machine type's name."""


def machine_size(name: str) -> tuple[str, str]:
    """Return CPU and memory of a machine type: m5.large is `large`, unknown ones are `medium`."""
    return MACHINES.get(name.replace("-", ".").split(".")[-1], MACHINES["medium"])


def wanted(shoot: Manifest, created: str) -> list[Manifest]:
    """Return the nodes a Shoot asks for: each pool's minimum, at least one where the maximum allows any."""
    if (shoot["spec"].get("hibernation") or {}).get("enabled"):
        return []
    found = []
    for worker in shoot["spec"]["provider"].get("workers") or ():
        count = max(worker.get("minimum", 0), 1 if worker.get("maximum", 0) else 0)
        found += [_node(shoot, worker, index, created) for index in range(count)]
    return found


def technical_id(shoot: Manifest) -> str:
    """Return the name of a Shoot's control plane namespace."""
    project = shoot["metadata"]["namespace"].removeprefix("garden-")
    return f"shoot--{project}--{shoot['metadata']['name']}"


def _node(shoot: Manifest, worker: Manifest, index: int, created: str) -> Manifest:
    base = f"{technical_id(shoot)}-{worker['name']}-z1"
    name = f"{base}-{zlib.crc32(f'{base}/{index}'.encode()):08x}"[:63]
    machine = worker["machine"]
    cpu, memory = machine_size(machine["type"])
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": machine.get("architecture", "amd64"),
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine["type"],
        "worker.gardener.cloud/pool": worker["name"],
        "worker.gardener.cloud/cri-name": "containerd",
        **(worker.get("labels") or {}),
    }
    capacity = {"cpu": cpu, "memory": memory, "pods": "110"}
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
        "lastHeartbeatTime": created,
        "lastTransitionTime": created,
    }
    info = {
        "architecture": machine.get("architecture", "amd64"),
        "bootID": name,
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.12.0",
        "kubeProxyVersion": "",
        "kubeletVersion": f"v{shoot['spec']['kubernetes']['version']}",
        "machineID": name,
        "operatingSystem": "linux",
        "osImage": " ".join(str(value) for value in (machine.get("image") or {}).values()),
        "systemUUID": name,
    }
    taints = {"taints": worker["taints"]} if worker.get("taints") else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"sandbox:///{name}", **taints},
        "status": {"capacity": capacity, "allocatable": capacity, "conditions": [ready], "nodeInfo": info},
    }
