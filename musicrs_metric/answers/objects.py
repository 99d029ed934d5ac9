"""Answers in JSON, or in what models take for it: lists and objects, in prose or bare, whole or cut off.

A tolerant reader of its own, because a repaired answer must never hold an item that was not complete, and because the
time must grow with the length alone: it walks each answer once, keeps what was complete when it stops, and goes on
behind the place where it stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_OPENING = re.compile(r"[\[{]")
_TOKEN = re.compile(
    r"""[\s,]*(?:
        (?P<mark>[\[\]{}:])
      | "(?P<text>[^"\\\n]*(?:\\.[^"\\\n]*)*)"
      | '(?P<single>(?:[^\\\n]|\\.){0,300}?)'(?=\s*[,\]}:])
      | (?P<number>-?\d+(?:\.\d+)?)(?=[\s,\]}])
      | (?P<word>null|true|false|None|True|False)\b
    )""",
    re.VERBOSE,
)
_DEEPEST = 12
_TITLE_KEYS = ("title", "name", "song", "track", "candidate", "item", "answer", "id", "number", "index")
_RANK_KEYS = ("rank", "position", "place", "#")


class Group(NamedTuple):
    """What belongs to one list.

    Attributes:
        entries: Titles or numbers, best first.
        is_open: Whether the text ends before the list does.
    """

    entries: list[str | int]
    is_open: bool


class _Entry(NamedTuple):
    value: str | int
    rank: int | None = None


def groups(text: str) -> Iterator[Group]:
    """Find the lists of an answer; objects that follow each other with one title each are one list.

    Args:
        text: What is visible of an answer.
    """
    row: list[_Entry] = []
    at = 0
    while opening := _OPENING.search(text, at):
        reader = _Walk(text, opening.start())
        value = reader.value()
        at = max(reader.at, opening.end())
        entries = _entries(value)
        if isinstance(value, dict) and len(entries) == 1:
            row += entries
        elif entries and not _is_identifier(value):
            yield Group(_ordered(entries), reader.is_open)
    if row:
        yield Group(_ordered(row), reader.is_open)


def _is_identifier(value: Any) -> bool:
    """Whether a value is what a footnote or an answer by number is made of, such as `[7]`."""
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], int)


class _Walk:
    """Reads one value; `at` is where it stopped, `is_open` whether the text ended first."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.is_open, self._stopped = text, at, False, False

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
        return pairs if mark == "{" else found


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


def _entries(value: Any) -> list[_Entry]:
    """Titles and numbers of a value, in the order in which it has them."""
    if isinstance(value, str | int):
        return [_Entry(value)]
    if isinstance(value, list):
        return [entry for inner in value for entry in _entries(inner)]
    return _of_object(value) if isinstance(value, dict) else []


def _of_object(pairs: dict[str, Any]) -> list[_Entry]:
    by_key = {key.strip().lower(): value for key, value in pairs.items()}
    titles = [by_key[key] for key in _TITLE_KEYS if isinstance(by_key.get(key), str | int)]
    if titles:
        ranks = [by_key[key] for key in _RANK_KEYS if isinstance(by_key.get(key), int)]
        return [_Entry(titles[0], ranks[0] if ranks else None)]
    lists = [value for value in pairs.values() if isinstance(value, list | dict)]
    if lists:
        return [entry for value in lists for entry in _entries(value)]
    if pairs and all(isinstance(value, int | float) for value in pairs.values()):
        return [_Entry(key) for key in pairs]  # titles with their ranks or scores
    return [_Entry(value) for value in pairs.values() if isinstance(value, str)]


def _ordered(entries: list[_Entry]) -> list[str | int]:
    ranks = {entry.rank for entry in entries}
    if None not in ranks and len(ranks) == len(entries):
        entries = sorted(entries, key=lambda entry: entry.rank or 0)
    return [entry.value for entry in entries]
