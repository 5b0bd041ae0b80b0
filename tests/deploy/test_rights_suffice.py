"""Whole rollouts with the printed rights and no others, and what becomes of them without each single rule."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gitops.clock import SystemClock
from gitops.deploy.printed import Part
from gitops.deploy.settings import Mode, Secrets
from gitops.errors import Forbidden
from gitops.kube.transport import Request
from gitops.notify.events import ShootEvents, Standing, event_of, write_event
from gitops.observer import Run
from gitops.record.record import Record
from gitops.rollout.rollout import RunOutcome
from gitops.rollout.step import ShootOutcome
from tests.cli.serving import serving
from tests.control_plane.audit import Asked
from tests.control_plane.garden import Garden
from tests.control_plane.landscape import Landscape
from tests.control_plane.objects import CORE
from tests.deploy.declared import NAMESPACE, NEW, NOW, documents
from tests.deploy.rights_fleet import SETTINGS, RightsFleet, printed, role_path
from tests.end_to_end.requests import Requests
from tests.waiting import until

pytestmark = [pytest.mark.control_plane, pytest.mark.timeout(300)]

_METHODS = {"list": "GET", "get": "GET", "create": "POST", "update": "PUT", "patch": "PATCH"}


@dataclass(frozen=True)
class Grain:
    """The least that can be taken out of a Role: one verb, for one name where the rule has names."""

    part: Part
    path: str
    """The Role or ClusterRole."""
    rule: int
    verb: str
    group: str
    resource: str
    namespace: str
    name: str

    @property
    def covers(self) -> Callable[[Asked], bool]:
        """Whether it allows something; RBAC's own rule for Roles without wildcards."""

        def covered(asked: Asked) -> bool:
            if (asked.verb, asked.group, asked.resource) != (self.verb, self.group, self.resource):
                return False
            return self.namespace in {"", asked.namespace} and self.name in {"", asked.name}

        return covered

    @property
    def itself(self) -> Asked:
        """The request that it allows, whatever its name where it has none."""
        return Asked(self.verb, self.group, self.resource, self.namespace, self.name)

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.part.value}: {self.verb} {self.resource}.{self.group} {self.name}".strip(" .") + where


def grains() -> Iterator[Grain]:
    """Of every printed Role."""
    for each in printed():
        role = each.manifest
        for number, rule in enumerate(role.get("rules") or ()):
            for verb in rule["verbs"]:
                for name in rule.get("resourceNames") or [""]:
                    namespace = role["metadata"].get("namespace", "")
                    what = (rule["apiGroups"][0], rule["resources"][0], namespace, name)
                    yield Grain(each.part, role_path(role), number, verb, *what)


@dataclass(frozen=True)
class Rolled:
    """Two rollouts that together do everything the pipeline can do outside the shoots."""

    fleet: RightsFleet
    records: tuple[Record, Record]
    lost: list[str]
    """What was said of Events that could not be written."""
    asked: Mapping[Part, frozenset[Asked]]
    """What was asked of the API servers, as what it was authorized."""


@pytest.fixture(scope="module")
def rolled(landscape: Landscape, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rolled]:
    garden = Garden(landscape, NAMESPACE)
    try:
        fleet = RightsFleet(garden, tmp_path_factory.mktemp("rights"))
        lost: list[str] = []
        fleet.declare(documents("v1", "default", "group.spare"))
        first = fleet.reconcile(observer=ShootEvents(SystemClock(), lost.append))
        fleet.settle()
        fleet.declare(documents("v2", "default"))
        second = fleet.reconcile(observer=ShootEvents(SystemClock(), lost.append))
        say_it_twice(fleet)
        yield Rolled(fleet, (first, second), lost, {part: frozenset(fleet.asked(part)) for part in Part})
    finally:
        garden.leave()


def say_it_twice(fleet: RightsFleet) -> None:
    """An Event in each namespace, which is counted the second time."""
    run = Run("1", "dev", "0" * 40, "command", NOW)
    with fleet.world(Requests()) as world:
        for namespace, name in ((NAMESPACE, "one"), (NEW, "new")):
            said = Standing(f"{namespace}/{name}", ShootOutcome.FAILED, 1, "")
            event = event_of(run, fleet.client.get(f"{CORE}/namespaces/{namespace}/shoots/{name}"), said, NOW)
            for _ in range(2):
                write_event(world.garden, event)


def test_the_printed_rights_are_enough_for_everything(rolled: Rolled) -> None:
    for record in rolled.records:
        assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert rolled.lost == []
    assert rolled.fleet.client.find(f"{CORE}/namespaces/{NEW}/shoots/new") is not None
    assert set(rolled.fleet.policies("one")) == {"default"}, "the other one has been pruned"


def test_the_command_of_the_job_runs_as_printed(rolled: Rolled, tmp_path: Path) -> None:
    (job,) = [each.manifest["spec"]["jobTemplate"] for each in printed() if each.manifest["kind"] == "CronJob"]
    rolled.fleet.settle()

    with started(job["spec"]["template"], rolled.fleet, tmp_path, {}) as process:
        stdout, stderr = process.communicate()

    assert process.returncode == 0, stderr
    assert re.match(r"Converged: dev at .*, 0 objects written", stdout)


def test_the_command_of_the_deployment_runs_as_printed(rolled: Rolled, tmp_path: Path) -> None:
    settings = replace(SETTINGS, mode=Mode.SERVE, secrets=Secrets(dashboard_token="dashboard"))  # noqa: S106 - a name
    (deployment,) = [each.manifest for each in printed(settings) if each.manifest["kind"] == "Deployment"]
    secret = tmp_path / "a secret"
    secret.write_text("for tests, and for nothing else\n")
    here = {f"/etc/shoot-gitops/{file}": str(secret) for file in ("webhook/secret", "dashboard/token")}
    rolled.fleet.settle()

    with started(deployment["spec"]["template"], rolled.fleet, tmp_path, {**here, "0.0.0.0:8080": ":0"}) as process:
        server = serving(process)
        server.logged("Converged: 0 objects written")
        answers = {path: server.get(path)[0] for path in ("/healthz", "/readyz", "/readyz/repository", "/metrics", "/")}
        allowed, _ = server.get("/", {"Authorization": f"Bearer {secret.read_text().strip()}"})
        process.terminate()
        process.wait()

    assert answers == {"/healthz": 200, "/readyz": 200, "/readyz/repository": 200, "/metrics": 200, "/": 401}
    assert allowed == 200
    assert process.returncode == 0, server.log


@contextmanager
def started(
    template: Mapping[str, Any], fleet: RightsFleet, folder: Path, here: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """What a pod runs, outside of it; ended at the end of the block, if it does not end by itself.

    Args:
        template: the pod's.
        fleet: where it runs.
        folder: in which the pod's home will be.
        here: arguments that mean something else outside of the pod; each must be there.
    """
    container = template["spec"]["containers"][0]
    here = {
        **here,
        SETTINGS.url: str(fleet.repository.path),
        "/etc/shoot-gitops/garden/kubeconfig": str(fleet.kubeconfig),
        "/etc/shoot-gitops/runtime/kubeconfig": str(fleet.runtime_kubeconfig),
    }
    assert here.keys() <= {*container["args"]}
    home = {variable["name"]: f"{folder}{variable['value']}" for variable in container["env"]}
    ours = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    arguments = [here.get(each, each) for each in container["args"]]
    with subprocess.Popen(
        [sys.executable, "-m", *container["command"], *arguments],
        env={**home, **ours},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def test_no_run_asks_for_more_than_is_printed(rolled: Rolled) -> None:
    everything = list(grains())

    for part in (Part.PROJECT, Part.RUNTIME):
        unforeseen = {asked for asked in rolled.asked[part] if not any(grain.covers(asked) for grain in everything)}
        assert unforeseen == set()


@pytest.mark.parametrize("grain", list(grains()), ids=str)
def test_every_rule_is_needed(rolled: Rolled, grain: Grain) -> None:
    fleet = rolled.fleet
    used = sorted(filter(grain.covers, rolled.asked[grain.part]), key=str)
    assert used, f"no run asks for it: {grain}"
    assert all(fleet.allows(grain.part, asked) for asked in used)

    with without(fleet, grain):
        assert not any(fleet.allows(grain.part, asked) for asked in used)
        for asked in used:
            if (request := replay(asked)) is not None:
                response = fleet.send(grain.part, request)
                assert response.status == 403
                assert f'cannot {asked.verb} resource "{asked.resource}"' in json.loads(response.body)["message"]


READS = (
    "list configmaps. cluster-identity in kube-system",
    "list configmaps. shoot-gitops-dev in garden-rights",
    "list shoots.core.gardener.cloud in garden-rights",
    "list shoots.core.gardener.cloud in garden-rights-n",
    "create shoots/viewerkubeconfig.core.gardener.cloud in garden-rights",
    "list controllerregistrations.core.gardener.cloud",
    "list controllerdeployments.core.gardener.cloud",
    "list controllerinstallations.core.gardener.cloud",
    "list extensions.operator.gardener.cloud",
)


@pytest.mark.parametrize("lacking", READS)
def test_a_run_that_may_not_look_says_at_what_and_writes_nothing(rolled: Rolled, lacking: str) -> None:
    requests = Requests()

    with without(rolled.fleet, found(lacking)), pytest.raises(Forbidden, match=words(lacking)):
        rolled.fleet.reconcile(requests)

    assert requests.writes == []


@pytest.mark.parametrize(
    ("lacking", "version", "policies"),
    [
        ("patch controllerdeployments.core.gardener.cloud extension-roller", "v3", ("default",)),
        ("patch extensions.operator.gardener.cloud extension-operated", "v4", ("default",)),
        ("patch shoots.core.gardener.cloud in garden-rights", "v5", ("default",)),
        ("create shoots/adminkubeconfig.core.gardener.cloud in garden-rights", "v6", ("default", "group.new")),
        ("patch configmaps. shoot-gitops-dev in garden-rights", "v7", ("default",)),
    ],
)
def test_a_run_that_may_not_write_says_what(
    rolled: Rolled, lacking: str, version: str, policies: tuple[str, ...]
) -> None:
    rolled.fleet.settle()
    rolled.fleet.declare(documents(version, *policies))

    with without(rolled.fleet, found(lacking)):
        try:
            said = str(rolled.fleet.reconcile().result)
        except Forbidden as error:
            said = str(error)

    assert re.search(words(lacking), said)


def found(text: str) -> Grain:
    """A grain by what it is called."""
    (grain,) = [grain for grain in grains() if str(grain).partition(": ")[2] == text]
    return grain


def words(text: str) -> str:
    """What an API server says to who lacks it."""
    verb, resource = text.split()[:2]
    return f'cannot {verb} resource "{resource.partition(".")[0]}"'


@contextmanager
def without(fleet: RightsFleet, grain: Grain) -> Iterator[None]:
    """A Role lacks a grain while the block runs."""
    client = fleet.client_of(grain.part)
    allowed = partial(fleet.allows, grain.part, grain.itself)
    role = client.get(grain.path)
    client.put(grain.path, {**role, "rules": lessened(role["rules"], grain)})
    # The authorizer hears of a changed Role a moment later.
    until(lambda allows: not allows, allowed, lambda: "the rule makes no difference: another one grants the same")
    try:
        yield
    finally:
        latest = client.get(grain.path)
        client.put(grain.path, {**latest, "rules": role["rules"]})
        until(lambda allows: allows, allowed)


def lessened(rules: list[dict[str, Any]], grain: Grain) -> list[dict[str, Any]]:
    """Rules without a grain; all that stood beside it in its rule stays."""
    rest = copy.deepcopy(rules)
    rule = rest.pop(grain.rule)
    rest.append({**rule, "verbs": [verb for verb in rule["verbs"] if verb != grain.verb]})
    if grain.name:
        names = [name for name in rule["resourceNames"] if name != grain.name]
        if names:
            rest.append({**rule, "resourceNames": names, "verbs": [grain.verb]})
    return [rule for rule in rest if rule["verbs"]]


def replay(asked: Asked) -> Request | None:
    """The request again, without its body: it is authorized before that would be read.

    None for a creation by server-side apply and for what Gardener's admission asks: no request is just that.
    """
    if asked.verb == "create" and asked.name and "/" not in asked.resource:
        return None
    if asked.resource in {"secrets", "shoots/binding"}:
        return None
    resource, _, subresource = asked.resource.partition("/")
    version = {"": "v1", "operator.gardener.cloud": "v1alpha1", "core.gardener.cloud": "v1beta1"}.get(asked.group, "v1")
    parts = [f"/apis/{asked.group}/{version}" if asked.group else f"/api/{version}"]
    parts += [f"namespaces/{asked.namespace}"] if asked.namespace else []
    parts.append(resource)
    query: tuple[tuple[str, str], ...] = ()
    if asked.verb == "list":
        query = (("fieldSelector", f"metadata.name={asked.name}"),) if asked.name else ()
    elif asked.name:
        parts += [asked.name, subresource] if subresource else [asked.name]
    return Request(_METHODS[asked.verb], "/".join(parts), query)
