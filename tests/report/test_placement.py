"""Placement as text, JSON and pictures, the last as a real browser has them."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from gitops.nri.placement.verification import Deviation
from gitops.report.placement import ShootPlacement, placement_document
from gitops.report.placement_page import placement_html
from gitops.report.placement_picture import placement_svg
from gitops.report.placement_text import placement_text
from gitops.report.style import PLAIN
from tests.report.placements import SIZES, machine, placement
from tests.waiting import PATIENCE

WRONG = Deviation("w1-0", "latency/pod-0-0", "main", "wrong-type", "it runs in batch[0] and belongs in latency")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=1000"),
)
SVG = "{http://www.w3.org/2000/svg}"


def counts(text: str) -> Counter[str]:
    """CPUs per balloon in a picture; those in none under the empty name."""
    return Counter(re.findall(r'class="cpu" data-cpu="\d+" data-balloon="([^"]*)"', text))


EXPECTED = Counter({**SIZES, "": 128 - sum(SIZES.values())})


def test_the_picture_is_xml_and_has_every_cpu_once_in_its_balloon() -> None:
    picture = ET.fromstring(placement_svg([placement()]))  # noqa: S314 - our own text

    cpus = [rect for rect in picture.iter(f"{SVG}rect") if rect.get("class") == "cpu"]
    assert Counter(rect.get("data-balloon") for rect in cpus) == EXPECTED
    assert sorted(int(rect.get("data-cpu") or -1) for rect in cpus) == sorted(machine().cpus)
    texts = "".join(picture.itertext())
    assert "package 1" in texts
    assert "NUMA node 3" in texts


def test_without_colours_every_balloon_is_told_by_its_letter() -> None:
    picture = placement_svg([placement()])

    letters = re.findall(r'data-balloon="([^"]*)"[^>]*>.*?<text class="c"[^>]*>([A-Z0-9]*)</text>', picture)
    by_balloon = {balloon: {letter for name, letter in letters if name == balloon} for balloon, _ in letters}
    assert all(len(found) == 1 for found in by_balloon.values())
    assert len({letter for found in by_balloon.values() for letter in found}) == len(SIZES) + 1


def test_a_machine_that_nobody_looked_at_shows_the_cpus_of_balloons() -> None:
    picture = placement_svg([placement(known=False)])

    assert counts(picture) == Counter(SIZES)
    assert "nobody looked at the machine" in picture


def test_names_from_outside_do_no_harm() -> None:
    evil = Deviation("w1-0", "a/<script>", "", "wrong-type", "\x1b[31m&\"'")
    page = placement_html("<dev>", [placement(evil)])

    assert "<script>" not in page
    assert "\x1b" not in page
    assert "<dev>" not in page


def test_text_names_deviations_by_pod() -> None:
    text = placement_text([placement(WRONG)], PLAIN)

    assert "latency/pod-0-0/main on w1-0: it runs in batch[0] and belongs in latency" in text
    assert "0 of 1 shoot proven" in text
    assert re.search(r"w1-0\s+dpdk\[1\]\s+\S+\s+2\s+dpdk/pod-1-0/main, dpdk/pod-1-1/main", text)


def test_a_shoot_that_was_not_observed_is_not_proven() -> None:
    shoot = ShootPlacement("garden-dev/one", None, "unreachable: no route", {})
    document = placement_document("dev", [placement(), shoot])

    assert (document["proven"], [entry["proven"] for entry in document["shoots"]]) == (False, [True, False])
    assert "not observed: unreachable: no route" in placement_text([shoot], PLAIN)
    assert "unreachable: no route" in placement_svg([shoot])


def test_json_says_everything() -> None:
    (shoot,) = placement_document("dev", [placement(WRONG)])["shoots"]

    assert shoot["deviations"][0]["pod"] == "latency/pod-0-0"
    balloons = {balloon["name"]: balloon for balloon in shoot["nodes"][0]["balloons"]}
    assert balloons["dpdk[0]"]["containers"] == ["dpdk/pod-0-0/main", "dpdk/pod-0-1/main"]
    assert len(shoot["containers"]) == 2 * len(SIZES)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("kind", ["html", "svg"])
def test_a_browser_shows_it(tmp_path: Path, kind: str) -> None:
    shoots = [placement(WRONG)]
    file = tmp_path / f"placement.{kind}"
    file.write_text(placement_html("dev", shoots) if kind == "html" else placement_svg(shoots))
    shot = tmp_path / f"{kind}.png"
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path}/profile", "--window-size=1300,1000"]

    subprocess.run([*command, f"--screenshot={shot}", file.as_uri()], check=True, capture_output=True, timeout=PATIENCE)
    dom = subprocess.run(
        [*command, "--dump-dom", file.as_uri()], check=True, capture_output=True, text=True, timeout=PATIENCE
    )

    assert shot.stat().st_size > 20_000
    assert counts(dom.stdout) == EXPECTED
