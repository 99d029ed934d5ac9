"""Titles that a model wrote from memory, without a list of candidates to choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..base.thinking import without_thinking
from ..matching import Pool, normalise
from ..runs.prediction_line import Outcome
from .candidates import Candidates
from .fields import role
from .items import is_talk
from .json_values import json_values
from .markup import MOST_READ, answer_region, plain
from .prose import invented, marked_pieces
from .read import REFUSAL
from .rows import Rows
from .tables import tables
from .wrapping import MarkerKind, bare, marker

_SCALARS = (str, int, float)
_LABEL = re.compile(r"(?:title|song|track|album|piece)\s?\d{0,2}\s?[:：]\s", re.IGNORECASE)
_HEADING = re.compile(r"\s*#{1,6}\s")


class FreeTitles(NamedTuple):
    """The titles of an answer.

    Attributes:
        titles: Distinct titles in order, at most as many as the prompt asks for.
        repeated: Titles that the answer names again.
        surplus: Further distinct titles.
        is_cut: Whether the answer stops in the middle.
        outcome: "ok" with all titles and no repeat, else "truncated" or "repaired"; without a title "empty" if nothing
            was written, "refusal" or "failed".
    """

    titles: tuple[str, ...]
    repeated: int
    surplus: int
    is_cut: bool
    outcome: Outcome


def read_free_titles(text: str, n: int, *, cut: bool) -> FreeTitles:
    """Read titles: of JSON, else of a table, numbered lines, bulleted lines, or bare lines or a row with commas.

    Thinking and wrapping are removed as in `read_answer`. Talk is no title. If the answer stops in the middle, its last
    title is not read.

    Args:
        text: The answer; anything at all.
        n: Titles that the prompt asks for.
        cut: Whether the model was stopped by its budget.
    """
    visible = without_thinking(text.encode(errors="replace").decode()[: 4 * MOST_READ], cut=cut)
    region = answer_region(visible.text)
    answer = plain(region.inside if region and region.inside.strip() else visible.text, numbered=False)
    listed, is_open = _in_json(answer)
    if not listed:
        listed = _in_lines(answer)
        if cut and listed and answer.rstrip().endswith(listed[-1]):
            listed.pop()
    titles = [title for item in listed if any(map(str.isalnum, title := bare(_LABEL.sub("", bare(item)))))]
    by_form: dict[str, str] = {}
    for title in titles:
        by_form.setdefault(normalise(title), title)
    distinct = tuple(by_form.values())
    is_cut = cut or is_open or visible.is_open
    repeated, surplus = len(titles) - len(distinct), max(len(distinct) - n, 0)
    outcome: Outcome = "ok" if len(distinct) >= n and not repeated else "truncated" if is_cut else "repaired"
    if not distinct:
        is_empty = not visible.is_open and not any(map(str.isalnum, answer))
        outcome = "empty" if is_empty else "refusal" if REFUSAL.search(answer) else "failed"
    return FreeTitles(distinct[:n], repeated, surplus, is_cut, outcome)


def _in_json(answer: str) -> tuple[list[str], bool]:
    """Return the titles of the value that names most, and whether the text ends before this value does."""
    found = [(list(_of_value(value.value)), value.is_open) for value in json_values(answer)]
    return max(found, key=lambda titles: len(titles[0]), default=([], False))


def _of_value(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        inner = [item for item in value.values() if isinstance(item, list | dict)]
        named = [item for key, item in value.items() if role(key) == "title" and isinstance(item, _SCALARS)]
        value = inner or named[:1] or list(value.values())
    for item in value if isinstance(value, list) else ():
        if isinstance(item, list | dict):
            yield from _of_value(item)
        elif isinstance(item, _SCALARS) and not isinstance(item, bool):
            yield str(item)


def _in_lines(answer: str) -> list[str]:
    lines = [line for line in answer.split("\n") if line.strip() and not _HEADING.match(line)]
    nothing = Candidates(Pool(()), numbered=False)
    if in_tables := [title for table in tables(lines, nothing, Rows(nothing)) for title in _of_value(table.records)]:
        return in_tables
    kinds: dict[MarkerKind, list[str]] = {"number": [], "bullet": []}
    for line in lines:
        if (found := marker(line)) is not None:
            kinds[found.kind].append(line)
    marked = kinds["number"] or kinds["bullet"]
    if len(marked) > 1 or (marked and len(lines) == 1):
        indent = min(len(line) - len(line.lstrip()) for line in marked)
        return [_title_of(line) for line in marked if len(line) - len(line.lstrip()) == indent]
    if row := invented(answer):
        return [item.text for item in row]
    spoken = [line for line in lines if not is_talk(line)]
    if len(spoken) == 1:  # a sentence that names titles, or the only title
        pieces = list(marked_pieces(spoken[0]))
        return pieces or ([] if REFUSAL.search(spoken[0]) else spoken)
    return spoken


def _title_of(line: str) -> str:
    """Return the title of a line of a list: the piece in bold or quotes that it begins with, else the line."""
    item = line[found.end :] if (found := marker(line)) else line
    piece = re.match(r"\*\*(.+?)\*\*|\"(.+?)\"(?!\w)|“(.+?)”", item)
    return next(filter(None, piece.groups())) if piece else item
