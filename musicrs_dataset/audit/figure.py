"""Figure of the audit as inline SVG: the distance of each adversary from chance."""

from __future__ import annotations

from html import escape

from .adversary import Reads
from .results import AdversaryResult, Audit
from .run import MEASURES

# Okabe and Ito's palette for colour-blind readers. The shape repeats the information of the colour.
_COLOURS: dict[Reads, str] = {"thread": "#0072b2", "pools": "#e69f00", "labels": "#d55e00"}
_ROW, _LEFT, _WIDTH, _TOP, _RIGHT = 24, 250, 860, 44, 24


def figure(audit: Audit) -> str:
    """Draw the recall of every adversary on one axis, with chance as a line.

    Args:
        audit: The audit.

    Returns:
        An `<svg>` element. All its numbers are in the tables too.
    """
    measure = MEASURES[0]
    height = _TOP + _ROW * len(audit.findings) + 8
    chance = _x(audit.findings[0].effects[measure].chance)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{measure} of each adversary against chance">',
        *(_tick(share / 100, height) for share in range(0, 101, 20)),
        f'<line class="chance" x1="{chance:.1f}" x2="{chance:.1f}" y1="{_TOP - 6}" y2="{height - 4}"/>',
        f'<text x="{chance + 4:.1f}" y="{_TOP - 10}" class="note">chance</text>',
        *(_row(finding, i, chance) for i, finding in enumerate(audit.findings)),
        *_legend(),
        "</svg>",
    ]
    return "\n".join(parts)


def _x(value: float) -> float:
    return _LEFT + value * (_WIDTH - _LEFT - _RIGHT)


def _tick(share: float, height: int) -> str:
    x = _x(share)
    return (
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{height - 4}"/>'
        f'<text x="{x:.1f}" y="14" text-anchor="middle" class="note">{share:.0%}</text>'
    )


def _row(finding: AdversaryResult, i: int, chance: float) -> str:
    y = _TOP + _ROW * i + _ROW / 2
    x = _x(finding.effects[MEASURES[0]].mean)
    colour = _COLOURS[finding.reads]
    return (
        f'<text x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(finding.name)}</text>'
        f'<line x1="{chance:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="2"/>'
        f"{_mark(finding.reads, x, y)}"
    )


def _mark(reads: Reads, x: float, y: float) -> str:
    colour = _COLOURS[reads]
    if reads == "thread":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
    turn = 45 if reads == "labels" else 0
    return (
        f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" fill="{colour}" '
        f'transform="rotate({turn} {x:.1f} {y:.1f})"/>'
    )


def _legend() -> list[str]:
    parts = ['<text x="0" y="14" class="note">reads</text>']
    for i, reads in enumerate(_COLOURS):
        x = 52 + 64 * i
        parts.append(f'{_mark(reads, x, 10)}<text x="{x + 9}" y="14" class="note">{reads}</text>')
    return parts
