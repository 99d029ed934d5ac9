"""JSON in the text of a model, by the first method that succeeds: strict, unwrapped, or repaired.

The order matters. A text that is JSON is never repaired, and a thinking block is never searched for an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from musicrs_metric.base.files import strict_json
from musicrs_metric.base.thinking import without_thinking

SalvageMethod = Literal["strict", "unwrapped", "repaired"]

_OPENING = re.compile(r"[\[{]")
_LENIENT = json.JSONDecoder(strict=False)  # takes raw control characters inside strings


class Found(NamedTuple):
    """Value and the method that found it."""

    value: Any
    method: SalvageMethod


def read_json(text: str, wanted: Callable[[Any], bool]) -> Found | None:
    """Read the JSON value in an answer.

    Args:
        text: A finished answer. After an open thinking block there is nothing to read.
        wanted: Returns True for a value of the right form. Other values are skipped, such as the `[1]` of a footnote.

    Returns:
        The first wanted value: the whole text as strict JSON, or the first object or list in it that parses (without
        fences, prose and thinking), or the text from its first bracket, repaired by json_repair. None if there is no
        wanted value.
    """
    for method, values in _METHODS:
        for value in values(text):
            if wanted(value):
                return Found(value, method)
    return None


def _whole(text: str) -> Iterator[Any]:
    try:
        yield strict_json(text)
    except ValueError:
        return


def _inside(text: str) -> Iterator[Any]:
    answer = without_thinking(text).text
    end = 0
    for bracket in _OPENING.finditer(answer):
        if bracket.start() < end:
            continue  # inside of a value that was tried already
        try:
            value, end = _LENIENT.raw_decode(answer, bracket.start())
        except ValueError:
            continue
        except RecursionError:  # every bracket inside of this one would fail, too
            return
        yield value


def _repaired(text: str) -> Iterator[Any]:
    import json_repair

    answer = without_thinking(text).text
    bracket = _OPENING.search(answer)
    if bracket is not None:
        try:
            yield json_repair.loads(answer[bracket.start() :], skip_json_loads=True)
        except (ValueError, RecursionError):
            return


_METHODS: tuple[tuple[SalvageMethod, Callable[[str], Iterator[Any]]], ...] = (
    ("strict", _whole),
    ("unwrapped", _inside),
    ("repaired", _repaired),
)
