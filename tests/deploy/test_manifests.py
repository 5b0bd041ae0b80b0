"""Which objects are printed, and how they fit together."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import yaml
from starlette.routing import Route

from gitops.cli import gitops
from gitops.deploy.manifests import manifests
from gitops.deploy.naming import cronjob_name
from gitops.deploy.printed import Part, Printed, yaml_text
from gitops.deploy.settings import Forge, Mode, Secrets, Settings
from gitops.errors import InvalidInput, Refused
from gitops.manifest import get
from gitops.serve.board import Board, Everybody, routes
from tests.deploy.declared import NAMESPACE, OVERLAY, composed, documents

SETTINGS = Settings(image="registry.example/shoot-gitops:1", url="https://git.example/fleet.git")
EVERYTHING = replace(
    SETTINGS,
    mode=Mode.BOTH,
    hosts=("gitops.example",),
    service_monitor=True,
    create_namespace=True,
    secrets=Secrets(git="git", forge="forge", signers="signers", dashboard_token="dashboard"),  # noqa: S106 - a Secret's name
    forge=Forge("gitlab", "https://git.example:8444", "fleets/fleet"),
)


def printed(settings: Settings = SETTINGS) -> tuple[Printed, ...]:
    return manifests([composed(documents("v1", "default"))], settings)


def one(kind: str, settings: Settings = EVERYTHING, name: str = "") -> dict[str, Any]:
    """The only object of a kind where the pipeline runs."""
    found = [each.manifest for each in printed(settings) if each.part is Part.RUN]
    matching = [each for each in found if each["kind"] == kind and name in {"", each["metadata"]["name"]}]
    assert len(matching) == 1
    return matching[0]


def pod(template: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = template["spec"]
    return spec


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        (Mode.CRONJOB, ["ServiceAccount", "NetworkPolicy", "CronJob"]),
        (
            Mode.SERVE,
            ["ServiceAccount", "NetworkPolicy", "NetworkPolicy", "Service", "Deployment", "PodDisruptionBudget"],
        ),
        (
            Mode.BOTH,
            [
                "ServiceAccount",
                "NetworkPolicy",
                "CronJob",
                "NetworkPolicy",
                "Service",
                "Deployment",
                "PodDisruptionBudget",
            ],
        ),
    ],
)
def test_the_mode_decides_what_runs(mode: Mode, kinds: list[str]) -> None:
    objects = printed(replace(SETTINGS, mode=mode))

    assert [each.manifest["kind"] for each in objects if each.part is Part.RUN] == kinds


def test_the_same_choices_print_the_same_text() -> None:
    assert yaml_text(printed(EVERYTHING)) == yaml_text(printed(EVERYTHING))


def test_every_object_is_unlike_the_others_and_labelled_and_explained() -> None:
    objects = printed(EVERYTHING)

    refs = [
        (e.manifest["kind"], get(e.manifest, "metadata", "namespace"), e.manifest["metadata"]["name"]) for e in objects
    ]
    assert len(set(refs)) == len(refs), "also where several parts go to one cluster"
    assert len({(each.part, each.file_name) for each in objects}) == len(objects)
    for each in objects:
        assert each.manifest["metadata"]["labels"]["app.kubernetes.io/name"] == "shoot-gitops"
        assert each.manifest["metadata"]["labels"]["app.kubernetes.io/component"]
        assert each.why


def test_selectors_meet_their_pods_and_no_others() -> None:
    cronjob = one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    serve = one("Deployment")["spec"]["template"]["metadata"]["labels"]
    of_serve = [
        one("Service")["spec"]["selector"],
        one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        one("Deployment")["spec"]["selector"]["matchLabels"],
        one("NetworkPolicy", name="shoot-gitops-serve")["spec"]["podSelector"]["matchLabels"],
    ]

    for selector in of_serve:
        assert selector.items() <= serve.items()
        assert not selector.items() <= cronjob.items()
    everyone = one("NetworkPolicy", name="shoot-gitops")["spec"]["podSelector"]["matchLabels"]
    assert everyone.items() <= serve.items()
    assert everyone.items() <= cronjob.items()
    assert (
        one("ServiceMonitor")["spec"]["selector"]["matchLabels"].items() <= one("Service")["metadata"]["labels"].items()
    )


def test_ports_lead_from_the_world_to_the_program() -> None:
    container = pod(one("Deployment")["spec"]["template"])["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    service = one("Service")["spec"]["ports"][0]

    assert f"0.0.0.0:{ports[service['targetPort']]}" in container["args"]
    assert (
        one("Ingress")["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["port"]["name"] == service["name"]
    )
    let_in = one("NetworkPolicy", name="shoot-gitops-serve")["spec"]["ingress"]
    assert let_in == [{"ports": [{"port": ports["http"], "protocol": "TCP"}]}]
    assert one("ServiceMonitor")["spec"]["endpoints"] == [{"port": service["name"], "path": "/metrics"}]
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert container["startupProbe"]["httpGet"] == {"path": "/readyz/repository", "port": "http"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}


@pytest.mark.parametrize("kind", ["CronJob", "Deployment"])
def test_every_file_that_a_command_names_is_mounted_and_nothing_else_is(kind: str) -> None:
    template = (
        one(kind)["spec"]["jobTemplate"]["spec"]["template"] if kind == "CronJob" else one(kind)["spec"]["template"]
    )
    container = pod(template)["containers"][0]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    files = [argument for argument in container["args"] if argument.startswith("/etc/")]

    assert {file.rpartition("/")[0] for file in files} == {path for path in mounts.values() if path.startswith("/etc/")}
    assert mounts.keys() == {volume["name"] for volume in pod(template)["volumes"]}
    writable = {name for name, volume in ((v["name"], v) for v in pod(template)["volumes"]) if "emptyDir" in volume}
    assert {mounts[name] for name in writable} == {"/home/gitops", "/tmp"}  # noqa: S108 - in the pod
    environment = {variable["name"]: variable["value"] for variable in container["env"]}
    assert all(value.startswith("/home/gitops") for value in environment.values())


@pytest.mark.parametrize("url", ["https://git.example/fleet.git", "ssh://git@git.example/fleet.git"])
@pytest.mark.parametrize("mode", [Mode.CRONJOB, Mode.SERVE])
@pytest.mark.parametrize("dashboard", [{}, {"dashboard_token": "", "dashboard_passwords": "dashboard"}], ids=len)
def test_every_option_that_a_command_is_given_is_its_own(mode: Mode, url: str, dashboard: dict[str, str]) -> None:
    secrets = replace(EVERYTHING.secrets, **dashboard)
    objects = printed(replace(EVERYTHING, mode=mode, url=url, secrets=secrets))
    (template,) = [
        get(each.manifest, "spec", "jobTemplate", "spec", "template") or get(each.manifest, "spec", "template")
        for each in objects
        if each.manifest["kind"] in {"CronJob", "Deployment"}
    ]
    name, *arguments = pod(template)["containers"][0]["args"]

    parent = gitops.make_context("gitops", [name])
    assert gitops.commands[name].make_context(name, list(arguments), parent=parent).params


def test_without_a_secret_for_it_there_is_no_dashboard_and_no_way_to_one() -> None:
    secrets = replace(EVERYTHING.secrets, dashboard_token="")
    without = replace(EVERYTHING, secrets=secrets)

    arguments = pod(one("Deployment", without)["spec"]["template"])["containers"][0]["args"]
    assert not [argument for argument in arguments if "dashboard" in argument]
    assert shown(without) == {"/hooks"}


def test_the_world_gets_the_pages_of_the_dashboard_and_no_metrics() -> None:
    pages = {"/", "/overlays", "/events", "/assets", "/api"}
    rules = one("Ingress")["spec"]["rules"][0]["http"]["paths"]

    assert shown(EVERYTHING) == {"/hooks", *pages}
    assert {rule["path"] for rule in rules if rule["pathType"] == "Exact"} == {"/", "/events"}
    board = {"/" + route.path.split("/")[1] for route in routes(Board(), Everybody()) if isinstance(route, Route)}
    assert board - {"/{anything:path}"} == pages - {"/api"}


def shown(settings: Settings) -> set[str]:
    return {rule["path"] for rule in one("Ingress", settings)["spec"]["rules"][0]["http"]["paths"]}


def test_the_pod_outlives_the_grace_that_serve_gives_itself() -> None:
    template = one("Deployment")["spec"]["template"]
    arguments = pod(template)["containers"][0]["args"]

    own = int(arguments[arguments.index("--grace-period") + 1].removesuffix("s"))
    assert own < pod(template)["terminationGracePeriodSeconds"]


def test_a_run_ends_itself_before_its_job_is_ended() -> None:
    job = one("CronJob")["spec"]["jobTemplate"]["spec"]
    arguments = pod(job["template"])["containers"][0]["args"]

    own = int(arguments[arguments.index("--deadline") + 1].removesuffix("s"))
    assert own < job["activeDeadlineSeconds"]


@pytest.mark.parametrize(
    ("settings", "mounted"),
    [
        pytest.param(SETTINGS, False, id="a garden elsewhere"),
        pytest.param(replace(SETTINGS, secrets=Secrets(garden="")), True, id="the garden itself"),
    ],
)
def test_a_token_is_mounted_only_where_the_garden_is_this_cluster(settings: Settings, *, mounted: bool) -> None:
    template = one("CronJob", settings)["spec"]["jobTemplate"]["spec"]["template"]

    assert pod(template)["automountServiceAccountToken"] is mounted
    assert ("--kubeconfig" in pod(template)["containers"][0]["args"]) is not mounted


@pytest.mark.parametrize(
    ("settings", "account"),
    [
        pytest.param(SETTINGS, (NAMESPACE, "shoot-gitops"), id="a garden elsewhere"),
        pytest.param(replace(SETTINGS, secrets=Secrets(garden="")), ("shoot-gitops", "shoot-gitops"), id="the garden"),
    ],
)
def test_rights_go_to_an_account_that_is_printed(settings: Settings, account: tuple[str, str]) -> None:
    objects = [each.manifest for each in printed(settings)]
    accounts = {
        (each["metadata"]["namespace"], each["metadata"]["name"])
        for each in objects
        if each["kind"] == "ServiceAccount"
    }
    bound = {
        (subject["namespace"], subject["name"])
        for each in objects
        if each["kind"].endswith("Binding")
        for subject in each["subjects"]
    }

    assert account in bound
    assert bound <= accounts


@pytest.mark.parametrize(
    ("url", "ports"),
    [
        ("https://git.example/fleet.git", [443, 6443]),
        ("git@git.example:fleet.git", [22, 443, 6443]),
        ("ssh://git@git.example:2222/fleet.git", [443, 2222, 6443]),
        ("https://git.example:8443/fleet.git", [443, 6443, 8443]),
    ],
)
def test_pods_reach_git_and_its_forge_where_they_listen(url: str, ports: list[int]) -> None:
    without, with_forge = replace(EVERYTHING, url=url, forge=Forge()), replace(EVERYTHING, url=url)
    names, others = one("NetworkPolicy", without, "shoot-gitops")["spec"]["egress"]
    _, more = one("NetworkPolicy", with_forge, "shoot-gitops")["spec"]["egress"]

    assert [port["port"] for port in others["ports"]] == ports
    assert [port["port"] for port in more["ports"]] == sorted([*ports, 8444])
    assert {(port["port"], port["protocol"]) for port in names["ports"]} == set(
        itertools.product((53, 8053), ("UDP", "TCP"))
    )


def test_overlays_of_one_garden_share_a_process_and_have_their_own_schedules() -> None:
    files = documents("v1", "default")
    other = yaml.safe_load(yaml.safe_dump(files[OVERLAY]))
    other[0]["metadata"]["name"] = "next"
    files["overlays/next/overlay.yaml"] = other

    objects = manifests([composed(files), composed(files, "next")], replace(SETTINGS, mode=Mode.BOTH))

    kinds = [each.manifest["kind"] for each in objects]
    assert (kinds.count("CronJob"), kinds.count("Deployment")) == (2, 1)
    deployment = next(each.manifest for each in objects if each.manifest["kind"] == "Deployment")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["args"][:3] == ["serve", "dev", "next"]
    refs = [str(each.manifest["metadata"]) + each.manifest["kind"] for each in objects]
    assert len(set(refs)) == len(refs)


def test_overlays_of_two_gardens_are_refused() -> None:
    files = documents("v1", "default")
    other = documents("v1", "default")
    other[OVERLAY][0]["spec"]["garden"]["identity"] = "landscape-prod"

    with pytest.raises(Refused, match=r"'landscape-dev' and .* 'landscape-prod'"):
        manifests([composed(files), composed(other)], SETTINGS)


def test_an_overlay_whose_name_no_object_can_have_is_refused() -> None:
    files = documents("v1", "default")
    files[OVERLAY][0]["metadata"]["name"] = "Dev_1"
    files["overlays/Dev_1/overlay.yaml"] = files.pop(OVERLAY)

    with pytest.raises(InvalidInput, match=r"overlays/Dev_1/overlay\.yaml.*cannot name an object"):
        manifests([composed(files, "Dev_1")], SETTINGS)


@pytest.mark.parametrize("length", [1, 38, 39, 40, 63])
def test_a_cronjob_has_room_for_the_names_of_its_jobs(length: int) -> None:
    names = {cronjob_name("a" * length), cronjob_name("a" * (length - 1) + "b")}

    assert len(names) == 2
    assert all(len(name) <= 52 for name in names)
