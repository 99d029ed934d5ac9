"""Candidates in lines, pieces of lines and values of an answer: by title or by number, with rank and score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..matching import Pool
from .entry import Entry
from .result import Item
from .scores import score_in
from .titles import NUMBER_ALONE, Titles
from .wrapping import bare, marker

_LEAD = re.compile(
    r"[\s*_`>+•·●▪◦–—-]*(?:#{1,6}\s+)?[\s*_`]*(?:\(?[a-z][.)]\s+)?(?:(?:and|then|finally|lastly|followed by|&)\s+)?",
    re.IGNORECASE,
)
_LABEL = r"(?:rank|place|position|pos|song|track|item|candidate|title|option|identifier|id|number|no|nr|index|choice)"
_NUMBER = re.compile(
    rf"(?P<label>{_LABEL}\b[.:]?\s?|#|№)?(?P<open>[\[({{\"'*_`$]{{0,4}})#?(?P<digits>-?\d{{1,9}})(?P<zero>\.0+(?!\d))?"
    r"(?P<ordinal>st|nd|rd|th)?(?P<close>[\])}\"'*_`$]{0,4})",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?P<sign>[.)、．](?![\d])|[:：=,](?=[\s\[\]*(#A-Za-z]|$)|\s{1,9}[-–—=](?=\s)|\s?(?:->|→|=>)"
    r"|\t)?[.:*_`)\]]{0,4}\s*[\[(]?\s*"
)
_RANK_WORD = re.compile(r"rank|place|pos", re.IGNORECASE)
_AFTER = re.compile(r"\s*(?:$|[.,;:!?)(\]}|*_`\"'’“”]|[-–—=>→]|\b(?:and|then|und|y|et|is|with|because|as|for)\b)")
# A number with one of these behind it counts something else.
_NO_IDENTIFIER = re.compile(
    r"\s?(?:[/°]\s?\d|%|/|\.\d|:\d\d|(?:bpm|hz|k?m|s|min|points?|stars?|out of)\b)", re.IGNORECASE
)


class Candidates:
    """A pool that resolves lines, pieces and values, by title and, where the prompt asked for them, by number.

    Args:
        pool: The candidates; by number, its distinct ones from 1, in the order of the pool.
        numbered: Whether the prompt asked for numbers.
    """

    def __init__(self, pool: Pool, *, numbered: bool) -> None:
        self.pool, self.numbered = pool, numbered
        self.titles = Titles(pool, numbered=numbered)
        self._places = list(pool.place.values())
        self._entries: dict[tuple[str, bool], Entry | None] = {}

    def __len__(self) -> int:
        return len(self._places)

    def by_number(self, number: int) -> int | None:
        """The place of the candidate with this number; None out of range."""
        return self._places[number - 1] if 1 <= number <= len(self._places) else None

    def goes_on(self, digits: str) -> bool:
        """Check whether digits at which an answer was cut may be the first of a longer number."""
        return digits.isdecimal() and int(digits[:9]) * 10 <= len(self._places)

    def value(self, value: Any) -> Item:
        """The item that a value of a list or an object is."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value)
        number = NUMBER_ALONE.fullmatch(text) if self.numbered else None
        if number:
            return Item(text, self.by_number(int(number[1][:9])))
        entry = self.entry(text, listed=True)
        return self.items([entry])[0] if entry else Item(bare(text), None)

    def entry(self, text: str, *, listed: bool) -> Entry | None:
        """Read a line or a piece that may name a candidate.

        Args:
            text: The line.
            listed: Whether it stands in a list, so that a comma or colon may end a title.

        Returns:
            The entry; None where it names no candidate and has no identifier.
        """
        key = (text, listed)
        if key not in self._entries:
            self._entries[key] = self._entry(text, listed) if text.strip() else None
        return self._entries[key]

    def _entry(self, text: str, listed: bool) -> Entry | None:
        whole = self.titles.whole(text)
        found = self.titles.find(text, listed=listed) if whole is None else whole
        if found is None and not self.numbered:
            return None
        score = None if found is None else score_in(_behind_title(text))
        entry = Entry(bare(text), found, is_plain=whole is not None, score=score)
        if self.numbered:
            return self._numbered(text, entry)
        start = None if self.titles.is_title(text) else marker(text)
        ranked = start is not None and bool(
            re.search(r"rank|place|pos|#|\dst|\dnd|\drd|\dth", text[: start.end], re.IGNORECASE)
        )
        return entry._replace(
            first=start.number if start else None, is_ranked=ranked, marker=text[: start.end] if start else ""
        )

    def _numbered(self, text: str, entry: Entry) -> Entry | None:
        lead = _LEAD.match(text)
        at = lead.end() if lead else 0
        one = _NUMBER.match(text, at)
        if one is None or _NO_IDENTIFIER.match(text, one.end()):
            return entry if entry.title is not None else None
        between = _BETWEEN.match(text, one.end())
        end = between.end() if between else one.end()
        is_bracketed = "[" in one["open"] or "]" in one["close"]
        rest = text[one.end() :]
        is_marked = bool(
            is_bracketed
            or one["label"]
            or ")" in one["close"]
            or (between and between["sign"])
            or not rest.strip(" *_`.)")
            or rest.lstrip()[:1] in "("
        )
        if entry.title is None and not is_marked and not _AFTER.match(text, one.end()):
            return None
        two = _NUMBER.match(text, end) if is_marked and entry.title is None and one["digits"].isdecimal() else None
        if two is not None and _RANK_WORD.match(two["label"] or "") and not _RANK_WORD.match(one["label"] or ""):
            two = None  # "4: rank 1"
        if two is not None and is_bracketed and "[" not in two["open"]:
            two = None  # "[64] 1916" is a number and its title
        second, end_of_number = None, one.end()
        if (
            two is not None
            and not _NO_IDENTIFIER.match(text, two.end())
            and (_AFTER.match(text, two.end()) or "]" in two["close"])
        ):
            second, end_of_number = int(two["digits"]), two.end()
            rest = text[end_of_number:]
        plain = entry.is_plain or not rest.strip(" \t.,;:*_`)]}\"'$")
        return entry._replace(
            text=entry.text
            if entry.title is not None or any(map(str.isalpha, rest))
            else text[one.start() : end_of_number].strip(),
            first=int(one["digits"]),
            second=second,
            score=score_in(rest),
            is_plain=plain,
            is_ranked=bool(_RANK_WORD.match(one["label"] or "") or one["ordinal"]),
            is_bracketed=is_bracketed,
            between=text[one.end() : two.start()] if two is not None and second is not None else "",
        )

    def items(self, entries: Sequence[Entry]) -> list[Item]:
        """The items that entries of one list are.

        If the prompt asked for numbers, the first number of an entry is its rank in two cases: an identifier follows
        it, or most of the titles behind such numbers have other numbers. Otherwise it is the identifier. In a list of
        mere words that are counted from 1, it is a rank, and the entries name no candidate.
        """
        if not self.numbered:
            return [Item(entry.text, entry.title) for entry in entries]
        with_both = [entry for entry in entries if entry.title is not None and entry.first is not None]
        other = sum(entry.title != self.by_number(entry.first or 0) for entry in with_both)
        twice = sum(entry.second is not None for entry in entries)
        merely_counted = (
            not with_both
            and not twice
            and all(
                entry.first == at and not entry.is_bracketed and not entry.is_plain
                for at, entry in enumerate(entries, 1)
            )
        )
        counts = [entry.first for entry in entries] == list(range(1, len(entries) + 1))
        others = 2 * other > len(with_both) and 2 * other >= len(entries)
        ranks = merely_counted or (counts and other > 0) or others or 2 * twice >= len(entries)
        return [self._item(entry, ranks) for entry in entries]

    def _item(self, entry: Entry, ranks: bool) -> Item:
        if entry.title is not None and (ranks or entry.first is None):
            return Item(entry.text, entry.title)
        number = entry.second if entry.second is not None else None if ranks else entry.first
        return Item(entry.text, entry.title if number is None else self.by_number(number))


def _behind_title(text: str) -> str:
    """The text behind the first border after the start of an entry, which may hold a score."""
    border = re.search(r"\s[-–—=|]\s?|[:：=(\[,](?=[\s\d*(]|$)|:\s|\(", text[1:])
    return text[1 + border.start() :] if border else ""
