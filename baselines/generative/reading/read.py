"""The reading of one answer, from its text to the account of it."""

from __future__ import annotations

import re

from musicrs_metric.matching import Pool

from .result import Item, Ledger, Reading


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
    items = []
    for part in re.split(r"[,>\n]", text):
        word = part.strip(" []\r")
        if word:
            number = int(word) - 1 if numbered and re.fullmatch(r"\d{1,6}", word) else None
            place = number if number is not None and number < len(pool) else pool.resolve(word)
            items.append(Item(word, place))
    places = tuple(dict.fromkeys(item.place for item in items if item.place is not None))
    unknown = sum(item.place is None for item in items)
    ledger = Ledger(len(places), len(items) - len(places) - unknown, unknown, len(pool) - len(places), cut, False)
    return Reading(places, tuple(items), ledger, "truncated" if cut else "repaired" if places else "failed")
