"""The report as one HTML file that needs nothing else: no network, no script, pictures and sound inside."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from pathlib import PurePath

from ..base.tables import Cell, Table
from .document import Answer, Block, Case, Document, Figure, Item, Section, Sound, Text
from .draw import inline_svg
from .threads import ClipAudio

# Nothing may be loaded and nothing run, whatever the texts of a dataset or a run hold.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
)
_WIDE = 11  # columns from which a table is printed across the page
_MEDIA_TYPES = {".flac": "audio/flac", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".opus": "audio/ogg"}


def render_html(document: Document, drawings: Mapping[str, bytes], sounds: Mapping[str, ClipAudio]) -> str:
    """Print a document as a page.

    Args:
        document: The report.
        drawings: Name of each figure to its SVG.
        sounds: Key of each carried clip to its audio.

    Returns:
        The file.
    """
    page = _Page(drawings, sounds)
    style = resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    links = "".join(
        f'<li><a href="#{escape(section.key)}">{escape(section.title)}</a></li>' for section in document.sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{escape(document.title)}</h1>\n{_paragraphs(document.lead)}</header>\n"
        f'<nav aria-label="Contents">\n<ul>{links}</ul>\n</nav>\n<main>\n'
        + "".join(page.section(section) for section in document.sections)
        + "</main>\n<footer>Every number of this page stands in report.json, unrounded ones included.</footer>\n"
        "</body>\n</html>\n"
    )


class _Page:
    """Prints blocks, with the figures and sounds at hand."""

    def __init__(self, drawings: Mapping[str, bytes], sounds: Mapping[str, ClipAudio]) -> None:
        self.drawings, self.sounds = drawings, sounds

    def section(self, section: Section) -> str:
        wide = any(isinstance(block, Table) and len(block.columns) >= _WIDE for block in section.blocks)
        return (
            f'<section id="{escape(section.key)}"{" class=wide" if wide else ""}>\n<h2>{escape(section.title)}</h2>\n'
            + "".join(self.block(block) for block in section.blocks)
            + "</section>\n"
        )

    def block(self, block: Block) -> str:
        match block:
            case Text():
                return _paragraphs([block.text])
            case Table():
                return _table(block)
            case Figure():
                return self.figure(block)
            case Case():
                return self.case(block)

    def figure(self, figure: Figure) -> str:
        drawing = inline_svg(self.drawings[figure.name], escape(figure.caption))
        return (
            f'<figure class="drawing">\n<div class="scroll" tabindex="0">\n{drawing}\n</div>\n'
            f"<figcaption>{escape(figure.caption)}</figcaption>\n"
            f"<details><summary>The numbers of this figure</summary>\n{_table(figure.data)}</details>\n</figure>\n"
        )

    def case(self, case: Case) -> str:
        facts = [(name, escape(value)) for name, value in case.facts]
        if case.ground_truth:
            facts.append(("Ground truth", _list(map(escape, case.ground_truth), "inline")))
        if case.sounds:
            facts.append(("Clips", _list(map(self.sound, case.sounds))))
        if case.links:
            links = (f'<a href="{escape(link.url)}" rel="noreferrer">{escape(link.text)}</a>' for link in case.links)
            facts.append(("Links", _list(links, "inline")))
        described = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>\n" for name, value in facts)
        return (
            f'<article class="case">\n<h3>{escape(case.title)}</h3>\n<p class="why">{escape(case.why)}</p>\n'
            f"<dl>\n{described}</dl>\n"
            f"<details><summary>{escape(case.pool_title)}</summary>\n"
            f'<ol class="pool">{_items(case.pool)}</ol></details>\n'
            f'<div class="answers" tabindex="0" role="group" aria-label="First places of each system">\n'
            + "".join(map(_answer, case.answers))
            + "</div>\n</article>\n"
        )

    def sound(self, sound: Sound) -> str:
        if sound.key is None:
            return f"{escape(sound.label)} ({escape(sound.note)})"
        clip = self.sounds[sound.key]
        media = _MEDIA_TYPES.get(PurePath(clip.name).suffix.lower(), "audio/wav")
        data = base64.b64encode(clip.audio).decode()
        return (
            f'{escape(sound.label)}<audio controls preload="none" aria-label="{escape(sound.label)}" '
            f'src="data:{media};base64,{data}"></audio>'
        )


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>\n" for text in texts)


def _list(items: Iterable[str], kind: str = "") -> str:
    return (f'<ul class="{kind}">' if kind else "<ul>") + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _table(table: Table) -> str:
    heads = "".join(f'<th scope="col" class="{column.align}">{escape(column.text)}</th>' for column in table.columns)
    rows = []
    for row in table.rows:
        kind = f' class="{row.role}"' if row.role else ""
        if row.role == "heading":
            rows.append(
                f'<tr{kind}><th colspan="{len(table.columns)}" scope="rowgroup">{_cell(row.cells[0])}</th></tr>'
            )
            continue
        first, *others = zip(row.cells, table.columns, strict=True)
        cells = "".join(f'<td class="{column.align}">{_cell(cell)}</td>' for cell, column in others)
        rows.append(f'<tr{kind}><th scope="row">{_cell(first[0])}</th>{cells}</tr>')
    notes = "".join(f'<p class="notes">{escape(note)}</p>\n' for note in table.notes)
    return (
        f'<figure class="table">\n<figcaption>{escape(table.caption)}</figcaption>\n'
        f'<div class="scroll" tabindex="0">\n<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + f"\n</tbody>\n</table>\n</div>\n{notes}</figure>\n"
    )


def _cell(cell: Cell) -> str:
    parts = []
    for part in cell.parts:
        text = escape(part.text)
        text = f'<span class="{part.emphasis}">{text}</span>' if part.emphasis else text
        parts.append(text + (f'<span class="sign">{escape(part.sign)}</span>' if part.sign else ""))
    return " / ".join(parts) + (f"<small>{escape(cell.detail).replace(chr(10), '<br>')}</small>" if cell.detail else "")


def _answer(answer: Answer) -> str:
    ranking = f"<ol>{_items(answer.items)}</ol>" if answer.items else ""
    return f'<div class="answer"><h4>{escape(answer.system)}</h4><p>{escape(answer.summary)}</p>{ranking}</div>\n'


def _items(items: Iterable[Item]) -> str:
    return "".join(map(_item, items))


def _item(item: Item) -> str:
    kind = "" if item.state == "miss" else f' class="{item.state}"'
    return f'<li value="{escape(item.rank)}"{kind}>{escape(item.text)}</li>'
