"""Which candidate a piece of an answer names.

The project's matching rule comes first. What it leaves open goes through three further steps, each of which takes a
candidate only where no other would do as well:

wrapping    list markers, quotes, emphasis and closing punctuation are taken off, one layer after the other.
form        letters and digits alone decide, after NFKC, HTML entities and case folding; accents stay.
fuzzy       the same number of words, in which only words of four letters and more may differ, each by at most a fifth
            (`rapidfuzz.fuzz.ratio` of 80), and the titles as wholes by at most a tenth (90). One misspelt word passes,
            and an accent left out is one; another number, key, part or missing word does not: of the pairs of different
            works in the published pools, "Symphony No. 6 Fourth Movement" and "... First Movement" are alike to 91,
            "Ballade in G Minor" and "... F Minor" to 94, and both are told apart by the word in which they differ.

Last, `Title - Artist` and its kind: what stands before a dash, a "by", a bracket or the end of a sentence, and what
stands behind a dash, goes through the same steps.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from ..matching import Pool
from .wrapping import unmarked, unwrapped

# An answer with more unknown titles than this is a loop, and no further ones are compared letter by letter.
MOST_COMPARED = 2_000
ALIKE, WORDS_ALIKE, SHORTEST_WORD = 90, 80, 4

_MOST_SEPARATORS = 4
NUMBER_ALONE = re.compile(r"[\s\[\](){}#.:*]*(-?\d+)[\s\[\](){}.:*]*")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WITHIN_WORDS = dict.fromkeys(map(ord, "'’\u200b\u200c\u200d\ufeff"))
_LED_BY = re.compile(r"\s*(?:and|then|finally|next)\s+", re.IGNORECASE)
_QUOTED = re.compile(r"\s*(?:\*\*|__|[\"“«‘'`])([^\n]{1,300}?)(?:\*\*|__|[\"”»’'`])(?!\w)")
# White space is bounded, for a long run of it would be searched from each of its places.
_DASH = re.compile(r"\s{1,9}[-–—]{1,3}(?=\s)")
_SEPARATOR = re.compile(r"\s{1,9}(?:[-–—]{1,3}(?=\s)|by(?=\s)|(?=[(\[])|(?:feat|ft)\b\.?)", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?](?=\s)")
_FURTHER = re.compile(r"[:,;](?=[\s*_])")


class Titles:
    """A pool that resolves pieces of answers; each distinct piece is worked out once.

    Args:
        pool: The candidates.
        numbered: Whether the prompt asked for numbers: a number alone is then no title.
    """

    def __init__(self, pool: Pool, *, numbered: bool = False) -> None:
        self._pool, self._numbered = pool, numbered
        self._by_form: dict[str, int | None] = {}
        self._words: dict[str, int | None] = {}
        for title, place in pool.place.items():
            words = _words(title)
            form = "".join(words)
            if form and not form.isdecimal():  # 5:11 is not 511
                self._by_form[form] = None if form in self._by_form else place
                key = " ".join(words)
                self._words[key] = None if key in self._words else place
        self._wholes: dict[str, int | None] = {}
        self._parts: dict[tuple[str, bool], int | None] = {}
        self._n_compared = 0

    def is_title(self, text: str) -> bool:
        """Whether a piece is a title as it stands, marker and all."""
        return self._pool.resolve(text.strip()) is not None

    def whole(self, text: str) -> int | None:
        """The place of the candidate that a piece names as a whole, or None."""
        if text not in self._wholes:
            self._wholes[text] = self._whole(text)
        return self._wholes[text]

    def find(self, text: str, *, listed: bool = False) -> int | None:
        """The place of the candidate that a piece names, as a whole or in front of its artist, a remark or the like.

        Args:
            text: The piece.
            listed: Whether it stands in a list: then a comma or a colon may end the title, too.
        """
        place = self.whole(text)
        if place is None:
            key = (text, listed)
            if key not in self._parts:
                self._parts[key] = next(self._places(_parts(text, listed)), None)
            place = self._parts[key]
        return place

    def _places(self, texts: Iterable[str]) -> Iterator[int]:
        return (place for text in texts if (place := self.whole(text)) is not None)

    def _whole(self, text: str) -> int | None:
        if self._numbered and NUMBER_ALONE.fullmatch(text):
            return None
        pieces = [piece for rest in unmarked(text) for piece in unwrapped(rest)]
        for piece in pieces:
            place = self._pool.resolve(piece)
            if place is not None:
                return place
        for rest in unmarked(text):
            words = _words(rest)
            place = self._by_form.get("".join(words))
            if place is None:
                place = self._alike(words)
            if place is not None:
                return place
        return None

    def _alike(self, words: list[str]) -> int | None:
        if not words or self._n_compared >= MOST_COMPARED:
            return None
        from rapidfuzz import fuzz, process

        self._n_compared += 1
        found = process.extract(
            " ".join(words), list(self._words), scorer=fuzz.ratio, score_cutoff=ALIKE, limit=None, processor=None
        )
        close = [self._words[key] for key, _, _ in found if _same_words(words, key.split())]
        return close[0] if len(close) == 1 else None


def _words(text: str) -> list[str]:
    """The words of a title, told by letters, digits and marks alone."""
    folded = unicodedata.normalize("NFKC", html.unescape(text)).casefold().translate(_WITHIN_WORDS)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    return "".join(c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in folded).split()


def _same_words(words: list[str], others: list[str]) -> bool:
    from rapidfuzz import fuzz

    return len(words) == len(others) and all(
        a == b
        or (
            min(len(a), len(b)) >= SHORTEST_WORD
            and not any(character.isdecimal() for character in a + b)
            and fuzz.ratio(a, b) >= WORDS_ALIKE
        )
        for a, b in zip(words, others, strict=True)
    )


def _parts(text: str, listed: bool) -> Iterator[str]:
    """Pieces of a piece that may be its title, the likeliest first."""
    *_, rest = unmarked(text)
    # Each with the length of its marker, for in "22. Some Song" the number is that of the item and not the title `22`.
    starts = {text: len(text) - len(rest), rest: 0}
    for start, marker in starts.items():
        led = _LED_BY.match(start)
        if led:
            yield start[led.end() :]
        quoted = _QUOTED.match(start)
        if quoted and quoted.end() > marker:
            yield quoted[1]
    for separator in (_SEPARATOR, _SENTENCE, _FURTHER) if listed else (_SEPARATOR, _SENTENCE):
        for start, marker in starts.items():
            # "22 - Some Band" may be either.
            yield from _before(separator, start, 0 if separator is _SEPARATOR else marker)
    for start in starts:
        remark = _FURTHER.search(start) if listed else None
        if remark:  # "My ranking: Title by Artist"
            yield start[remark.end() :]
            yield from _before(_SEPARATOR, start[remark.end() :])
        dash = _DASH.search(start)
        if dash:  # Artist - Title
            yield start[dash.end() :]


def _before(separator: re.Pattern[str], text: str, start: int = 0) -> Iterator[str]:
    """What stands before one of the first separators, the longest first; separators before `start` do not count."""
    ends = islice(separator.finditer(text, start), _MOST_SEPARATORS)
    yield from reversed([text[: end.start()] for end in ends])
