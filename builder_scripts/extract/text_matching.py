"""Texts and names brought to one form, and whether a text names a name: the checks that no model is trusted with."""

from __future__ import annotations

import html
import json
import re
import unicodedata

LONGEST = 8_000  # characters of a text that a model is shown; the rest is cut off
# So alike must the words of a text be to a name that was copied from it.
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
    """Undo what Reddit did to a text: HTML escapes, zero-width characters, halves of surrogate pairs; ends trimmed."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return html.unescape(whole).translate(_ZERO_WIDTH).strip()


def without_links(text: str) -> str:
    """Put `(link)` where an address stands; the words of a Markdown link stay."""
    return _LINK.sub("(link)", text).replace("((link))", "(link)")


def quoted(text: str) -> str:
    """A text for a prompt: no links, at most `LONGEST`, and a JSON string, so that it cannot end its own quotation."""
    return json.dumps(without_links(plain(text))[:LONGEST], ensure_ascii=False)


def tidy(name: str) -> str:
    """A name on one line and out of its quotes or asterisks.

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
    """Words alone: no case, no accents of Latin letters, no punctuation, single blanks.

    Examples:
        >>> folded("Sigur Rós – Don't_Look!")
        'sigur ros dont look'
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    composed = unicodedata.normalize("NFC", _ACCENTS.sub("", letters))
    return _NO_WORD.sub(" ", _APOSTROPHES.sub("", composed)).strip()


class Words:
    """A text in which names are looked for.

    Args:
        text: Any text; its form is made once.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = folded(text)
        self._windows: dict[int, list[str]] = {}

    def name(self, name: str) -> bool:
        """Tell whether the text holds a name in whole words, letter for letter after `folded`.

        A name of signs alone (the band `!!!`) is looked for as it stands. In scripts without blanks between words any
        place will do.
        """
        wanted = folded(name)
        if not wanted:
            return bool(name.strip()) and name.strip() in self._text
        if _UNSPACED.search(wanted):
            return wanted in self._folded
        return f" {wanted} " in f" {self._folded} "

    def resemble(self, name: str) -> bool:
        """Tell whether the text holds a name, or words that are `ALIKE` to it.

        They may be one more or one less, but the numbers among them must be those of the name.
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
