"""The report as Markdown, for a repository or an issue: the same blocks, figures as files beside it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from ..markdown import escaped
from .document import Block, Case, Cell, Document, Figure, Item, Table, Text

_ALIGN = {"left": ":--", "right": "--:", "center": ":-:"}
_STATES = {"hit": "**{}** ✓", "miss": "{}", "unknown": "*{}* ?"}


def render_markdown(document: Document) -> str:
    """Print a document as Markdown with tables.

    Args:
        document: The report.

    Returns:
        The file.
    """
    lines = [f"# {escaped(document.title)}", *map(escaped, document.lead)]
    for section in document.sections:
        lines.append(f"## {escaped(section.title)}")
        for block in section.blocks:
            lines += _block(block)
    return "\n\n".join(lines) + "\n"


def _block(block: Block) -> Iterable[str]:
    match block:
        case Text():
            yield escaped(block.text)
        case Table():
            yield from _table(block)
        case Figure():
            yield f"![{escaped(block.caption)}]({block.name}.png)"
            yield escaped(block.caption)
            yield from _table(block.data)
        case Case():
            yield from _case(block)


def _table(table: Table) -> Iterable[str]:
    width = len(table.columns)
    lines = [
        _line(escaped(column.text) for column in table.columns),
        _line(_ALIGN[column.align] for column in table.columns),
    ]
    for row in table.rows:
        cells = [_cell(cell) for cell in row.cells]
        if row.role == "heading":
            cells = [f"*{cells[0]}*", *[""] * (width - 1)]
        lines.append(_line(cells))
    yield f"**{escaped(table.caption)}**"
    yield "\n".join(lines)
    yield from map(escaped, table.notes)


def _cell(cell: Cell) -> str:
    marks = {"best": "**{}**", "tied": "<u>{}</u>", "": "{}"}
    parts = [marks[part.emphasis].format(escaped(part.text)) + part.sign for part in cell.parts]
    return "<br>".join([" / ".join(parts), *map(escaped, cell.detail.splitlines())])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _case(case: Case) -> Iterable[str]:
    yield f"### {escaped(case.title)}"
    yield f"*{escaped(case.why)}*"
    facts = [*case.facts, ("Ground truth", "; ".join(case.ground_truth))]
    facts += [("Clip", sound.label + (f" ({sound.note})" if sound.note else "")) for sound in case.sounds]
    yield "\n".join(f"- **{escaped(name)}:** {escaped(value)}" for name, value in facts if value)
    if case.links:
        yield "Links: " + ", ".join(f"<{link.url}>" for link in case.links)
    pool = "\n".join(f"{item.rank}. {_item(item)}" for item in case.pool)
    yield f"<details><summary>{escaped(case.pool_title)}</summary>\n\n{pool}\n\n</details>"
    if case.answers:
        columns = [[_item(item) for item in answer.items] for answer in case.answers]
        depth = max(map(len, columns))
        ranks = [str(rank) for rank in range(1, depth + 1)]
        lines = [
            _line(["", *(escaped(answer.system) for answer in case.answers)]),
            _line(["--:", *[":--"] * len(columns)]),
            _line(["", *(escaped(answer.summary) for answer in case.answers)]),
        ]
        lines += [_line(cells) for cells in zip_longest(ranks, *columns, fillvalue="")]
        yield "\n".join(lines)


def _item(item: Item) -> str:
    return _STATES[item.state].format(escaped(item.text))
