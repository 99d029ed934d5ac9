"""Forms of a title under which two spellings are one: letters and digits alone, and one slip in a long word.

A form keeps everything that tells works apart: accents, sharps and flats, the borders between words and between numbers
(`Vol. 1.0` is not `Vol. 10`, `5:11` is not `511`).
"""

from __future__ import annotations

import html
import re
import unicodedata

SHORTEST_SLIP = 8  # letters; shorter words become other words by one letter (Drive, Driven; Wander, Wonder)

_WITHIN_WORDS = dict.fromkeys(map(ord, "'’ʼ`´\u200b\u200c\u200d\ufeff\u2060\xad"))
_SHARP = re.compile(r"\b([a-g])[#♯](?!\w)|♯")
_FLAT = re.compile(r"\b([a-g])b(?=\s(?:major|minor|maj|min)\b)|\b([a-g])?♭")
_RUN = re.compile(r"\d+|[^\W\d_]+")
_DIGIT_GAP = re.compile(r"(?<=\d)[\W_]+(?=\d)")
_ASCII = re.compile(r"[\x00-\x7f]*")
_VOWELS = frozenset("aeiouy")
_DOUBLE = re.compile(r"(.)\1+")


def words(text: str) -> list[str]:
    """The words and numbers of a title, without punctuation, after NFKC, HTML entities and case folding."""
    return _runs(_folded(text))


def closed_words(text: str) -> str:
    """The title as between white space alone, so that `T.R.O.Y.` is `TROY`; numbers stay apart."""
    pieces = (_DIGIT_GAP.sub("\0", piece) for piece in _folded(text).split())
    return " ".join(closed for piece in pieces if (closed := "".join(filter(_is_sign, piece)).replace("\0", " ")))


def skeleton(title: list[str]) -> str:
    """The common part of two spellings of a title that differ by one slip."""
    return " ".join(map(_bones, title))


def is_one_slip(title: list[str], other: list[str]) -> bool:
    """Check whether two titles differ in one long word, by a vowel, a doubled letter or two letters in turn."""
    if len(title) != len(other):
        return False
    different = [pair for pair in zip(title, other, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and _is_slip(*different[0])


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", html.unescape(text)).casefold().translate(_WITHIN_WORDS)
    return _FLAT.sub(r"\1\2 flat ", _SHARP.sub(r"\1 sharp ", folded))


def _runs(folded: str) -> list[str]:
    if _ASCII.fullmatch(folded):
        return _RUN.findall(folded)
    # Combining marks, of which some scripts are full, belong to their letters.
    plain = "".join(c if _is_sign(c) else " " for c in folded)
    return re.findall(r"\d+|[^\s\d]+", plain)


def _is_sign(character: str) -> bool:
    return character == "\0" or character.isalnum() or unicodedata.category(character).startswith("M")


def _base(character: str) -> str:
    return unicodedata.normalize("NFD", character)[0]


def _bones(word: str) -> str:
    if len(word) < SHORTEST_SLIP - 1 or word.isdecimal():
        return word
    kept = (character for character in map(_base, word) if character not in _VOWELS)
    return _DOUBLE.sub(r"\1", "".join(kept).replace("z", "s"))


def _is_slip(word: str, other: str) -> bool:
    if max(len(word), len(other)) < SHORTEST_SLIP or word[0] != other[0] or word[-1] != other[-1]:
        return False
    start = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    end = 0
    while end < min(len(word), len(other)) - start and word[-1 - end] == other[-1 - end]:
        end += 1
    a, b = word[start : len(word) - end], other[start : len(other) - end]
    if len(a) == len(b) == 2:
        return a == b[::-1]
    if len(a) == len(b) == 1:
        return {a, b} == {"s", "z"} or {_base(a), _base(b)} <= _VOWELS
    added = a + b
    return len(added) == 1 and (_base(added) in _VOWELS or added in (word[start - 1], word[start : start + 1]))
