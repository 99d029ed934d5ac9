"""Checks of names, descriptions and links. The server checks them whatever the page allows."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from musicrs_metric.errors import is_unicode, show

# They join letters, and the parts of an emoji. No other invisible character is needed in a name.
_JOINERS = "\u200c\u200d"
# Invisible letters, marks and symbols: fillers, the blank Braille pattern, invisible vowels.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
_MARKS_IN_A_ROW = 4
_ADDRESS = re.compile(r"[^\s@]@[^\s@]+\.[^\s@.]{2,}")
# The last part of a name begins with a letter. A browser reads all others as an IP address.
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?", re.IGNORECASE)


class TextError(ValueError):
    """Invalid text. The message states what was found and what was expected."""


def one_line(text: object, *, most: int, what: str, needed: bool = True) -> str:
    """Return text of one line: composed Unicode, with a single space for each run of white space.

    Args:
        text: The sent value.
        most: Largest number of characters.
        what: Noun for the message, such as "a name".
        needed: True if the text must not be blank.

    Raises:
        TextError: The value is no text, too long, blank although needed, or has invisible characters.
    """
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise TextError(f"found {show(text)}, expected {what}")
    if len(text) > 4 * most:  # before any further processing
        raise TextError(f"found {len(text):,} characters, expected {what} of at most {most}")
    if not is_unicode(text):
        raise TextError(f"found half a surrogate pair, which no file can store; expected {what}")
    line = " ".join(unicodedata.normalize("NFC", text).split())
    for char in line:
        # Control characters, those that change the direction of text, and private or invisible ones.
        hidden = unicodedata.category(char) in ("Cc", "Cf", "Co") and char not in _JOINERS
        if hidden or char in _BLANKS:
            raise TextError(f"found the invisible character U+{ord(char):04X}; remove it")
    if len(line) > most:
        raise TextError(f"found {len(line):,} characters, expected {what} of at most {most}")
    if needed and not any(_is_visible(char) for char in line):
        raise TextError(f"found nothing, expected {what} of 1 to {most} characters")
    if _has_pile(line):
        raise TextError(f"found more than {_MARKS_IN_A_ROW} marks on one letter, expected {what}")
    return line


def without_contact(text: str, *, what: str) -> str:
    """Return text without an e-mail address. A leaderboard is public, and programs collect addresses from it.

    Raises:
        TextError: The text has an e-mail address.
    """
    if _ADDRESS.search(text):
        raise TextError(f"found an e-mail address, which would be public; expected {what} without one")
    return text


def https_link(text: object, *, most: int) -> str | None:
    """Return the URL of a page, or None without one.

    Raises:
        TextError: The text is no https URL of a host with a name.
    """
    link = one_line(text, most=most, what="a link", needed=False)
    if not link:
        return None
    expected = "expected a URL such as https://example.org/page"
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError:
        raise TextError(f"found {show(link)}; {expected}") from None
    if parts.scheme != "https":
        raise TextError(f"found {show(link)}, which does not start with https://; {expected}")
    if parts.username is not None or parts.password is not None:
        raise TextError(f"found a user name before an @; {expected}")
    host = parts.hostname or ""
    if not _HOST.fullmatch(host) or len(host) > 253 or port == 0:
        raise TextError(f"found the host {show(host)}; {expected}")
    if not re.fullmatch(r"[!#-;=?-Z\[\]_a-z~%]+", link):
        raise TextError(f"found {show(link)}, which has spaces, quotes or letters beyond ASCII; write them as %XX")
    return link


def _is_visible(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNPS"


def _has_pile(text: str) -> bool:
    row = 0
    for char in text:
        row = row + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if row > _MARKS_IN_A_ROW:
            return True
    return False
