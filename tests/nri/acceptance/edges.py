"""What brings a policy to the edges of a rule; each lands on either side."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from gitops.nri.acceptance.machine import Machine
from tests.nri.acceptance.plain import NAMES, Spec, balloon_type, some_type

Edge: TypeAlias = Callable[[Random, Spec, Machine], None]

_OPERATORS = {
    "Equals": 1,
    "NotEqual": 1,
    "Matches": 1,
    "MatchesNot": 1,
    "Exists": 0,
    "NotExist": 0,
    "AlwaysTrue": 0,
    "In": 2,
    "NotIn": 0,
    "MatchesAny": 3,
    "MatchesNone": 1,
}
_GOOD_KEYS = [
    "name",
    "namespace",
    "pod/labels/app",
    "labels/x/y",
    "tags/t",
    ":name:namespace",
    ":,-name,pod/name",
    "qosclass",
    "pod/qosclass",
    "id",
    "uid",
    "pod/uid",
    "/name",
    "pod//name",
    ":a",
    "pod/pod/name",
    "name/",
]


def _expression(random: Random, spec: Spec, machine: Machine, **values: Any) -> None:
    operator = random.choice(list(_OPERATORS))
    good = {"key": random.choice(_GOOD_KEYS), "operator": operator, "values": ["x"] * _OPERATORS[operator]}
    holder = spec.setdefault("preserve", {}) if random.random() < 0.3 else some_type(random, spec, machine)
    holder.setdefault("matchExpressions", []).append({**good, **values})


def operator(random: Random, spec: Spec, machine: Machine) -> None:
    bad = random.choice(["NotExists", "equals", "", "In", "MatchesAny"])
    _expression(random, spec, machine, operator=bad)


def arity(random: Random, spec: Spec, machine: Machine) -> None:
    _expression(random, spec, machine, values=["v"] * random.randint(0, 3))


def key(*keys: str) -> Edge:
    def edge(random: Random, spec: Spec, machine: Machine) -> None:
        _expression(random, spec, machine, key=random.choice([*keys, *_GOOD_KEYS[:6]]))

    return edge


def set_field(path: str, *choices: Any) -> Edge:
    """Set a field of the spec, `x.y`, to one of several values."""

    def edge(random: Random, spec: Spec, _machine: Machine) -> None:
        *above, last = path.split(".")
        holder = spec
        for key in above:
            holder = holder.setdefault(key, {})
        holder[last] = random.choice(choices)

    return edge


def on_type(**choices: list[Any]) -> Edge:
    """Set fields of some balloon type to one of several values each."""

    def edge(random: Random, spec: Spec, machine: Machine) -> None:
        found = some_type(random, spec, machine)
        for key, values in choices.items():
            found[key] = random.choice(values)

    return edge


def same_name(random: Random, spec: Spec, machine: Machine) -> None:
    some_type(random, spec, machine)
    spec["balloonTypes"].append({"name": random.choice(NAMES), "allocatorPriority": "high"})


def sizes(random: Random, spec: Spec, machine: Machine) -> None:
    found = some_type(random, spec, machine)
    most = random.choice([-2, -1, 0, 1, 2, machine.cpu_count])
    found["maxCPUs"], found["minCPUs"] = most, most + random.choice([-1, 0, 1])


def counts(random: Random, spec: Spec, machine: Machine) -> None:
    found = some_type(random, spec, machine)
    most = random.choice([-1, 0, 1, 2])
    found["maxBalloons"], found["minBalloons"] = most, most + random.choice([-1, 0, 1])


def room(random: Random, spec: Spec, machine: Machine) -> None:
    """Fill the machine to one CPU less, exactly, or one more."""
    found = some_type(random, spec, machine)
    balloons = random.choice([1, 1, 2, 3])
    found["minBalloons"], found["minCPUs"] = balloons, (machine.cpu_count + random.choice([-2, -1, 0, 1])) // balloons
    found.pop("maxCPUs", None)
    found.pop("maxBalloons", None)


def composite(random: Random, spec: Spec, machine: Machine) -> None:
    """A composite of real types that is created at once."""
    found = some_type(random, spec, machine)
    types = spec["balloonTypes"]
    if len(types) < 3:
        types.append(balloon_type(random, "part", machine))
    names = [known["name"] for known in types if known is not found] or ["default"]
    found.clear()
    found.update(name=f"composite{len(types)}", allocatorPriority=random.choice(["high", "low"]))
    found["components"] = [{"balloonType": random.choice([*names, "default"])} for _ in range(random.randint(1, 3))]
    found["minBalloons"] = random.randint(0, 3)
    found["minCPUs"] = random.randint(0, machine.cpu_count)
    if random.random() < 0.5:
        found["componentCreation"] = random.choice(["all", "balance-balloons"])


def composed(**choices: list[Any]) -> Edge:
    """A composite with fields that it may or may not have."""

    def edge(random: Random, spec: Spec, machine: Machine) -> None:
        composite(random, spec, machine)
        found = next(known for known in spec["balloonTypes"] if known.get("components"))
        key = random.choice(list(choices))
        found[key] = random.choice(choices[key])

    return edge


def component(*names: str) -> Edge:
    def edge(random: Random, spec: Spec, machine: Machine) -> None:
        composite(random, spec, machine)
        composites = [known for known in spec["balloonTypes"] if known.get("components")]
        random.choice(composites)["components"][0]["balloonType"] = random.choice(names)

    return edge


def circle(random: Random, spec: Spec, machine: Machine) -> None:
    composite(random, spec, machine)
    composite(random, spec, machine)
    composites = [known for known in spec["balloonTypes"] if known.get("components")]
    other = random.choice(spec["balloonTypes"])
    random.choice(composites)["components"].append({"balloonType": other.get("name", "")})


def load(random: Random, spec: Spec, machine: Machine) -> None:
    spec["loadClasses"] = [
        {"name": name, "level": random.choice(["core", "l2cache"]), "overloadsLevelInBalloon": random.random() < 0.5}
        for name in random.sample(["l1", "l2"], random.randint(0, 2))
    ]
    some_type(random, spec, machine)["loads"] = random.sample(["l1", "l2"], random.randint(1, 2))


def load_class(random: Random, spec: Spec, _machine: Machine) -> None:
    classes = spec.setdefault("loadClasses", [])
    classes.append({"name": random.choice(["", "l1"]), "level": random.choice(["", "core", "socket"])})


def scheduling(random: Random, spec: Spec, machine: Machine) -> None:
    spec["schedulingClasses"] = [{"name": random.choice(["s1", "s2"]), "policy": "fifo", "priority": 10}]
    some_type(random, spec, machine)["schedulingClass"] = random.choice(["s1", "s2", ""])


def cpu_class(**choices: list[Any]) -> Edge:
    """One or two more CPU classes with some of the given fields."""

    def edge(random: Random, spec: Spec, _machine: Machine) -> None:
        classes = spec.setdefault("cpuClasses", [])
        for _ in range(random.randint(1, 2)):
            found: Spec = {"name": f"class{len(classes)}", "maxFreq": random.choice(["2GHz", "turbo"])}
            for key, values in choices.items():
                if random.random() < 0.6:
                    found[key] = random.choice(values)
            classes.append(found)

    return edge


def _cpus(random: Random, machine: Machine) -> str:
    first = random.randrange(machine.cpu_count + 1)
    last = first + random.randrange(3)
    return random.choice([str(first), f"{first}-{last}", f"0,{first}", ""])


def listed(constraint: str, *malformed: str) -> Edge:
    def edge(random: Random, spec: Spec, machine: Machine) -> None:
        prefix = random.choice(["cpuset:", "exclude-cpuset:"])
        text = random.choice([_cpus(random, machine), *malformed])
        spec[constraint] = {"cpu": prefix + text}

    return edge


def reserved_type(random: Random, spec: Spec, _machine: Machine) -> None:
    spec["reservedResources"] = {
        "cpu": random.choice(["1", "2", "1500m", "cpuset:0-1", "cpuset:0", "exclude-cpuset:0"])
    }
    types = spec.setdefault("balloonTypes", [])
    reserved = next((known for known in types if known.get("name") == "reserved"), None)
    if reserved is None:
        reserved = {"name": "reserved", "allocatorPriority": "high"}
        types.insert(random.randint(0, len(types)), reserved)
    for key in ("minCPUs", "maxCPUs", "minBalloons", "maxBalloons"):
        if random.random() < 0.4:
            reserved[key] = random.choice([-1, 0, 1, 2, 3])


def outside(random: Random, spec: Spec, machine: Machine) -> None:
    if random.random() < 0.7:
        spec["availableResources"] = {"cpu": random.choice(["cpuset:", "exclude-cpuset:"]) + _cpus(random, machine)}
    spec["reservedResources"] = {"cpu": random.choice(["cpuset:", "exclude-cpuset:"]) + _cpus(random, machine)}


def undecodable(random: Random, spec: Spec, machine: Machine) -> None:
    frequencies = ["fast", "2.5GHz", "2 Ghz", "800", "0.0000001", "-1", " 3m ", "BASE", "1.2.3", ".5G", "5.", ""]
    choices: list[Callable[[], None]] = [
        lambda: some_type(random, spec, machine).update(minCPUs=random.choice(["1", 1.5, True, None, 1])),
        lambda: some_type(random, spec, machine).update(namespaces=random.choice(["*", [1], [None], {}, ["*"]])),
        lambda: some_type(random, spec, machine).update(pinMemory=random.choice(["true", 1, None, True])),
        lambda: spec.update(reservedResources={"cpu": random.choice([1, 1.5, "1", True])}),
        lambda: spec.update(cpuClasses=[{"name": "f", "minFreq": random.choice([*frequencies, 800, 1.5, -1, True])}]),
        lambda: spec.update(cpuClasses=[{"name": "f", "energyPerformancePreference": random.choice([-1, 0, 1])}]),
        lambda: spec.update(
            instrumentation={"reportPeriod": random.choice(["30s", "1h2m", "10x", "", "0", "-1.5s", 5])}
        ),
        lambda: spec.update(log={"klog": {"v": random.choice([1, "1"]), "log_file_max_size": random.choice([1, -1])}}),
        lambda: spec.update(control={"cpu": {"classes": {"k": {"minFreq": random.choice([1, -1, "1GHz"])}}}}),
        lambda: spec.update(balloonTypes=random.choice([{}, [None], ["x"], "x", [{"name": "ok"}]])),
        lambda: spec.update(schedulingClasses=[{"name": "x", "runtime": random.choice([1, -1])}]),
    ]
    random.choice(choices)()


def interrupt_claim(random: Random, spec: Spec, machine: Machine) -> None:
    claims = [["*8042*"], ["*nvme*"], ["nothing"], ["*[/]*"], []]
    some_type(random, spec, machine)["irqClaim"] = random.choice(claims)
    spec["controllableInterrupts"] = random.choice([["*"], ["*8042*"], ["*none*"], []])
