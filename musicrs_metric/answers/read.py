"""The reading of one answer: the layout under which it names most candidates, and the account of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..matching import Pool, normalise
from ..runs.prediction_line import Outcome
from .items import is_something, item, n_named
from .lines import from_lines
from .numbers import Numbers
from .objects import groups
from .result import Item, Ledger, Reading
from .separated import SEPARATORS, Separated, invented
from .table import from_table
from .titles import NUMBER_ALONE, Titles
from .wrapping import visible

_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|as an ai\b|unable to|not able to"
    r"|(?:can(?:not|['’]?t| not)|could(?:n['’]t| not)|won['’]t|will not|do(?:n['’]t| not) have)\b)"
    r"|抱歉|无法|不能",
    re.IGNORECASE,
)


class _Layout(NamedTuple):
    items: list[Item]
    is_open: bool = False


def read_answer(text: str, pool: Pool, *, numbered: bool, cut: bool) -> Reading:
    """Read what a model answered.

    Args:
        text: The answer; anything at all.
        pool: The candidates.
        numbered: Whether the prompt asked for numbers: the distinct candidates, counted from 1 in the order of the
            pool. Titles are read all the same; without it a number is only ever a title.
        cut: Whether the model was stopped by its budget.

    Returns:
        The reading; it takes time linear in the length of the text.
    """
    answer, is_thinking = visible(text.encode(errors="replace").decode())
    reader = _Reader(pool, numbered)
    layout = reader.best(answer)
    items = layout.items
    if cut and items and reader.may_go_on(items, answer):
        items = [*items[:-1], items[-1]._replace(place=None)]
    places = tuple(dict.fromkeys(item.place for item in items if item.place is not None))
    n_unknown = sum(item.place is None for item in items)
    ledger = Ledger(
        named=len(places),
        repeated=len(items) - n_unknown - len(places),
        unknown=n_unknown,
        filled=len(pool) - len(places),
        truncated=cut or is_thinking or layout.is_open,
        refusal=not places and _REFUSAL.search(answer) is not None,
    )
    is_empty = not is_thinking and not any(map(str.isalnum, answer))
    return Reading(places, tuple(items), ledger, _outcome(ledger, is_empty))


def _outcome(ledger: Ledger, is_empty: bool) -> Outcome:
    if not ledger.named:
        return "empty" if is_empty else "refusal" if ledger.refusal else "failed"
    if not (ledger.filled or ledger.repeated or ledger.unknown):
        return "ok"
    return "truncated" if ledger.truncated else "repaired"


class _Reader:
    """Reads answers against one pool in every layout."""

    def __init__(self, pool: Pool, numbered: bool) -> None:
        self._pool, self._numbered = pool, numbered
        self._titles, self._numbers = Titles(pool, numbered=numbered), Numbers(pool)

    def best(self, answer: str) -> _Layout:
        """The layout that names most candidates, the first of them where several do.

        An answer that names none has items where it is a list all the same, and none where it is mere talk.
        """
        layouts = [layout._replace(items=list(filter(is_something, layout.items))) for layout in self._layouts(answer)]
        best = max(layouts, key=lambda layout: n_named(layout.items))
        if n_named(best.items):
            return best
        return next((layout for layout in layouts if layout.items), _Layout([]))

    def _layouts(self, answer: str) -> Iterator[_Layout]:
        # Of several lists in one answer, the last is the one that the model settled on.
        for group in reversed(list(groups(answer))):
            yield _Layout([self._entry(entry) for entry in group.entries], group.is_open)
        yield _Layout(from_table(answer, self._titles))
        yield _Layout(from_lines(answer, self._titles))
        for separator in SEPARATORS:
            yield _Layout(Separated(separator, self._titles, self._pool.place).items(answer))
        if self._numbered:
            yield _Layout(self._numbers.items(answer))
        yield _Layout(invented(answer))

    def _entry(self, entry: str | int) -> Item:
        text = str(entry)
        number = NUMBER_ALONE.fullmatch(text) if self._numbered else None
        if number:
            return self._numbers.item(int(number[1][:9]), text)
        return item(text, self._titles.find(text))

    def may_go_on(self, items: Sequence[Item], answer: str) -> bool:
        """Whether the last item stands where the answer was cut, and may be the beginning of another candidate."""
        *before, last = items
        if last.place is None or not last.text or not answer.rstrip().endswith(last.text):
            return False  # a title of punctuation alone, such as `!!!`, has no text left
        if self._numbered and last.text.isdecimal():
            return self._numbers.goes_on(last.text)
        start, named = normalise(last.text), {item.place for item in before}
        return any(
            place != last.place and place not in named and normalise(title).startswith(start)
            for title, place in self._pool.place.items()
        )
