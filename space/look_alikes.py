"""Names that look like other names: reserved ones, and letters of other scripts that look Latin.

The letters are compared by the table of the Unicode consortium (Unicode Technical Standard 39), from
`confusable_homoglyphs`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from musicrs_metric.paper.tables import table1

# Joiners and variation selectors change the look of letters in some scripts, and are invisible by themselves.
_UNSEEN = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_REPORTED = "reported"
_LATIN = ("LATIN", "COMMON", "INHERITED")


def look(name: str) -> str:
    """Return a text that is equal for names that look alike: without case, invisible characters and scripts."""
    visible = _UNSEEN.sub("", unicodedata.normalize("NFKC", name))
    return "".join(map(_prototype, unicodedata.normalize("NFKD", visible)))


def skeleton(name: str) -> str:
    """Return the letters and digits of `look`, without marks, signs and spaces."""
    return "".join(letter for letter in look(name) if letter.isalnum())


def why_refused(name: str) -> str | None:
    """Return the reason in words why a name cannot be given to a submission; None if it can.

    Args:
        name: The name of the system.
    """
    plain = skeleton(name)
    if plain in _reserved():
        return f"it looks like {_reserved()[plain]!r}, a row of the leaderboard itself or of the paper"
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", _UNSEEN.sub("", name)))
    if words and skeleton(words[-1]) == skeleton(_REPORTED):
        return f"its end looks like {_REPORTED!r}, the mark of the results of the paper"
    for word in words:
        foreign = foreign_look_alikes(word)
        if foreign and any(_script(char) == "LATIN" for char in word):
            listed = ", ".join(f"U+{ord(char):04X} ({script.capitalize()})" for char, script in foreign.items())
            return f"the word {word!r} mixes Latin letters with {listed}, which looks Latin"
    return None


def script_mark(name: str) -> str:
    """Return a mark such as " [Cyrillic]" for a name with letters that look Latin and are not; else empty text."""
    scripts = sorted(set(foreign_look_alikes(name).values()))
    others = [char for char in name if char.isalpha() and _script(char) not in _LATIN]
    if not scripts or any(not _looks_latin(char) for char in others):
        return ""  # a word of another script has letters that no Latin letter looks like
    return f" [{', '.join(script.capitalize() for script in scripts)}]"


def foreign_look_alikes(text: str) -> dict[str, str]:
    """Return the letters that look Latin and are not, each with its script, such as "CYRILLIC"."""
    return {
        char: _script(char) for char in text if char.isalpha() and _script(char) not in _LATIN and _looks_latin(char)
    }


@cache
def _reserved() -> dict[str, str]:
    names = ("Chance", *dict.fromkeys(result.system for result in table1()))
    return {skeleton(name): name for name in names}


def _looks_latin(char: str) -> bool:
    return _prototype(char).isascii()


@cache
def _script(char: str) -> str:
    from confusable_homoglyphs import categories

    return str(categories.alias(char))


@cache
def _prototype(char: str) -> str:
    """Return the first ASCII letter or digit, in lower case, that a character looks like; else the character."""
    from confusable_homoglyphs import confusables

    found = confusables.confusables_data.get(char, ())
    alike = {entry["c"].lower() for entry in found if len(entry["c"]) == 1}
    ascii_alike = sorted(letter for letter in {char.lower(), *alike} if letter.isascii() and letter.isalnum())
    letter = ascii_alike[0] if ascii_alike else char.lower()
    # An l, an I and a 1 look alike, and so do an O and a 0.
    return {"i": "1", "l": "1", "o": "0"}.get(letter, letter)
