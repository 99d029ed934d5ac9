"""Answers in JSON, or in what models take for it: lists and objects, in prose or bare, whole or cut off.

Libraries that repair JSON do not serve here, for two reasons. A repaired answer must not contain an item that was not
complete, and the time must be linear in the length. This reader goes through each answer once. Where a value breaks
off, it keeps the complete items and continues behind that place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_OPENING = re.compile(r"[\[{]")
_TOKEN = re.compile(
    r"""[\s,]*(?:(?://|\#)[^\n]*\n[\s,]*)*(?:
        (?P<mark>[\[\]{}:])
      | "(?P<text>[^"\\\n]*(?:\\.[^"\\\n]*)*)"
      | '(?P<single>(?:[^\\\n]|\\.){0,300}?)'(?=\s*[,\]}:])
      | (?P<number>-?\d+(?:\.\d+)?)(?=[\s,\]}])
      | (?P<word>null|true|false|None|True|False)\b
    )""",
    re.VERBOSE,
)
_DEEPEST = 12


class JsonValue(NamedTuple):
    """A list or an object in an answer.

    Attributes:
        value: Its complete items.
        start: Where it begins in the text.
        end: Where reading stopped.
        is_open: Whether the text ends before the value does.
    """

    value: Any
    start: int
    end: int
    is_open: bool


def json_values(text: str) -> Iterator[JsonValue]:
    """Find the lists and objects of an answer, from left to right; what is within one is not found again.

    Args:
        text: What is visible of an answer.
    """
    at = 0
    while opening := _OPENING.search(text, at):
        reader = _Walk(text, opening.start())
        value = reader.value()
        at = max(reader.at, opening.end())
        if value and not _is_identifier(value) and (reader.is_whole or reader.is_open or _has_text(value)):
            yield JsonValue(value, opening.start(), at, reader.is_open)


def _is_identifier(value: Any) -> bool:
    """Check whether a value is what a footnote or an answer by number is made of, such as `[7]`."""
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], int | float)


def _has_text(value: Any) -> bool:
    """Check whether a value that is neither whole nor cut off has something that only JSON has: `[4 > 2]` has not."""
    return isinstance(value, dict) or any(isinstance(inner, str | dict | list) for inner in value)


class _Walk:
    """Reads one value: `at` is where it stopped, `is_open` whether the text ended first."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.is_open, self._stopped = text, at, False, False

    @property
    def is_whole(self) -> bool:
        """True if the value was closed."""
        return not self._stopped

    def value(self) -> Any:
        """The value at the opening bracket, as far as it could be read."""
        token = self._token()
        return self._container(token["mark"], 1) if token else None

    def _token(self) -> re.Match[str] | None:
        token = None if self._stopped else _TOKEN.match(self.text, self.at)
        if token is not None:
            self.at = token.end()
        else:
            self._stopped = True
            rest = self.text[self.at : self.at + 1000].strip(" \t\n,")
            # What is open at the end of the text is a piece of a string or of a number, or nothing.
            self.is_open = self.is_open or (not rest) or (rest[0] in "\"'-0123456789" and "\n" not in rest)
        return token

    def _container(self, mark: str, depth: int) -> Any:
        found: list[Any] = []
        pairs: dict[str, Any] = {}
        key: str | None = None
        while token := self._token():
            if token["mark"] in ("]", "}"):
                break
            if token["mark"] == ":":
                if mark == "[" or not found:
                    self._stopped = True
                    break
                key = str(found.pop())
                continue
            if token["mark"]:
                if depth == _DEEPEST:
                    self._stopped = True
                    break
                inner: Any = self._container(token["mark"], depth + 1)
            else:
                inner = _scalar(token)
            if mark == "{" and key is not None:
                pairs[key] = inner
                key = None
            else:
                found.append(inner)
        return pairs or found if mark == "{" else found


def _scalar(token: re.Match[str]) -> Any:
    if token["number"]:
        return float(token["number"]) if "." in token["number"] else int(token["number"][:12])
    if token["word"]:
        return None
    text = token["text"] if token["single"] is None else token["single"]
    try:
        return json.loads(f'"{text}"', strict=False)
    except ValueError:
        return text
