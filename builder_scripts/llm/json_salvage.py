"""JSON out of what a model wrote: as it stands, out of its wrapping, repaired; and which of these it took.

The order matters: a text that is JSON is never "repaired", and a thinking block is never searched for an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from musicrs_metric.base.files import strict_json

SalvageMethod = Literal["strict", "unwrapped", "repaired"]

_OPENING = re.compile(r"[\[{]")
_LENIENT = json.JSONDecoder(strict=False)  # takes raw control characters inside strings


class Found(NamedTuple):
    """A value, and the rung of the ladder that reached it."""

    value: Any
    rung: SalvageMethod


def read_json(text: str, wanted: Callable[[Any], bool]) -> Found | None:
    """Read the JSON value that an answer holds.

    Args:
        text: A finished answer. A thinking block that never closes leaves nothing to read.
        wanted: Tells whether a value has the shape that was asked for; others, such as the `[1]` of a footnote, are
            passed over.

    Returns:
        The first wanted value: the whole text as strict JSON; else the first object or list in it that parses
        (outside of fences, prose and thinking); else what json_repair makes of the text from its first bracket. None
        where none of them is wanted.
    """
    for rung, values in _LADDER:
        for value in values(text):
            if wanted(value):
                return Found(value, rung)
    return None


def _whole(text: str) -> Iterator[Any]:
    try:
        yield strict_json(text)
    except ValueError:
        return


def _inside(text: str) -> Iterator[Any]:
    answer = _after_thinking(text)
    end = 0
    for bracket in _OPENING.finditer(answer):
        if bracket.start() < end:
            continue  # inside of a value that was offered already
        try:
            value, end = _LENIENT.raw_decode(answer, bracket.start())
        except ValueError:
            continue
        except RecursionError:  # as would every bracket inside of this one
            return
        yield value


def _mended(text: str) -> Iterator[Any]:
    import json_repair

    answer = _after_thinking(text)
    bracket = _OPENING.search(answer)
    if bracket is not None:
        try:
            yield json_repair.loads(answer[bracket.start() :], skip_json_loads=True)
        except (ValueError, RecursionError):
            return


def _after_thinking(text: str) -> str:
    """What follows the last thinking block; some servers hand over only its end."""
    answer = text.rpartition("</think>")[2]
    return "" if "<think>" in answer else answer


_LADDER: tuple[tuple[SalvageMethod, Callable[[str], Iterator[Any]]], ...] = (
    ("strict", _whole),
    ("unwrapped", _inside),
    ("repaired", _mended),
)
