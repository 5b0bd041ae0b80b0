from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from gitops.errors import Unreachable
from gitops.kube.transport import Request, Response
from gitops.manifest import GARDEN
from gitops.record.record import record_document
from gitops.record.store import Stored
from gitops.rollout.rollout import RunOutcome
from gitops.serve.metrics import Metrics, metrics_route
from tests.report.rollouts import NOON, operation
from tests.serve.asking import ask
from tests.serve.fleets import CONVERGING, Fleet, StoppedClock

STOPPED = RunOutcome.STOPPED
README = Path(__file__).parents[2] / "README.md"


def metrics() -> Metrics:
    return Metrics(StoppedClock(), monotonic=lambda: 0.0)


def value(told: Metrics, name: str, **labels: str) -> float | None:
    return told.registry.get_sample_value(name, labels)


def every_series(told: Metrics) -> list[tuple[str, dict[str, str]]]:
    return [(sample.name, sample.labels) for family in told.registry.collect() for sample in family.samples]


def test_a_run_that_converges_is_counted_with_its_writes_and_its_time() -> None:
    told = metrics()
    record = Fleet("dev", {"canary": 1, "fleet": 3}).rollout(told)

    took = (record.finished - record.started).total_seconds()
    assert value(told, "gitops_runs_total", overlay="dev", trigger="push", outcome="Converged") == 1
    assert value(told, "gitops_writes_total", overlay="dev") == 4
    assert value(told, "gitops_run_duration_seconds_sum", overlay="dev") == took
    assert value(told, "gitops_time_to_first_write_seconds_count", overlay="dev") == 1
    assert value(told, "gitops_last_success_timestamp_seconds", overlay="dev") == record.finished.timestamp()
    assert value(told, "gitops_in_sync", overlay="dev") == 1
    assert value(told, "gitops_shoots", overlay="dev", wave="fleet", outcome="Converged") == 3
    assert value(told, "gitops_run_under_way", overlay="dev") == 0


def test_a_run_that_is_stopped_is_no_success_and_leaves_its_shoots_as_they_are() -> None:
    told = metrics()
    fleet = Fleet("dev", {"canary": 1, "fleet": 3})
    fleet.refuse("garden-local/canary", "no")
    fleet.rollout(told)

    assert value(told, "gitops_runs_total", overlay="dev", trigger="push", outcome="Stopped") == 1
    assert value(told, "gitops_last_success_timestamp_seconds", overlay="dev") is None
    assert value(told, "gitops_in_sync", overlay="dev") == 0
    assert value(told, "gitops_pending_changes", overlay="dev", action="configured") == 4
    assert value(told, "gitops_shoots", overlay="dev", wave="canary", outcome="Failed") == 1
    assert value(told, "gitops_shoots", overlay="dev", wave="fleet", outcome="NotStarted") == 3


def test_a_run_that_only_waits_for_others_leaves_the_word_to_what_it_found() -> None:
    told = metrics()
    Fleet("dev", {"all": 2}, lambda *_: False).rollout(told)

    assert value(told, "gitops_in_sync", overlay="dev") == 1
    assert value(told, "gitops_time_to_first_write_seconds_count", overlay="dev") is None


def test_a_suspended_run_leaves_shoots_as_they_were_counted() -> None:
    metrics = Metrics(StoppedClock())
    fleet = Fleet("dev", {"all": 3})
    fleet.rollout(metrics)
    labels = {"overlay": "dev", "wave": "all", "outcome": "Converged"}
    before = metrics.registry.get_sample_value("gitops_shoots", labels)

    fleet.suspended(metrics, "the overlay is suspended by ada")

    assert metrics.registry.get_sample_value("gitops_shoots", labels) == before == 3


def test_while_a_run_goes_on_its_shoots_are_counted_where_they_are() -> None:
    told = metrics()
    with Fleet("dev", {"canary": 1, "fleet": 3}, at_once=2).under_way(told, 8):
        assert value(told, "gitops_run_under_way", overlay="dev") == 1
        assert value(told, "gitops_shoots", overlay="dev", wave="canary", outcome="Converged") == 1
        assert value(told, "gitops_shoots", overlay="dev", wave="fleet", outcome="UnderWay") == 2
        assert value(told, "gitops_shoots", overlay="dev", wave="fleet", outcome="NotStarted") == 1


def test_a_run_that_could_not_go_on_is_an_outcome_of_its_own() -> None:
    told = metrics()
    fleet = Fleet("dev", {"all": 2})
    fleet.rollout(told)
    fleet.fail(told, "the garden is silent")

    assert value(told, "gitops_runs_total", overlay="dev", trigger="push", outcome="Error") == 1
    assert value(told, "gitops_shoots", overlay="dev", wave="all", outcome="Converged") == 2
    assert value(told, "gitops_last_run_timestamp_seconds", overlay="dev") == NOON.timestamp()


def test_an_overlay_that_is_gone_leaves_no_series() -> None:
    told = metrics()
    for name in ("dev", "prod"):
        Fleet(name, {"all": 2}).rollout(told)
        told.queued(name, 1)

    told.keep(["prod"])

    overlays = {labels["overlay"] for _, labels in every_series(told) if "overlay" in labels}
    assert overlays == {"prod"}


def test_an_overlay_that_is_gone_before_it_ever_ran_leaves_no_series_either() -> None:
    metrics = Metrics(StoppedClock())
    metrics.queued("dev", 1)

    metrics.keep([])

    assert metrics.registry.get_sample_value("gitops_queue_depth", {"overlay": "dev"}) is None


def test_an_overlay_counts_from_zero_so_that_its_first_failure_is_an_increase() -> None:
    told = metrics()
    told.keep(["dev"])

    assert value(told, "gitops_runs_total", overlay="dev", trigger="push", outcome="Error") == 0
    assert value(told, "gitops_writes_total", overlay="dev") == 0
    assert value(told, "gitops_run_under_way", overlay="dev") == 0
    assert value(told, "gitops_in_sync", overlay="dev") is None, "nobody has looked"

    Fleet("dev", {"all": 1}).fail(told, "the garden is silent")
    told.keep(["dev"])
    assert value(told, "gitops_runs_total", overlay="dev", trigger="push", outcome="Error") == 1
    told.keep([])
    assert not [labels for _, labels in every_series(told) if "overlay" in labels]


def test_a_process_that_begins_anew_knows_how_old_the_last_success_is() -> None:
    good = Fleet("dev", {"all": 1}).rollout(metrics())
    bad = replace(good, finished=good.finished + timedelta(hours=2), result=replace(good.result, outcome=STOPPED))
    documents = [json.loads(json.dumps(record_document(record))) for record in (bad, good)]
    told, fleet = metrics(), Fleet("dev", {"all": 1})

    told.remembered(fleet.run, Stored(documents[0], tuple(documents)))

    assert value(told, "gitops_last_success_timestamp_seconds", overlay="dev") == good.finished.timestamp()
    assert value(told, "gitops_last_run_timestamp_seconds", overlay="dev") == bad.finished.timestamp()
    assert value(told, "gitops_runs_total", overlay="dev", trigger="push", outcome="Converged") is None

    fleet.rollout(told)
    told.remembered(fleet.run, Stored(documents[0], tuple(documents)))
    assert value(told, "gitops_last_run_timestamp_seconds", overlay="dev") == good.finished.timestamp()


def test_what_the_process_itself_takes_is_told_as_every_exporter_does() -> None:
    names = {family.name for family in metrics().registry.collect()}

    assert {"process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"} <= names


def test_no_series_is_about_a_single_shoot() -> None:
    told = metrics()
    Fleet("dev", {"all": 40}, at_once=40).rollout(told)

    series = every_series(told)
    assert not any("garden-local" in text for _, labels in series for text in labels.values())
    few = metrics()
    Fleet("dev", {"all": 2}).rollout(few)
    assert len(series) == len(every_series(few))


def test_deliveries_of_webhooks_are_counted_and_what_is_not_known_makes_no_series() -> None:
    told = metrics()
    told.webhook("github", "accepted")
    for number in range(5):
        told.webhook(f"x{number}", "refused")

    assert value(told, "gitops_webhook_deliveries_total", forge="github", outcome="accepted") == 1
    assert value(told, "gitops_webhook_deliveries_total", forge="other", outcome="refused") == 5


def test_requests_to_servers_are_counted_with_their_status_and_without_their_path() -> None:
    told = metrics()

    def answer(request: Request) -> Response:
        if request.method == "PATCH":
            raise Unreachable("no route")
        return Response(200, {}, b"")

    garden = told.counting(answer, GARDEN)
    shoot = told.counting(answer, "garden-dev/one")
    garden(Request("GET", "/api"))
    shoot(Request("GET", "/api"))
    with pytest.raises(Unreachable):
        shoot(Request("PATCH", "/api"))

    assert value(told, "gitops_api_requests_total", server="garden", method="GET", code="200") == 1
    assert value(told, "gitops_api_requests_total", server="shoot", method="PATCH", code="none") == 1
    assert value(told, "gitops_api_request_duration_seconds_count", server="shoot", method="GET") == 1


@pytest.mark.parametrize("accept", ["", "application/openmetrics-text; version=1.0.0"], ids=["plain", "openmetrics"])
def test_a_scraper_reads_them(accept: str) -> None:
    told = metrics()
    Fleet("dev", {"all": 2}, statuses=[operation("Error")]).plan(told)

    answer = ask(Starlette(routes=[metrics_route(told)]), "/metrics", headers={"accept": accept})

    assert answer.status_code == 200
    assert "gitops_pending_changes" in answer.text
    if not accept:
        assert {family.name for family in text_string_to_metric_families(answer.text)} >= {
            "gitops_runs",
            "gitops_shoots",
        }
    assert answer.headers["content-type"].startswith(accept.partition(";")[0] or "text/plain")


def test_the_readme_names_every_metric_with_its_labels() -> None:
    told = metrics()
    Fleet("dev", {"all": 1}, statuses=CONVERGING).rollout(told)
    families = {}
    for family in (family for family in told.registry.collect() if family.name.startswith("gitops_")):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        families[name] = family.documentation

    rows = re.findall(r"^\| `(gitops_[a-z_]+)` \| (\w+) \| (.*?) \| (.*?) \|$", README.read_text(), re.MULTILINE)

    assert {name: text for name, _, _, text in rows} == families
