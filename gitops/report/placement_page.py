"""The picture as a page: one self-contained file, with the same facts as tables for those who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from gitops.nri.cpuset import cpuset_text
from gitops.report.placement import ShootPlacement, balloons_of, containers_of
from gitops.report.placement_picture import placement_svg
from gitops.report.words import counted, printable

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>Placement</title>
<style>body{font:14px system-ui,sans-serif;margin:1rem;color:#111;background:#fff}
.picture{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0}
th,td{border:1px solid #999;padding:.2rem .5rem;text-align:left;vertical-align:top}
</style></head><body>
"""


def placement_html(overlay: str, shoots: Sequence[ShootPlacement]) -> str:
    """All shoots of an overlay."""
    proven = sum(shoot.proven for shoot in shoots)
    heading = f"<h1>Overlay {_said(overlay)}: {proven} of {counted(len(shoots), 'shoot')} proven</h1>"
    tables = "".join(table for shoot in shoots for table in _tables(shoot))
    return f'{_HEAD}{heading}<div class="picture">{placement_svg(shoots)}</div>{tables}</body></html>\n'


def _tables(shoot: ShootPlacement) -> Iterator[str]:
    if shoot.verification is None:
        return
    for node, told in sorted(shoot.verification.told.items()):
        rows = "".join(
            f"<tr><td>{_said(balloon.name)}</td><td>{len(balloon.cpus)}</td><td>{cpuset_text(balloon.cpus)}</td>"
            f"<td>{'<br>'.join(map(_said, containers_of(told, balloon.name)))}</td></tr>"
            for balloon in balloons_of(told)
        )
        caption = f"<caption>{_said(shoot.shoot)}, node {_said(node)}</caption>"
        head = "<tr><th>Balloon</th><th>CPUs</th><th>Which</th><th>Containers</th></tr>"
        yield f"<table>{caption}{head}{rows}</table>"


def _said(text: str) -> str:
    return escape(printable(text))
