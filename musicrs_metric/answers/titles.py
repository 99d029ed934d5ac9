"""Candidates that a piece of an answer names by title.

The project's matching rule comes first. The steps behind it take a candidate only where no other would do as well:

wrapping    list markers, quotes, emphasis and closing punctuation are taken off, one layer after the other.
form        words and numbers alone decide, after NFKC, HTML entities and case folding (`spelling`): accents, sharps,
            flats and the borders between words stay.
slip        one word of eight letters or more may differ by a vowel, a doubled letter or two letters in turn
            ("Cemetary Gates"). Another word, number, key or part is another work.

Last, `Title - Artist` and its kind: what stands before a dash, a "by", a bracket or the end of a sentence, and what
stands behind a dash or in quotes behind an artist, goes through the same steps, unless what is left says that another
work is meant (`versions`). No title is ever found inside of a piece that has no such border.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..matching import Pool
from .spelling import closed_words, is_one_slip, skeleton, words
from .versions import is_other_work
from .wrapping import unmarked, unwrapped

_MOST_SEPARATORS = 4
_MOST_FOUND = 3_000  # pieces; an answer with more unknown ones is a loop, and no further one is taken apart
_LONGEST = 400  # characters; no title of a song is longer, and text is searched more than once
NUMBER_ALONE = re.compile(r"[\s\[\](){}#.:*_`\"']*(-?\d+)(?:\.0+)?[\s\[\](){}.:*_`\"']*")
_LED_BY = re.compile(r"\s*(?:and|then|finally|next|followed by|und|y|et)\s+", re.IGNORECASE)
_QUOTED = re.compile(r"\s*(?:\*\*|__|[\"“«‘'`„「『])([^\n]{1,300}?)(?:\*\*|__|[\"”»’'`“」』])(?!\w)")
# An artist and the title in quotes; a remark that speaks of another title is longer or has one of these words.
_ARTIST_QUOTED = re.compile(r"\s*(?:[^\s\"“(\[,:;]{1,30}\s{1,3}){1,6}[-–—]?\s?[\"“«„]([^\"”»“\n]{1,200})[\"”»“](?!\w)")
_COMPARES = re.compile(r"\b(?:like|unlike|similar|see|as|than|from|not|to|cf|also|into|with)\b", re.IGNORECASE)
# White space is bounded, for a long run of it would be searched from each of its places.
_DASH = re.compile(r"\s{1,9}[-–—]{1,3}(?=\s)")
_SEPARATOR = re.compile(r"\s{1,9}(?:[-–—]{1,3}(?=\s)|by(?=\s)|(?=[(\[])|(?:feat|ft)\b\.?)", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?](?=\s)")
_FURTHER = re.compile(r"[:,;](?=[\s*_])|\s=(?=\s)|：")
_COUNTED = re.compile(r"\s*#?\d{1,4}\s+(?=\S)")

_Part = tuple[str, str]  # a piece that may be a title, and what follows it


class Titles:
    """A pool that resolves pieces of answers; each distinct piece is worked out once.

    Args:
        pool: The candidates.
        numbered: Whether the prompt asked for numbers: a number alone is then no title.
    """

    def __init__(self, pool: Pool, *, numbered: bool = False) -> None:
        self._pool, self._numbered = pool, numbered
        self._forms: dict[str, int | None] = {}
        self._closed: dict[str, int | None] = {}
        self._slips: dict[str, list[tuple[list[str], int]]] = {}
        for title, place in pool.place.items():
            form = words(title)
            if form and not (len(form) == 1 and form[0].isdecimal()):
                _enter(self._forms, " ".join(form), place)
                _enter(self._closed, closed_words(title), place)
                self._slips.setdefault(skeleton(form), []).append((form, place))
        self._wholes: dict[str, int | None] = {}
        self._finds: dict[tuple[str, bool], int | None] = {}

    def is_title(self, text: str) -> bool:
        """Check whether a piece is a title as it stands, marker and all."""
        return self._pool.resolve(text.strip()) is not None

    def whole(self, text: str) -> int | None:
        """The place of the candidate that a piece names as a whole, or None."""
        if len(text) > _LONGEST:
            return None
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
        if place is None and (len(self._finds) < _MOST_FOUND or (text[:_LONGEST], listed) in self._finds):
            key = (text[:_LONGEST], listed)
            if key not in self._finds:
                named = ((part, rest) for part, rest in _parts(key[0], listed) if self.whole(part) is not None)
                part, rest = next(named, ("", ""))
                self._finds[key] = None if is_other_work(rest) else self.whole(part)
            place = self._finds[key]
        return place

    def _whole(self, text: str) -> int | None:
        if self._numbered and NUMBER_ALONE.fullmatch(text):
            return None
        layers = [piece for rest in unmarked(text) for piece in unwrapped(rest)]
        for piece in layers:
            if self._numbered and self._is_identifier(piece, text):
                continue
            place = self._pool.resolve(piece)
            if place is not None:
                return place
        for rest in unmarked(text):
            place = self._by_form(rest)
            if place is not None:
                return place
        return None

    def _is_identifier(self, piece: str, text: str) -> bool:
        """Check whether a number behind a marker is the identifier asked for, and not a title such as `360`."""
        number = NUMBER_ALONE.fullmatch(piece)
        if number is None:
            return False
        is_echo = text.lstrip(" *_-").startswith("[") and "[" not in piece
        return not is_echo and ("[" in piece or 0 <= int(number[1][:9]) <= len(self._pool))

    def _by_form(self, text: str) -> int | None:
        form = words(text)
        if not form:
            return None
        spaced, closed = " ".join(form), closed_words(text)
        if spaced in self._forms:
            return self._forms[spaced]
        if closed in self._closed:
            return self._closed[closed]
        close = [place for other, place in self._slips.get(skeleton(form), []) if is_one_slip(form, other)]
        return close[0] if len(close) == 1 else None


def _enter(forms: dict[str, int | None], form: str, place: int) -> None:
    forms[form] = None if form in forms else place


def _parts(text: str, listed: bool) -> Iterator[_Part]:
    """Pieces of a piece that may be its title, the likeliest first."""
    *_, rest = unmarked(text)
    # Each with the length of its marker, for in "22. Some Song" the number is that of the item and not the title `22`.
    starts = {text: len(text) - len(rest), rest: 0}
    for start, marker in starts.items():
        for lead in (_LED_BY, _COUNTED):
            led = lead.match(start)
            if led:
                yield start[led.end() :], ""
        quoted = _QUOTED.match(start)
        if quoted and quoted.end() > marker:
            yield quoted[1], start[quoted.end() :]
    for separator in (_SEPARATOR, _SENTENCE, _FURTHER) if listed else (_SEPARATOR, _SENTENCE):
        for start, marker in starts.items():
            # "22 - Some Band" may be either.
            yield from _before(separator, start, 0 if separator is _SEPARATOR else marker)
    for start in starts:
        artist = _ARTIST_QUOTED.match(start)
        if artist and not _COMPARES.search(start, 0, artist.start(1)):
            yield artist[1], start[artist.end() :]
        remark = _FURTHER.search(start) if listed else None
        for border in filter(None, (remark, _DASH.search(start))):  # "My ranking: Title by Artist", "Artist - Title"
            yield start[border.end() :], ""
            yield from _before(_SEPARATOR, start[border.end() :])


def _before(separator: re.Pattern[str], text: str, start: int = 0) -> Iterator[_Part]:
    """Text before one of the first separators, longest first; separators before `start` do not count."""
    ends = islice(separator.finditer(text, start), _MOST_SEPARATORS)
    yield from reversed([(text[: end.start()], text[end.start() :]) for end in ends])
