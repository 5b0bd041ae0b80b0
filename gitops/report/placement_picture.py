"""Each node's CPUs by package, NUMA node and core, coloured by balloon, as one SVG that stands alone.

Every balloon has a letter as well as a colour and a hatch, and the letter is in each of its CPUs, so that the picture
can be read in black and white.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from gitops.nri.cpu_topology import CpuTopology
from gitops.nri.cpuset import cpuset_text
from gitops.nri.placement.told import Balloon, Told
from gitops.report.cpu_layout import UNKNOWN_MACHINE, NumaCpus, cpu_layout, letter
from gitops.report.placement import ShootPlacement, balloons_of, containers_of
from gitops.report.words import counted, printable

WIDTH = 1200
_MARGIN, _CELL, _GAP, _PAD, _LINE, _TITLE = 20, 22, 5, 10, 17, 18
_SHOWN = 8
"""Containers named per balloon; of more it is said how many there are."""
_COLOURS = ("#f0b429", "#7cc4f0", "#6fcfae", "#f5ec7a", "#b7c9f2", "#f29f67", "#e3a6c8", "#cccccc", "#b5e08c")
_HATCHES = ("", "M0 6L6 0", "M0 0L6 6", "M0 3H6", "M3 0V6")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#111}.h{font-size:16px;font-weight:600}.t{font-size:11px;fill:#444}"
    ".c{font-size:10px;text-anchor:middle;font-weight:600}.n{font-size:7px;text-anchor:middle;fill:#333}"
    ".box{fill:none;stroke:#333}.numa{fill:none;stroke:#888;stroke-dasharray:4 2}.core{fill:#eee;stroke:none}"
    ".cpu{stroke:#222;stroke-width:.7}.bad{fill:#a00000}"
)


@dataclass(frozen=True)
class Block:
    """A piece of the picture, from its own left upper corner."""

    width: float
    height: float
    content: str


@dataclass(frozen=True)
class _Look:
    """How one balloon looks."""

    letter: str
    fill: str


def placement_svg(shoots: Sequence[ShootPlacement]) -> str:
    """All nodes of all shoots, one below the other."""
    blocks = [block for shoot in shoots for block in shoot_blocks(shoot)]
    height = sum(block.height + _MARGIN for block in blocks) + _MARGIN
    width = max([WIDTH, *(block.width for block in blocks)]) + 2 * _MARGIN
    body = "".join(_stacked(blocks))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img"><style>{_STYLE}</style>{_patterns()}'
        f'<rect width="100%" height="100%" fill="#fff"/>{body}</svg>\n'
    )


def shoot_blocks(shoot: ShootPlacement) -> Iterator[Block]:
    """The heading of a shoot, its nodes, and what deviates."""
    found = shoot.verification
    verdict = shoot.unobserved if found is None else found.verdict.message
    yield _text_block([f"Shoot {shoot.shoot}"], "h")
    if found is None or found.deviations:
        deviations = [verdict] if found is None else [str(deviation) for deviation in found.deviations]
        yield _text_block([f"! {text}" for text in deviations], "bad")
    else:
        yield _text_block([verdict], "t")
    if found is not None:
        for node, told in sorted(found.told.items()):
            yield _node(node, told, shoot.topologies.get(node))


def _stacked(blocks: Iterable[Block]) -> Iterator[str]:
    top: float = _MARGIN
    for block in blocks:
        yield f'<g transform="translate({_MARGIN},{top:g})">{block.content}</g>'
        top += block.height + _MARGIN


def _patterns() -> str:
    patterns = []
    for number in range(len(_COLOURS) * len(_HATCHES)):
        colour, hatch = _COLOURS[number % len(_COLOURS)], _HATCHES[number // len(_COLOURS)]
        lines = f'<path d="{hatch}" stroke="#000" stroke-opacity=".45"/>' if hatch else ""
        patterns.append(
            f'<pattern id="b{number}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" fill="{colour}"/>{lines}</pattern>'
        )
    return f"<defs>{''.join(patterns)}</defs>"


def _looks(balloons: Sequence[Balloon]) -> dict[str, _Look]:
    return {
        balloon.name: _Look(letter(number), f"url(#b{number % (len(_COLOURS) * len(_HATCHES))})")
        for number, balloon in enumerate(balloons)
    }


def _node(name: str, told: Told, topology: CpuTopology | None) -> Block:
    balloons = balloons_of(told)
    looks = _looks(balloons)
    known = frozenset().union(*(balloon.cpus | balloon.shared for balloon in balloons))
    machine = topology or UNKNOWN_MACHINE
    drawn = _machine(machine, known, {cpu: balloon.name for balloon in balloons for cpu in balloon.cpus}, looks)
    legend = _legend(balloons, told, looks)
    source = f"told by the plugin's {told.voice.value}"
    if topology is None:
        source += "; nobody looked at the machine, so only CPUs in balloons are drawn (gitops preflight looks)"
    title = _text_block([f"Node {name}", source], "t")
    top = title.height + _GAP
    content = (
        f'<g class="node" data-node="{_said(name)}">{title.content}'
        f'<g transform="translate(0,{top:g})">{drawn.content}</g>'
        f'<g transform="translate(0,{top + drawn.height + _PAD:g})">{legend.content}</g></g>'
    )
    return Block(max(drawn.width, legend.width), top + drawn.height + _PAD + legend.height, content)


def _machine(
    machine: CpuTopology, known: frozenset[int], owners: Mapping[int, str], looks: Mapping[str, _Look]
) -> Block:
    """Packages from left to right as far as they fit, then below."""
    threads = max(1, max((len(core) for core in machine.cores), default=1))
    boxes = [
        _boxed(package.title, [_numa(numa, threads, owners, looks) for numa in package.nodes], "box")
        for package in cpu_layout(machine, known)
    ]
    return _flow(boxes, WIDTH)


def _numa(numa: NumaCpus, threads: int, owners: Mapping[int, str], looks: Mapping[str, _Look]) -> Block:
    cores = [_core(core, owners, looks) for core in numa.cores]
    room = max(16 // threads, 4) * (max((core.width for core in cores), default=0) + _GAP)
    flow = _flow(cores, room)
    return _boxed("" if numa.number is None else f"NUMA node {numa.number}", [flow], "numa")


def _core(cpus: Sequence[int], owners: Mapping[int, str], looks: Mapping[str, _Look]) -> Block:
    cells = []
    for at, cpu in enumerate(cpus):
        owner = owners.get(cpu, "")
        look = looks.get(owner, _Look("", "#fff"))
        left = 2 + at * _CELL
        cells.append(
            f'<rect class="cpu" data-cpu="{cpu}" data-balloon="{_said(owner)}" x="{left}" y="2" width="{_CELL - 2}" '
            f'height="{_CELL - 2}" fill="{look.fill}"><title>CPU {cpu}: {_said(owner) or "free"}</title></rect>'
            f'<text class="c" x="{left + _CELL / 2 - 1:g}" y="12">{look.letter}</text>'
            f'<text class="n" x="{left + _CELL / 2 - 1:g}" y="20">{cpu}</text>'
        )
    width, height = 2 + len(cpus) * _CELL, _CELL + 2
    return Block(width, height, f'<rect class="core" width="{width}" height="{height}" rx="2"/>{"".join(cells)}')


def _legend(balloons: Sequence[Balloon], told: Told, looks: Mapping[str, _Look]) -> Block:
    return _flow([_key(balloon, containers_of(told, balloon.name), looks[balloon.name]) for balloon in balloons], WIDTH)


def _key(balloon: Balloon, containers: Sequence[str], look: _Look) -> Block:
    """What one balloon is, and what runs in it."""
    shared = f", shares {cpuset_text(balloon.shared)}" if balloon.shared else ""
    what = f"{balloon.name}: {counted(len(balloon.cpus), 'CPU')} ({cpuset_text(balloon.cpus) or 'none'}{shared})"
    more = [f"and {len(containers) - _SHOWN} more"] if len(containers) > _SHOWN else []
    lines = [*containers[:_SHOWN], *more]
    texts = "".join(
        f'<text class="t container" x="40" y="{12 + _LINE * row}">{_said(line)}</text>'
        for row, line in enumerate(lines, start=1)
    )
    content = (
        f'<g class="balloon" data-name="{_said(balloon.name)}">'
        f'<rect width="18" height="15" fill="{look.fill}" stroke="#222"/>'
        f'<text class="c" x="9" y="11">{look.letter}</text><text x="26" y="12">{_said(what)}</text>{texts}</g>'
    )
    width = max(WIDTH / 4 - _GAP, 40 + 7 * max(map(len, (what, *lines))))
    return Block(width, _LINE * (len(lines) + 1) + 4, content)


def _boxed(title: str, blocks: Sequence[Block], look: str) -> Block:
    inner = _flow(blocks, WIDTH / 2 - 4 * _PAD)
    top = _PAD + (_TITLE if title else 0)
    width, height = max(inner.width + 2 * _PAD, 90), inner.height + top + _PAD
    heading = f'<text class="t" x="{_PAD}" y="{_PAD + 7}">{_said(title)}</text>' if title else ""
    content = f'<rect class="{look}" width="{width:g}" height="{height:g}" rx="4"/>{heading}'
    return Block(width, height, f'{content}<g transform="translate({_PAD},{top})">{inner.content}</g>')


def _flow(blocks: Sequence[Block], room: float) -> Block:
    """From left to right, and into a new row where the room ends."""
    left = top = row = widest = 0.0
    placed = []
    for block in blocks:
        if left and left + block.width > room:
            left, top, row = 0.0, top + row + _GAP, 0.0
        placed.append(f'<g transform="translate({left:g},{top:g})">{block.content}</g>')
        left += block.width + _GAP
        row, widest = max(row, block.height), max(widest, left - _GAP)
    return Block(widest, top + row, "".join(placed))


def _text_block(lines: Sequence[str], look: str) -> Block:
    height = 20 if look == "h" else _LINE
    texts = [f'<text class="{look}" y="{height * at + 12}">{_said(line)}</text>' for at, line in enumerate(lines)]
    return Block(WIDTH, height * len(lines), "".join(texts))


def _said(text: str) -> str:
    """A text from outside, harmless in XML."""
    return escape(printable(text))
