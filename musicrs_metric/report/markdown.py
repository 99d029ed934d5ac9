"""The report as Markdown, for a repository or an issue: the same blocks, figures as files beside it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from ..base.renderers.markdown import markdown_grid, markdown_table
from ..base.tables import Align, Table
from ..base.text import escape_markdown
from .document import Block, Case, Document, Figure, Item, Text

_STATES = {"hit": "**{}** ✓", "miss": "{}", "unknown": "*{}* ?"}


def render_markdown(document: Document) -> str:
    """Print a document as Markdown with tables.

    Args:
        document: The report.

    Returns:
        The file.
    """
    lines = [f"# {escape_markdown(document.title)}", *map(escape_markdown, document.lead)]
    for section in document.sections:
        lines.append(f"## {escape_markdown(section.title)}")
        for block in section.blocks:
            lines += _block(block)
    return "\n\n".join(lines) + "\n"


def _block(block: Block) -> Iterable[str]:
    match block:
        case Text():
            yield escape_markdown(block.text)
        case Table():
            yield from _table(block)
        case Figure():
            yield f"![{escape_markdown(block.caption)}]({block.name}.png)"
            yield escape_markdown(block.caption)
            yield from _table(block.data)
        case Case():
            yield from _case(block)


def _table(table: Table) -> Iterable[str]:
    yield f"**{escape_markdown(table.caption)}**"
    yield markdown_table(table)
    yield from map(escape_markdown, table.notes)


def _case(case: Case) -> Iterable[str]:
    yield f"### {escape_markdown(case.title)}"
    yield f"*{escape_markdown(case.why)}*"
    facts = [*case.facts, ("Ground truth", "; ".join(case.ground_truth))]
    facts += [("Clip", sound.label + (f" ({sound.note})" if sound.note else "")) for sound in case.sounds]
    yield "\n".join(f"- **{escape_markdown(name)}:** {escape_markdown(value)}" for name, value in facts if value)
    if case.links:
        yield "Links: " + ", ".join(f"<{link.url}>" for link in case.links)
    pool = "\n".join(f"{item.rank}. {_item(item)}" for item in case.pool)
    yield f"<details><summary>{escape_markdown(case.pool_title)}</summary>\n\n{pool}\n\n</details>"
    if case.answers:
        columns = [[_item(item) for item in answer.items] for answer in case.answers]
        depth = max(map(len, columns))
        ranks = [str(rank) for rank in range(1, depth + 1)]
        heads = ["", *(escape_markdown(answer.system) for answer in case.answers)]
        summaries = ["", *(escape_markdown(answer.summary) for answer in case.answers)]
        places = zip_longest(ranks, *columns, fillvalue="")
        left: list[Align] = ["left"]
        yield markdown_grid(heads, [summaries, *places], ["right", *left * len(columns)])


def _item(item: Item) -> str:
    return _STATES[item.state].format(escape_markdown(item.text))
