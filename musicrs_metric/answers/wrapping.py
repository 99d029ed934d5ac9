"""What models put around a title (list markers, quotes, emphasis) and around an answer (thinking, code fences)."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What a model writes after a hundred titles with a remark each is a loop; it is not read.
MOST_READ = 100_000

_THINK_END = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)
_THINK_START = re.compile(r"<think(?:ing)?>|\[THINK\]", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*\w*[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"</?(?:final|answer|ranking|ranked|result|output|response|list)[a-z_]{0,20}>", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]")

_NUMBER = re.compile(
    r"\s*(?:\*\*|__)?(?:(?:rank|place|no\.?|number)\s)?[#(\[]?\d{1,4}(?:st|nd|rd|th)?"
    r"(?:[.)\]、](?!\d)|:(?=\s|\*)|\s+[-–—](?=\s))[:.]?(?:\*\*|__)?\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*+•‣◦▪●·–—>]|#{1,6})\s+")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!>\"'-])")
_DOUBLE = ("**", "__")
_PAIRS = {'"': '"', "'": "'", "`": "`", "*": "*", "_": "_", "“": "”", "‘": "’", "«": "»", "[": "]", "(": ")", "<": ">"}
_TAIL = " \t,;.:!"


def visible(text: str) -> tuple[str, bool]:
    """Take thinking blocks, fences and tags such as `<answer>` out of an answer.

    Args:
        text: What the model wrote. Some servers hand over only the end of a thinking block.

    Returns:
        What follows the last block, with plain line feeds and at most `MOST_READ` characters of it, and whether a block
        stays open: what an open block says is no answer.
    """
    after = text
    for end in _THINK_END.finditer(text):
        after = text[end.end() :]
    start = _THINK_START.search(after)
    answer = after if start is None else after[: start.start()]
    return _FENCE.sub("", _TAG.sub("\n", _LINE_END.sub("\n", answer[:MOST_READ]))), start is not None


def marker_kind(line: str) -> str | None:
    """Tell "number", "bullet" or None, by the marker that a line starts with."""
    return "number" if _NUMBER.match(line) else "bullet" if _BULLET.match(line) else None


def unmarked(text: str) -> Iterator[str]:
    """The text as it stands, then without one list marker, then without two.

    The order matters: titles such as `30. THOUSAND` or `-Old Fires` look as if they had a marker.
    """
    yield text
    for _ in range(2):
        marker = _NUMBER.match(text) or _BULLET.match(text)
        if marker is None:
            return
        text = text[marker.end() :]
        yield text


def unwrapped(text: str) -> Iterator[str]:
    """The text as it stands, then with less and less around it: closing punctuation, pairs of quotes and the like."""
    text = text.strip()
    yield text
    for _ in range(4):
        closing = _PAIRS.get(text[:1])
        if text[:2] in _DOUBLE and len(text) > 4 and text.endswith(text[:2]):
            text = text[2:-2].strip()
        elif closing is not None and len(text) > 2 and text.endswith(closing):
            text = text[1:-1].strip()
        elif text[-1:] and text[-1] in _TAIL:
            text = text.rstrip(_TAIL)
        else:
            break
        yield text
    plain = _ESCAPE.sub(r"\1", text)
    if plain != text:
        yield plain


def bare(text: str) -> str:
    """An item as it is kept: without marker and wrapping, on one line and not longer than a title."""
    *_, text = unmarked(text)
    *_, text = unwrapped(text)
    return " ".join(text.split())[:200].strip()
