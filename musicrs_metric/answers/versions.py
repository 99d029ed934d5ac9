"""Other works with the same first words: a remix, a live take, another part or another key is not the plain title."""

from __future__ import annotations

import re

_VERSION = re.compile(
    r"\b(?:re-?mix(?:ed|es)?|mix|edit|live|acoustic|unplugged|cover(?:ed|s)?|instrumental|demo|karaoke"
    r"|re-?work(?:ed)?"
    r"|remake|bootleg|mash-?up|dub|vip|flip|reprise|orchestral|symphonic|a ?cappella|stripped|slowed|sped[ -]up"
    r"|nightcore"
    r"|8-?bit|tribute|medley|sessions?|version|ver|re-?recorded|extended|chopped|parody|piano arrangement|arrangement"
    r"|transcription|arr)\b",
    re.IGNORECASE,
)
# The recording that the plain title stands for, under a longer name.
_SAME = re.compile(
    r"\b(?:taylor['’]?s|album|original|single|official|full|studio|standard|explicit|clean"
    r"|remaster(?:ed)?)\s+version\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:(?:op(?:us)?|no|nr|pt|part|vol(?:ume)?|mvt|mov(?:ement)?|act|book|bwv|kv?|hob|chapter)\b\.?\s?(?:\d"
    r"|[ivx]{1,5}\b)"
    r"|(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|last)\s(?:movement|part|volume)\b"
    r"|[a-g](?:[#♯♭b]|[ -](?:sharp|flat))?\s(?:major|minor|dur|moll)\b)",
    re.IGNORECASE,
)
_IN_KEY = re.compile(r"in [A-G](?:[#♯♭b]|[ -](?:sharp|flat))?$")
_BRACKETS = re.compile(r"[(\[]([^()\[\]\n]{1,80})[)\]]")
_SEGMENT = re.compile(r"\s[-–—]{1,3}\s|[:,;/|]\s")
_SENTENCE = re.compile(r"[.!?]\s")
_LIVE_AT = re.compile(r"live (?:at|in|from|on|@)\b", re.IGNORECASE)
_LONGEST_BRACKET, _LONGEST_SEGMENT = 8, 5  # words


def is_other_work(rest: str) -> bool:
    """Check whether what follows a title says that another work or another version is meant.

    An artist, a year, guests ("feat."), a remaster or a remark leave the work what it is. A version is what is called
    so in brackets, or in a short piece behind a dash, comma or colon that ends in the word ("Nightferry Remix").

    Args:
        rest: The text behind the title, in the same item.
    """
    rest = _SAME.sub(" ", rest[:200])
    for bracket in _BRACKETS.finditer(rest):
        words = bracket[1].strip()
        short = len(words.split()) <= _LONGEST_BRACKET
        if short and (_VERSION.search(words) or _PART.search(words) or _IN_KEY.match(words)):
            return True
    return any(map(_is_version, _SEGMENT.split(_BRACKETS.sub(" ", rest))))


def starts_with_part(text: str) -> bool:
    """Check whether a piece is but the number of a part, such as "Pt. 2", which belongs to the title before it."""
    return _PART.match(text.lstrip()) is not None


def _is_version(segment: str) -> bool:
    segment = segment.strip(" \t*_`'\"“”.,;:-–—")
    if _PART.match(segment):
        return True
    words = _SENTENCE.split(segment, maxsplit=1)[0].strip(" \t*_`'\"“”.,;:-–—")
    if len(words.split()) > _LONGEST_SEGMENT:
        return False
    *_, last = [None, *_VERSION.finditer(words)]
    ends = last is not None and last.end() == len(words)
    return ends or _LIVE_AT.match(words) is not None
