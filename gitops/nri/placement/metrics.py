r"""The plugin's metrics: `nri_policy_balloons_cores{balloon="fast[0]",containers="ns/pod/ctr,…",cpus="4-5",…} 2`.

Source: nri-plugins cmd/plugins/balloons/policy/metrics.go; Prometheus' text format, in which label values escape `\`,
`"` and line ends.
"""

from __future__ import annotations

import re

from gitops.nri.cpuset import parse_cpuset
from gitops.nri.placement.told import Balloon, Told, Voice, is_balloon, is_container

_PAIR = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"'
_SAMPLE = re.compile(rf"nri_policy_balloons_cores\{{(?P<labels>{_PAIR}(?:,{_PAIR})*),?\}} [-+\d.eE]+(?: -?\d+)?")
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\.)*)"')


def read_metrics(text: str) -> Told | None:
    """What the metrics tell of balloons; None where they tell of none, as the policy's metrics may be off."""
    balloons: dict[str, Balloon] = {}
    assignments: dict[str, str] = {}
    for line in text.splitlines():
        if not (sample := _SAMPLE.fullmatch(line.rstrip())):
            continue
        labels = {name: _plain(value) for name, value in _LABEL.findall(sample["labels"])}
        name, cpus = labels.get("balloon", ""), parse_cpuset(labels.get("cpus", ""))
        if not is_balloon(name) or cpus is None:
            continue
        shared = parse_cpuset(labels.get("sharedidlecpus", ""))
        balloons[name] = Balloon(name, cpus, shared or frozenset())
        assignments.update((c, name) for c in labels.get("containers", "").split(",") if is_container(c))
    return Told(Voice.METRICS, balloons, assignments) if balloons else None


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), value)
