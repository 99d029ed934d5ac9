"""Text from outside: what may stand in a name, a description or a link, judged on the server whatever a page allows."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from musicrs_metric.errors import is_unicode, show

# Joins letters, and the parts of an emoji, into one; no other character that cannot be seen is needed in a name.
_JOINERS = "\u200c\u200d"
# Letters, marks and symbols that nevertheless show nothing: fillers, the blank Braille pattern, invisible vowels.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
_MARKS_IN_A_ROW = 4
_ADDRESS = re.compile(r"[^\s@]@[^\s@]+\.[^\s@.]{2,}")
# Its last part begins with a letter, as that of a name does; a browser reads all others as the number of a machine.
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?", re.IGNORECASE)


class TextError(ValueError):
    """Text that is not taken; the message says what was found and what was expected."""


def one_line(text: object, *, most: int, what: str, needed: bool = True) -> str:
    """Text for one line, as it was given: composed Unicode, and a single space for white space of any kind.

    Args:
        text: What was sent.
        most: Characters that it may have.
        what: What is expected, such as "a name".
        needed: Whether there must be some.

    Raises:
        TextError: It is no text, too long, blank where it is needed, or holds characters that cannot be seen.
    """
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise TextError(f"found {show(text)}, expected {what}")
    if len(text) > 4 * most:  # before anything is done with it
        raise TextError(f"found {len(text):,} characters, expected {what} of at most {most}")
    if not is_unicode(text):
        raise TextError(f"holds half a surrogate pair, which no file can store; expected {what}")
    line = " ".join(unicodedata.normalize("NFC", text).split())
    for char in line:
        # Control characters, those that turn the direction of the text around them, and private or invisible ones.
        hidden = unicodedata.category(char) in ("Cc", "Cf", "Co") and char not in _JOINERS
        if hidden or char in _BLANKS:
            raise TextError(f"holds the character U+{ord(char):04X}, which cannot be seen; leave it out")
    if len(line) > most:
        raise TextError(f"found {len(line):,} characters, expected {what} of at most {most}")
    if needed and not any(_is_seen(char) for char in line):
        raise TextError(f"found nothing, expected {what} of 1 to {most} characters")
    if _has_pile(line):
        raise TextError(f"piles up more than {_MARKS_IN_A_ROW} marks on one letter; expected {what}")
    return line


def without_contact(text: str, *, what: str) -> str:
    """Text that holds no e-mail address: a board is public, and addresses on it are gathered by machines.

    Raises:
        TextError: It holds one.
    """
    if _ADDRESS.search(text):
        raise TextError(f"holds an e-mail address, which everybody could read; expected {what} without one")
    return text


def https_link(text: object, *, most: int) -> str | None:
    """The address of a page, or None where nothing was given.

    Raises:
        TextError: It is no https address of a host with a name.
    """
    link = one_line(text, most=most, what="a link", needed=False)
    if not link:
        return None
    expected = "expected an address such as https://example.org/page"
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError:
        raise TextError(f"found {show(link)}; {expected}") from None
    if parts.scheme != "https":
        raise TextError(f"found {show(link)}, which does not start with https://; {expected}")
    if parts.username is not None or parts.password is not None:
        raise TextError(f"holds a user name before an @; {expected}")
    host = parts.hostname or ""
    if not _HOST.fullmatch(host) or len(host) > 253 or port == 0:
        raise TextError(f"found the host {show(host)}; {expected}")
    if not re.fullmatch(r"[!#-;=?-Z\[\]_a-z~%]+", link):
        raise TextError(f"found {show(link)}, which holds spaces, quotes or letters beyond ASCII; write them as %XX")
    return link


def host_of(link: str) -> str:
    """What is shown of a link."""
    return urlsplit(link).hostname or link


def _is_seen(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNPS"


def _has_pile(text: str) -> bool:
    row = 0
    for char in text:
        row = row + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if row > _MARKS_IN_A_ROW:
            return True
    return False
