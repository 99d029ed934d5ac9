"""Key and URL of a server: checks of both, and removal of the key from texts that are shown."""

from __future__ import annotations

import base64
import html
import ipaddress
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus, urlsplit

from ..errors import UserError, show

EXAMPLE_URL = "http://127.0.0.1:8000/v1"

_WORDS = 200  # characters of a server's words that a message shows
_READ = 100_000  # characters of a server's words that are searched for the key
_PART = 6  # characters of a key that give it away where they appear together
_LONG = 12  # characters from which on a key has parts worth hiding
_SHORT = 8  # characters below which a key is a word, and hidden as a word only
_ENDS = (5, 4, 3, 2)  # characters of a key that servers leave at the end of a masked one
_MASK = r"(?:[*•·x]{2,}|\.{2,}|…)"


@dataclass(frozen=True, repr=False)
class Secret:
    """The key of a server, out of an environment variable.

    Attributes:
        variable: Name of the variable. White space around its value is no part of the key: a file that holds a key
            ends in a line break.

    Raises:
        UserError: The variable holds something that no HTTP header can hold; its value is not shown.
    """

    variable: str

    def __post_init__(self) -> None:
        if not (self.value.isascii() and self.value.isprintable()):
            raise UserError(
                f"${self.variable}: the key contains invalid characters, such as a line break within it or a letter "
                "beyond ASCII; set the variable to the key alone"
            )

    @property
    def value(self) -> str:
        """The key; empty where the variable is unset."""
        return os.environ.get(self.variable, "").strip()

    def hide(self, text: str) -> str:
        """Replace the key in a text, in every form in which a server may repeat it, by `***`.

        Args:
            text: Any text.

        Returns:
            The text without the key, without its escaped forms, without six or more characters of it in a row, and
            without the last characters that servers show after a mask. A key of fewer than 8 characters is replaced
            where it is a word of its own.
        """
        key = self.value
        if not key:
            return text
        forms = sorted(set(_forms(key)), key=len, reverse=True)
        for form in forms:
            text = _without(text, form)
        if len(key) >= _LONG:
            text = _without_parts(text, forms)
            for n in _ENDS:
                text = re.sub(_MASK + re.escape(key[-n:]) + r"(?!\w)", "***", text)
                text = re.sub(r"(?<!\w)" + re.escape(key[:n]) + _MASK, "***", text)
        return text

    def words(self, value: object) -> str:
        """A text as part of a message: on one line, without the key, and only then shortened to 200 characters.

        Args:
            value: What a server sent, or an exception.
        """
        text = "".join(char if char.isprintable() else " " for char in str(value)[:_READ])
        text = " ".join(self.hide(" ".join(text.split())).split())
        return text if len(text) <= _WORDS else f"{text[:_WORDS]}..."


def check_url(url: str, option: str, variable: str) -> None:
    """Refuse a URL that no server has, or that holds a secret: cards, messages and logs show URLs.

    Args:
        url: What the user gave.
        option: The option that holds it, for the message.
        variable: The environment variable that the key belongs into.

    Raises:
        UserError: It is malformed, neither http nor https, or holds a password, a `?` or a `#`. The message shows
            neither the password nor what follows `?` or `#`.
    """
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
        if "[" in parts.netloc:
            ipaddress.IPv6Address(str(parts.hostname))
            is_url = is_url and bool(re.search(r"\](?::\d*)?$", parts.netloc))
    except ValueError:  # such as a bracket that is never closed, or a port that is no number
        is_url = False
    holds_secret = "@" in url.partition("//")[2].partition("/")[0] or bool(re.search(r"[?#]", url))
    if is_url and holds_secret:
        raise UserError(f"{option}: expected a URL without password, `?` and `#`; put the key into ${variable}")
    if not is_url or not url.isprintable() or re.search(r"[\s\\<>\"{}|^`]", url):
        shown = re.sub(r"[?#].*", "?...", re.sub(r".*@", "***@", url, flags=re.DOTALL), flags=re.DOTALL)
        raise UserError(f"{option} {show(Secret(variable).hide(shown))}: expected a URL like {EXAMPLE_URL}")


def _forms(key: str) -> Iterator[str]:
    yield key
    yield json.dumps(key)[1:-1]
    yield repr(key)[1:-1]
    yield quote(key, safe="")
    yield quote_plus(key)
    yield html.escape(key)
    yield base64.b64encode(key.encode()).decode().rstrip("=")


def _without(text: str, form: str) -> str:
    if len(form) < _SHORT:
        return re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "***", text)
    return text.replace(form, "***")


def _without_parts(text: str, forms: list[str]) -> str:
    """Replace each stretch that shares at least six characters in a row with the key, in upper or lower case."""
    lowered = [form.lower() for form in forms]
    parts = {form[at : at + _PART] for form in lowered for at in range(len(form) - _PART + 1)}
    plain = "".join(char.lower() if char.isascii() else char for char in text)  # as long as the text
    kept, at, hidden_to = [], 0, 0
    for at in range(len(text)):
        if plain[at : at + _PART] in parts:
            if at >= hidden_to:
                kept.append("***")
            hidden_to = at + _PART
        if at >= hidden_to:
            kept.append(text[at])
    return "".join(kept)
