"""Keep passwords, tokens and cookies out of messages and out of the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

_HIDDEN = "***"
_LOGIN_IN_URL = re.compile(r"(?<=://)[^/\s@'\"]+(?=@)")
_SHORTEST = 4  # characters; hiding shorter texts would hide words
_SHORTEST_COOKIE = 8  # cookies also hold settings, such as "en"


class Redactor:
    """Replaces secrets in texts.

    Args:
        parameters: Parameters of yt-dlp's Python interface.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._secrets = {text for text in _secrets_of(parameters) if len(text) >= _SHORTEST}

    def hide(self, cookies: Iterable[str]) -> None:
        """Replace the values of cookies too, from now on."""
        self._secrets |= {value for value in cookies if len(value) >= _SHORTEST_COOKIE}

    def __call__(self, text: str) -> str:
        """Return the text with each secret replaced by `***`."""
        text = _LOGIN_IN_URL.sub(_HIDDEN, text)
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text


def _secrets_of(parameters: Mapping[str, Any]) -> Iterator[str]:
    for name in ("proxy", "geo_verification_proxy"):
        if login := _LOGIN_IN_URL.search(str(parameters.get(name) or "")):
            for part in (login[0], *login[0].split(":", 1)[1:]):
                yield from (part, unquote(part))
    yield from map(str, (parameters.get("http_headers") or {}).values())
    for arguments in (parameters.get("extractor_args") or {}).values():
        for name, values in arguments.items():
            if name in ("po_token", "visitor_data", "data_sync_id"):
                # "CLIENT.CONTEXT+TOKEN": the token alone may be repeated in a message
                yield from (part for value in values for part in (value, value.rpartition("+")[2]))
