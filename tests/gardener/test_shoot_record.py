"""What the pipeline remembers on a Shoot."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from gitops.errors import Refused
from gitops.gardener.shoot_record import ShootRecord, read_record, timestamp, unseen_before
from gitops.manifest import Element
from gitops.ownership.field_record import RECORD_ANNOTATION, with_record
from tests.gardener.shoots import NOON, live_shoot, shoot

FIELDS = frozenset({("spec", "region"), ("spec", "extensions", Element("type", "nri"), "disabled")})
RECORD = ShootRecord("dev", FIELDS, frozenset({("v1", "ConfigMap"), ("config.nri/v1alpha1", "BalloonsPolicy")}), NOON)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(RECORD, id="all of it"),
        pytest.param(ShootRecord("prod", frozenset(), frozenset(), None), id="nothing is owned"),
    ],
)
def test_a_record_is_read_back_as_it_was_written(record: ShootRecord) -> None:
    assert read_record(with_record(shoot({}), record)) == record


def test_a_record_stands_beside_other_annotations() -> None:
    recorded = with_record(shoot({}, annotations={"a": "b"}), RECORD)

    assert recorded["metadata"]["annotations"] == {"a": "b", RECORD_ANNOTATION: RECORD.text()}


def test_a_shoot_that_was_never_written_has_no_record() -> None:
    assert read_record(shoot({}, annotations={"a": "b"})) is None


def test_the_same_record_is_the_same_text() -> None:
    turned = ShootRecord("dev", frozenset(sorted(FIELDS, key=str, reverse=True)), frozenset(sorted(RECORD.kinds)), NOON)

    assert turned.text() == RECORD.text()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="no JSON"),
        pytest.param("[]", id="a list"),
        pytest.param("null", id="null"),
        pytest.param('{"overlay":"dev"}', id="fields are missing"),
        pytest.param('{"overlay":"dev","fields":[],"kinds":[]}', id="fields are a list"),
        pytest.param('{"overlay":"dev","fields":{"spec":{}},"kinds":[]}', id="an unknown kind of step"),
        pytest.param('{"overlay":"dev","fields":{},"kinds":[["v1"]]}', id="half a kind"),
        pytest.param('{"overlay":"dev","fields":{},"kinds":[],"changedAt":"soon"}', id="no time"),
        pytest.param('{"overlay":"dev","fields":{},"kinds":[],"changedAt":5}', id="a number as time"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused_by_name(text: str) -> None:
    with pytest.raises(Refused, match=r"garden-local/one: the annotation shoot-gitops/owned cannot be read"):
        read_record(shoot({}, annotations={RECORD_ANNOTATION: text}))


def test_a_time_is_written_in_utc_with_whole_seconds() -> None:
    local = datetime(2026, 11, 30, 13, 0, 0, 999999, tzinfo=timezone(timedelta(hours=1)))

    assert timestamp(local) == "2026-11-30T12:00:00Z"
    assert json.loads(ShootRecord("dev", frozenset(), frozenset(), local).text())["changedAt"] == "2026-11-30T12:00:00Z"


def last_operation(time: datetime) -> Any:
    return {"lastOperation": {"lastUpdateTime": timestamp(time)}}


@pytest.mark.parametrize(
    ("status", "moment"),
    [
        pytest.param({}, NOON, id="no operation yet"),
        pytest.param(last_operation(NOON - timedelta(hours=1)), NOON, id="an operation ended long ago"),
        pytest.param(last_operation(NOON), NOON + timedelta(seconds=1), id="in the very second of the observation"),
        pytest.param(last_operation(NOON + timedelta(minutes=1)), NOON + timedelta(seconds=61), id="after it"),
    ],
)
def test_no_operation_up_to_the_observation_has_seen_the_change(status: Any, moment: datetime) -> None:
    assert unseen_before({**live_shoot({}), "status": status}, NOON.astimezone(UTC)) == moment
