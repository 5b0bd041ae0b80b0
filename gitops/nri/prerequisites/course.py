"""What the nodes of one shoot need next: look at those nobody knows, repair one after the other, and say what is left.

A pure function of what was observed. Nothing is repaired before every node was looked at and none of them is beyond
repair; and only one node is repaired at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitops.manifest import Manifest, get
from gitops.nri.prerequisites import jobs
from gitops.nri.prerequisites.facts import NodeFacts
from gitops.nri.prerequisites.findings import Evidence, verdicts
from gitops.nri.prerequisites.jobs import INIT_CONTAINER, JOB_LABEL, Job
from gitops.nri.prerequisites.ledger import NAMESPACE, Entry, entry_of, write_ledger
from gitops.nri.prerequisites.node_report import parse_report
from gitops.nri.prerequisites.wanted import Prerequisites
from gitops.verdict import Status

_SHOWN = 3
_OK = frozenset({Status.CURRENT})


@dataclass(frozen=True)
class Situation:
    """What is known of the nodes of one shoot, and what is at work there."""

    nodes: Sequence[NodeFacts]
    """Those that are here to stay."""
    ledger: Mapping[str, Entry]
    """What was found before, by node."""
    standing: Mapping[Job, Manifest]
    """Our DaemonSets as they are there."""
    pods: Sequence[Manifest]
    """Theirs."""
    run: str
    """Which run this is, unlike every other."""
    now: datetime
    """By the garden's clock."""


@dataclass(frozen=True)
class Do:
    """Apply and delete, in this order."""

    about: str
    """What it is for, in words that are the same whenever the same is done again."""
    apply: tuple[Manifest, ...] = ()
    delete: tuple[Manifest, ...] = ()
    """As they were observed."""


@dataclass(frozen=True)
class Wait:
    """Something is at work on a node."""

    message: str
    hint: str


@dataclass(frozen=True)
class Stop:
    """Something is missing, and nothing that was asked for can bring it."""

    message: str


Move = Do | Wait | Stop


def next_move(wanted: Prerequisites, situation: Situation) -> Move | None:
    """What to do next; None when every node has everything that is asked for, and nothing of ours is left there."""
    known = known_reports(wanted, situation)
    evidence = {facts.name: _evidence(facts, known) for facts in situation.nodes}
    # What the Node objects rule out needs no look at any node.
    if stop := _stop(wanted, evidence):
        left = tuple(situation.standing.values())
        return Do("take our jobs away from the nodes", delete=left) if left else stop
    unknown = [facts for facts in situation.nodes if facts.name not in known]
    if unknown:
        return _probe(wanted, situation, unknown, known)
    if Job.PROBE in situation.standing:
        return Do("end the look at the nodes", delete=(situation.standing[Job.PROBE],))
    lacking = [facts for facts in situation.nodes if _statuses(wanted, evidence[facts.name]) - _OK]
    if Job.REPAIR in situation.standing:
        return _finish_repair(wanted, situation, lacking, known)
    if not lacking:
        return None
    return Do(f"repair node {lacking[0].name}", apply=(jobs.repair(wanted, lacking[0].name),))


def known_reports(wanted: Prerequisites, situation: Situation) -> dict[str, Entry]:
    """The entries that count: of the node as it is, and good enough or made by this run."""
    return {
        facts.name: entry
        for facts in situation.nodes
        if (entry := situation.ledger.get(facts.name)) is not None
        and entry.is_of(facts)
        and (entry.run == situation.run or _is_good(wanted, facts, entry))
    }


def _is_good(wanted: Prerequisites, facts: NodeFacts, entry: Entry) -> bool:
    return _statuses(wanted, Evidence(facts, entry.report, entry.repaired)) <= _OK


def _evidence(facts: NodeFacts, known: Mapping[str, Entry]) -> Evidence:
    entry = known.get(facts.name)
    return Evidence(facts, None) if entry is None else Evidence(facts, entry.report, entry.repaired)


def _statuses(wanted: Prerequisites, evidence: Evidence) -> set[Status]:
    return {verdict.status for verdict in verdicts(wanted, evidence).values()}


def _stop(wanted: Prerequisites, evidence: Mapping[str, Evidence]) -> Stop | None:
    lacks = {
        name: [f"{need.value}: {v.message}" for need, v in verdicts(wanted, known).items() if v.status is Status.FAILED]
        for name, known in evidence.items()
    }
    named = [f"{name}: {'; '.join(words)}" for name, words in lacks.items() if words]
    if not named:
        return None
    more = f", and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    what = f"{len(named)} of {len(evidence)} nodes lack what is required"
    return Stop(f"{what}: {', '.join(named[:_SHOWN])}{more}")


def _probe(
    wanted: Prerequisites, situation: Situation, unknown: Sequence[NodeFacts], known: Mapping[str, Entry]
) -> Move:
    standing = situation.standing.get(Job.PROBE)
    if standing is not None and jobs.is_outdated(standing, wanted):
        return Do("end the look at the nodes", delete=(standing,))
    where = None if standing is None else jobs.nodes_of_job(standing)
    names = {facts.name for facts in unknown}
    if standing is None or (where is not None and not names <= where):
        everywhere = len(unknown) == len(situation.nodes)
        about = "look at all nodes" if everywhere else f"look at nodes {', '.join(sorted(names))}"
        return Do(about, apply=(jobs.probe(wanted, None if everywhere else names),))
    reports = _reports(situation.pods, standing)
    waiting = [facts for facts in unknown if reports.get(facts.name) is None]
    if waiting:
        return _wait(Job.PROBE, situation, waiting, f"{len(unknown) - len(waiting)} of {len(unknown)} nodes looked at")
    made = {}
    for facts in unknown:
        report = parse_report(reports[facts.name] or "")
        if report is None:
            return _unreadable(facts.name, reports[facts.name])
        made[facts.name] = entry_of(facts, report, situation.now, situation.run, repaired=False)
    return Do("note what was seen on the nodes", apply=(write_ledger({**known, **made}),), delete=(standing,))


def _finish_repair(
    wanted: Prerequisites, situation: Situation, lacking: Sequence[NodeFacts], known: Mapping[str, Entry]
) -> Move:
    standing = situation.standing[Job.REPAIR]
    under_repair = jobs.nodes_of_job(standing) or frozenset()
    facts = next((facts for facts in lacking if facts.name in under_repair), None)
    if facts is None or jobs.is_outdated(standing, wanted):
        return Do("end the repair of nodes", delete=(standing,))
    text = _reports(situation.pods, standing).get(facts.name)
    if text is None:
        return _wait(Job.REPAIR, situation, [facts], f"{len(lacking)} nodes to repair")
    report = parse_report(text)
    if report is None:
        return _unreadable(facts.name, text)
    if not report.error and not (facts.ready and _is_running(situation.pods, standing, facts.name)):
        return Wait(f"{facts.name} was repaired and is not Ready again yet", _hint(Job.REPAIR))
    entry = entry_of(facts, report, situation.now, situation.run, repaired=True)
    ledger = write_ledger({**known, facts.name: entry})
    return Do(f"note the repair of node {facts.name}", apply=(ledger,), delete=(standing,))


def _unreadable(node: str, text: str | None) -> Stop:
    return Stop(f"{node}: what the node said of itself cannot be read: {(text or '')[:100]!r}")


def _wait(job: Job, situation: Situation, nodes: Sequence[NodeFacts], progress: str) -> Wait:
    standing = situation.standing[job]
    words = [f"{facts.name}{_state(facts, situation.pods, standing)}" for facts in nodes[:_SHOWN]]
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    return Wait(f"{job.value} of nodes: {progress}, waiting for {', '.join(words)}{more}", _hint(job))


def _hint(job: Job) -> str:
    return f"Look at its pods: kubectl -n {NAMESPACE} describe pods -l {JOB_LABEL}={job.value}"


def _state(facts: NodeFacts, pods: Sequence[Manifest], daemon_set: Manifest) -> str:
    """Why there is no report yet, in the words of the kubelet or of the node."""
    pod = _pods(pods, daemon_set).get(facts.name)
    status = _init_status(pod) if pod is not None else None
    for words in (
        get(status, "state", "waiting", "message") or get(status, "state", "waiting", "reason"),
        get(status, "state", "terminated", "message"),
        get(status, "lastState", "terminated", "message"),
    ):
        if words:
            return f" ({' '.join(str(words).split())[:200]})"
    return "" if facts.ready else " (NotReady)"


def _pods(pods: Sequence[Manifest], daemon_set: Manifest) -> dict[str, Manifest]:
    """By node, those of exactly this DaemonSet that are not being deleted."""
    uid = get(daemon_set, "metadata", "uid")
    return {
        str(get(pod, "spec", "nodeName")): pod
        for pod in pods
        if get(pod, "metadata", "deletionTimestamp") is None
        and any(get(owner, "uid") == uid for owner in get(pod, "metadata", "ownerReferences") or ())
    }


def _reports(pods: Sequence[Manifest], daemon_set: Manifest) -> dict[str, str | None]:
    """What each node's init container said when it ended well."""
    return {node: _message(_init_status(pod)) for node, pod in _pods(pods, daemon_set).items()}


def _message(status: Manifest | None) -> str | None:
    ended = get(status, "state", "terminated")
    return str(get(ended, "message") or "") if get(ended, "exitCode") == 0 else None


def _init_status(pod: Manifest) -> Manifest | None:
    statuses = get(pod, "status", "initContainerStatuses")
    found = [s for s in statuses if get(s, "name") == INIT_CONTAINER] if isinstance(statuses, list) else []
    return found[0] if found else None


def _is_running(pods: Sequence[Manifest], daemon_set: Manifest, node: str) -> bool:
    """Whether the runtime has started a container after the repair."""
    pod = _pods(pods, daemon_set).get(node)
    statuses = get(pod, "status", "containerStatuses")
    return (
        isinstance(statuses, list) and bool(statuses) and all(get(s, "state", "running") is not None for s in statuses)
    )
