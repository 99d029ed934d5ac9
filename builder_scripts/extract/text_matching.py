"""Normal forms of texts and names, and the search for a name in a text. No model is trusted with these checks."""

from __future__ import annotations

import html
import json
import re
import unicodedata

LONGEST = 8_000  # characters of a text in a prompt; the rest is cut off
# Smallest similarity, in per cent, of a name and the words of a text that it was copied from.
ALIKE = 90
_ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\x00"))
_LINK = re.compile(r"https?://[^\s()<>\[\]]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("['’‘`´ʼ]")
_NUMBER = re.compile(r"\d+")
_NO_WORD = re.compile(r"[\W_]+")
# Scripts that put no blanks between words: Thai, Lao, Khmer, kana, Han.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "'": "'", "‘": "’", "*": "*", "_": "_", "`": "`"}


def plain(text: str) -> str:
    """Undo the changes of Reddit: HTML escapes, zero-width characters, halves of surrogate pairs. Trim the ends."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return html.unescape(whole).translate(_ZERO_WIDTH).strip()


def without_links(text: str) -> str:
    """Replace each URL by `(link)`. The words of a Markdown link stay."""
    return _LINK.sub("(link)", text).replace("((link))", "(link)")


def quoted(text: str) -> str:
    """Return a text for a prompt: without links, cut at `LONGEST`, as a JSON string that cannot end its quotation."""
    return json.dumps(without_links(plain(text))[:LONGEST], ensure_ascii=False)


def tidy(name: str) -> str:
    """Return a name on one line, without quotes or asterisks around it.

    Examples:
        >>> tidy(' **"Say My  Name"** ')
        'Say My Name'
    """
    name = " ".join(plain(name).split())
    while len(name) > 2 and (closing := _PAIRS.get(name[0])) == name[-1]:
        marks, inner = name[0] + closing, name[1:-1].strip()
        core = inner.strip(marks)
        if not core or any(mark in core for mark in marks):  # `"This" and "that"` are not one quotation
            break
        name = inner
    return name


def folded(text: str) -> str:
    """Return the words alone: no case, no accents of Latin letters, no punctuation, single blanks.

    Examples:
        >>> folded("Sigur Rós – Don't_Look!")
        'sigur ros dont look'
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    composed = unicodedata.normalize("NFC", _ACCENTS.sub("", letters))
    return _NO_WORD.sub(" ", _APOSTROPHES.sub("", composed)).strip()


class Words:
    """Search for names in a text.

    Args:
        text: Any text. Its normal form is computed once.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = folded(text)
        self._windows: dict[int, list[str]] = {}

    def name(self, name: str) -> bool:
        """Return True if the text contains a name in whole words, letter by letter after `folded`.

        A name of signs alone (the band `!!!`) must appear unchanged. In scripts without blanks between words, a name
        may appear anywhere.
        """
        wanted = folded(name)
        if not wanted:
            return bool(name.strip()) and name.strip() in self._text
        if _UNSPACED.search(wanted):
            return wanted in self._folded
        return f" {wanted} " in f" {self._folded} "

    def resemble(self, name: str) -> bool:
        """Return True if the text contains a name, or words with a similarity of at least `ALIKE`.

        The number of words may differ by one. Numbers must be equal.
        """
        if self.name(name):
            return True
        from rapidfuzz import fuzz, process

        wanted = folded(name)
        if not wanted:
            return False
        size, numbers = wanted.count(" ") + 1, _NUMBER.findall(wanted)
        windows = [window for n in (size, size - 1, size + 1) if n for window in self._of(n)]
        alike = process.extract_iter(wanted, windows, scorer=fuzz.ratio, score_cutoff=ALIKE)
        return any(_NUMBER.findall(window) == numbers for window, _, _ in alike)

    def _of(self, size: int) -> list[str]:
        if size not in self._windows:
            words = self._folded.split()
            self._windows[size] = [" ".join(words[at : at + size]) for at in range(len(words) - size + 1)]
        return self._windows[size]
