"""One line of a dump into a Python object, over years of dumps: changing types, and escapes that no text can hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from time import time
from typing import Any

import orjson

_INT64 = 1 << 63
FIRST_POST = 1_118_000_000  # June 2005: Reddit opens
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NOW = int(time()) + 86_400  # nothing in a dump was written later, wherever its clock stands


def parse(line: bytes) -> dict[str, Any] | None:
    """Parse a line by the letter of the standard; None where it holds no object."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def repair(line: bytes) -> dict[str, Any] | None:
    """Parse a line that `parse` refuses for a character: half of a surrogate pair, a raw control, a byte of no UTF-8.

    Returns:
        The object, with nothing but that character lost or to be lost in `plain_text`; None where the line holds none.
    """
    try:
        value = json.loads(line.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def seconds(value: object) -> int | None:
    """Read a time in seconds since 1970, which dumps also give in milli-, micro- or nanoseconds, as text, or as a date.

    Returns:
        The time without its fraction; None where it is none, before 1970 or in the future.
    """
    if type(value) is int and 0 <= value <= _NOW:
        return value
    when = whole_number(value)
    if when is None and isinstance(value, str):
        when = _seconds_of_date(value)
    if when is None or when < 0:
        return None
    if when <= _NOW:
        return when
    for unit in (1_000, 1_000_000, 1_000_000_000):
        if FIRST_POST <= when // unit <= _NOW:
            return when // unit
    return None


def is_missing(value: object) -> bool:
    """Return True for null. Tables with gaps write it as an empty text, as the word, or as NaN."""
    if isinstance(value, str):
        return value.strip().lower() in ("", "null", "none", "nan")
    return value is None or value != value  # NaN is not equal to itself


def flag(value: object) -> bool | None:
    """Read a truth value, which tables write as a number or a text. None for other values."""
    if isinstance(value, bool) or value is None:
        return value
    return {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}.get(str(value).lower())


def base36(number: int) -> str:
    """Write a number of 0 or more as Reddit writes ids."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _seconds_of_date(text: str) -> int | None:
    try:
        date = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    return int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())


def whole_number(value: object) -> int | None:
    """Read a count or a time that dumps give as 1330560000, "1330560000" or 1330560000.0.

    Returns:
        The number without its fraction; None where it is none, not finite or beyond 64 bits.
    """
    if type(value) is not int:
        if not isinstance(value, float | str):
            return None
        try:
            value = int(float(value))
        except (ValueError, OverflowError):
            return None
    return value if -_INT64 <= value < _INT64 else None


def plain_text(value: object) -> str:
    """Make a text of a dump one that can be stored and read.

    Reddit escapes `&`, `<` and `>` once, and nothing else, so that is undone. Halves of surrogate pairs become U+FFFD;
    NUL characters are taken out.

    Returns:
        The text; "" where the value is none.
    """
    if not isinstance(value, str):
        return ""
    if "&" in value:
        value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    if "\0" in value:
        value = value.replace("\0", "")
    return value if value.isascii() else whole_characters(value)


def whole_characters(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold, by U+FFFD; two that meet become one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
