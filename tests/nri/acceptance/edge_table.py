"""The edges of every rule, by the rule's name."""

from __future__ import annotations

from tests.nri.acceptance import edges

EDGES: dict[str, edges.Edge] = {
    "undecodable-value": edges.undecodable,
    "expression-operator-unknown": edges.operator,
    "expression-values": edges.arity,
    "expression-key-unknown": edges.key("", "image", "pod/image", ":name", ":abc", ":,,a,b", ":::", "/", "Name"),
    "expression-key-trailing": edges.key("name/x", "pod/name/x", "id/labels", "namespace//", ":name:uid/x"),
    "expression-key-missing": edges.key("pod", "labels", "tags/", "pod/labels", "pod/", ":name:labels", "pod/pod"),
    "available-cpuset-malformed": edges.listed("availableResources", "3-1", "a", "0,", "1-2-3", "-1", "+1", " 0", "0-"),
    "available-quantity": edges.set_field(
        "availableResources", {"cpu": "2"}, {"cpu": "0-3"}, {"CPU": "2"}, {}, {"cpu": "cpuset:0"}
    ),
    "interrupt-glob-malformed": edges.set_field(
        "controllableInterrupts",
        ["["],
        ["*", "a[]b"],
        ["[a-]"],
        ["\\"],
        ["[^x]*"],
        ["a]"],
        [],
        ["[a-c]?"],
        ["[" + "]x]"],
        ["[\\]]"],
        ["*\\*"],
        ["[*]"],
        ["a[", "*"],
    ),
    "reserved-cpuset-malformed": edges.listed("reservedResources", "3-1", "x", ",", "0--1", "1_0", "0x1", "+0-1"),
    "reserved-quantity-malformed": edges.set_field(
        "reservedResources",
        {"cpu": "0-3"},
        {"cpu": ""},
        {"cpu": "one"},
        {"cpu": "1.5"},
        {"cpu": " 1"},
        {"cpu": "1k"},
        {"cpu": "1e0"},
        {"cpu": "0.1"},
        {"cpu": "+1"},
        {"cpu": "."},
        {"cpu": "-1"},
        {"cpu": "-3"},
        {"cpu": "1."},
        {"cpu": "1mi"},
        {"CPU": "0-3"},
        {"cpu": "1n"},
    ),
    "reserved-max-cpus": edges.reserved_type,
    "reserved-min-cpus": edges.reserved_type,
    "type-name-missing": edges.on_type(name=["", "given", "given too"]),
    "type-name-duplicate": edges.same_name,
    "type-min-cpus": edges.sizes,
    "type-min-balloons": edges.counts,
    "memory-type-unknown": edges.on_type(
        memoryTypes=[["DRAM"], ["dram", "HBM"], ["PMEM", "CXL"], [""], ["DRAM", "DRAM"], []]
    ),
    "composite-cpu-class": edges.composed(cpuClass=["", "turbo"]),
    "composite-allocation-option": edges.composed(
        preferSpreadOnPhysicalCores=[True, False, None],
        allocatorTopologyBalancing=[True, False],
        preferCloseToDevices=[[], ["/dev/x"]],
        preferIsolCpus=[True, False],
        preferCoreType=["", "efficient"],
    ),
    "component-creation-alone": edges.on_type(componentCreation=["", "all", "balance-balloons"], components=[[], None]),
    "component-creation-unknown": edges.composed(componentCreation=["all", "some", ""]),
    "load-class-name-missing": edges.load_class,
    "load-class-level-missing": edges.load_class,
    "load-undefined": edges.load,
    "scheduling-class-undefined": edges.scheduling,
    "cpu-class-name-missing": edges.cpu_class(name=["", "named"]),
    "cpu-class-deprecated-name-missing": edges.set_field(
        "control.cpu.classes", {"": {}}, {"x": {}}, {"": {"minFreq": 1}}, {}
    ),
    "cpu-class-name-duplicate": edges.cpu_class(name=["class0", "one", "two"]),
    "pct-priority-and-clos": edges.cpu_class(pctPriority=["", "high"], sstClosID=[0, 1]),
    "pct-priority-unknown": edges.cpu_class(pctPriority=["high", "low", "medium", ""]),
    "pct-clos-negative": edges.cpu_class(sstClosID=[-1, 0, 3]),
    "pct-frequency-alone": edges.cpu_class(
        pctMinFreq=["1GHz", "0", "turbo"], pctMaxFreq=["", "3GHz"], pctPriority=["low", ""]
    ),
    "pct-publish-alone": edges.cpu_class(publishExtendedResource=[True, False], sstClosID=[0], pctPriority=["", "low"]),
    "pct-modes-mixed": edges.cpu_class(pctPriority=["high", ""], sstClosID=[0]),
    "pct-priority-twice": edges.cpu_class(pctPriority=["high", "low"]),
    "component-name-missing": edges.component("", "default"),
    "component-undefined": edges.component("nowhere", "reserved", "default"),
    "component-circular": edges.circle,
    "turbo-domain-unknown": edges.set_field("turboDomain", "package", "system", "", "die", None),
    "reserved-outside-available": edges.outside,
    "not-enough-cpus": edges.room,
    "not-enough-cpus in composites": edges.composite,
    "uncore-driver": edges.cpu_class(uncoreMinFreq=["1GHz", "0", ""], uncoreMaxFreq=["2GHz", ""]),
    "speed-select": edges.cpu_class(pctPriority=["high", ""]),
    "cache-allocation": edges.set_field(
        "control.rdt",
        {"enable": True},
        {"enable": False},
        {"enable": True, "partitions": {"p": {"l3Allocation": {"all": {"unified": "50%"}}}}},
    ),
    "interrupt-claim": edges.interrupt_claim,
}
# Not among them: whether two metrics exporters are asked for, which the resource manager decides before any policy.
