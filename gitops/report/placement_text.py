"""Where containers run, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops.nri.cpuset import cpuset_text
from gitops.report.placement import ShootPlacement, balloons_of, containers_of
from gitops.report.style import Style, Tone
from gitops.report.table import table_lines
from gitops.report.words import counted, listed, wrapped

_HEADING = ("NODE", "BALLOON", "CPUS", "COUNT", "CONTAINERS")
_SHOWN = 4


def placement_text(shoots: Sequence[ShootPlacement], style: Style) -> str:
    """A table of balloons per shoot, what deviates below it, and totals."""
    lines = [line for shoot in shoots for line in (*_shoot(shoot, style), "")]
    proven = sum(shoot.proven for shoot in shoots)
    lines.append(style.paint(f"{proven} of {counted(len(shoots), 'shoot')} proven.", Tone.STRONG))
    return "\n".join(lines)


def _shoot(shoot: ShootPlacement, style: Style) -> Iterator[str]:
    yield style.paint(shoot.shoot, Tone.PLACE)
    found = shoot.verification
    if found is None:
        yield from wrapped(f"not observed: {shoot.unobserved}", width=style.width, indent="  ")
        return
    rows = [
        (
            node,
            balloon.name,
            cpuset_text(balloon.cpus),
            str(len(balloon.cpus)),
            listed(containers_of(told, balloon.name), len(told.assignments) if style.whole else _SHOWN) or "-",
        )
        for node, told in sorted(found.told.items())
        for balloon in balloons_of(told)
    ]
    if rows:
        yield from (f"  {line}" for line in table_lines(_HEADING, rows, style))
    for deviation in found.deviations:
        text = style.paint("!", Tone.REMOVED)
        yield from wrapped(str(deviation), width=style.width, indent="    ", first=f"  {text} ")
    if not found.deviations:
        yield from wrapped(found.verdict.message, width=style.width, indent="  ")
