"""The audit as JSON, as Markdown and as one self-contained HTML page."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import to_json, write_text

from .figure import figure
from .results import Audit
from .tables import Table, summary, tables
from .verdict import LEAK_Z

# Markdown is read in one go: of the tables that list threads one by one it shows the beginning.
_SHOWN_ROWS = 15


@dataclass(frozen=True)
class Subject:
    """What was audited.

    Attributes:
        dataset: What the user called the dataset.
        config: Its configuration.
        pools: The pool file set in place of the configuration's pools; None for those.
    """

    dataset: str
    config: str
    pools: str | None = None

    def __str__(self) -> str:
        return f"{self.dataset}, {self.config}" + (f" with the pools of {self.pools}" if self.pools else "")


def to_dict(audit: Audit, subject: Subject) -> dict[str, Any]:
    """Return the audit in plain JSON types, with what was audited before it and every count that the pages show."""
    counts = {
        "left_over_entities": sum(len(fault.entities) for fault in audit.left_over),
        "left_over_threads": len(audit.left_over),
        "collision_threads": len(audit.collisions),
        "leak_z": LEAK_Z,
    }
    return {**asdict(subject), **counts, **asdict(audit)}


def write_report(folder: str | Path, audit: Audit, subject: Subject) -> list[Path]:
    """Write `audit.json`, `audit.md` and `audit.html`.

    Args:
        folder: Made if it does not exist.
        audit: The audit.
        subject: What was audited.

    Returns:
        The three files.
    """
    texts = {
        "audit.json": to_json(to_dict(audit, subject), indent=2) + "\n",
        "audit.md": markdown(audit, subject),
        "audit.html": html(audit, subject),
    }
    for name, text in texts.items():
        write_text(Path(folder) / name, [text])
    return [Path(folder) / name for name in texts]


def markdown(audit: Audit, subject: Subject) -> str:
    """The report as Markdown; the beginning only of tables that list threads."""
    parts = [f"# Audit of {_in_markdown(str(subject))}", summary(audit), f"Fingerprint `{audit.fingerprint}`."]
    for table in tables(audit):
        parts += [f"## {table.title}", table.text]
        shown = table.rows[:_SHOWN_ROWS] if table.long else table.rows
        if shown:
            rows = [table.columns, ("---",) * len(table.columns), *(map(_in_markdown, row) for row in shown)]
            parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        if table.notes:
            parts.append("\n".join(f"- {_in_markdown(note)}" for note in table.notes))
        if len(shown) < len(table.rows):
            parts.append(f"{len(table.rows) - len(shown)} more are in `audit.json` and `audit.html`.")
    return "\n\n".join(parts) + "\n"


def html(audit: Audit, subject: Subject) -> str:
    """The report as one page without scripts, fonts or anything else to fetch."""
    title = escape(f"Audit of {subject}")
    verdict, *others = tables(audit)
    sections = "\n".join([_section(verdict), f"<figure>{figure(audit)}</figure>", *map(_section, others)])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p>{escape(summary(audit))}</p>
<p class="note">Fingerprint <code>{escape(audit.fingerprint)}</code></p>
{sections}
</body>
</html>
"""


def _section(table: Table) -> str:
    kinds = [_kind(text) for text in table.rows[-1]] if table.rows else []
    head = "".join(f"<th{kind}>{escape(column)}</th>" for column, kind in zip(table.columns, kinds, strict=False))
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    rows = f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'
    if table.long and table.rows:
        rows = f"<details><summary>Thread by thread</summary>{rows}</details>"
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    below = f"<ul>{notes}</ul>" if notes else ""
    return f"<h2>{escape(table.title)}</h2>\n<p>{escape(table.text)}</p>\n{rows if table.rows else ''}{below}"


def _cell(text: str) -> str:
    kind = ' class="bad"' if text in ("leaks", "faulty") else _kind(text)
    return f"<td{kind}>{escape(text)}</td>"


def _kind(text: str) -> str:
    return ' class="number"' if re.fullmatch(r"[-+]?\d+(\.\d+)?( ± \d+\.\d+)?|\d+–\d+|–", text) else ""


def _in_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text.replace("\n", " "))


_STYLE = """
:root { color: #1c1c1c; background: #fff; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
p { max-width: 48rem; } .note { color: #595959; font-size: .85rem; } code { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .87rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
.number { text-align: right; font-variant-numeric: tabular-nums; } td.number { white-space: nowrap; }
td.bad { color: #a33b00; font-weight: 600; }
figure { margin: 1.5rem 0; } svg { width: 100%; max-width: 54rem; font: 13px system-ui, sans-serif; }
svg .grid { stroke: #e4e4e4; } svg .chance { stroke: #444; stroke-dasharray: 4 3; }
svg .note { font-size: 12px; fill: #595959; }
summary { cursor: pointer; margin: .5rem 0; }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  :root { font-size: 12px; } body { margin: 0; padding: 0; max-width: none; } .wide { overflow: visible; }
  h2 { break-after: avoid; } tr, figure { break-inside: avoid; } svg { max-height: 165mm; }
}
"""
