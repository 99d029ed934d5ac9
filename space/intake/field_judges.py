"""Judges of single fields of a submission. Each returns the valid value, or raises `TextError` in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from musicrs_metric.errors import show

from ..board.data import LeaderboardData, PoolDesign
from ..board.table_rows import CHOICES, parameter_count
from ..look_alikes import why_refused
from ..settings import Limits
from .text import TextError, https_link, one_line, without_contact

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_PARAMETERS = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,2})?) ?([kmbt]?)", re.IGNORECASE)
_LARGEST = 1e12


def about_system(limits: Limits) -> dict[str, Callable[[Any], Any]]:
    """Return the judges of the fields that the sender may also edit later."""
    return {
        "name": lambda value: _name(value, limits),
        "reads": choice(CHOICES["reads"]),
        "link": lambda value: https_link(value, most=limits.link),
        "code_link": lambda value: https_link(value, most=limits.link),
        "description": lambda value: _free_of_contact(value, limits.description, "a description", needed=False),
    }


def _free_of_contact(value: Any, most: int, what: str, *, needed: bool = True) -> str:
    return without_contact(one_line(value, most=most, what=what, needed=needed), what=what)


def _name(value: Any, limits: Limits) -> str:
    name = _free_of_contact(value, limits.name, "a name")
    reason = why_refused(name)
    if reason is not None:
        raise TextError(f"found {show(name)}, but {reason}; choose another name, such as 'My CLAP'")
    return name


def choice(choices: Sequence[str]) -> Callable[[Any], str]:
    """Return the judge of a field with fixed values."""

    def judge(value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        found = "nothing" if value in ("", None) else show(value)
        raise TextError(f"found {found}, expected one of {', '.join(choices)}")

    return judge


def yes_or_no(value: Any) -> bool | None:
    """Return true or false as sent; None for a value that is not stated."""
    if value is None or isinstance(value, bool):
        return value
    raise TextError(f"found {show(value)}, expected true or false")


def about_model(limits: Limits) -> dict[str, Callable[[Any], Any]]:
    """Return the judges of the fields that describe model and run."""

    def text(value: Any) -> str | None:
        return one_line(value, most=limits.description, what="text", needed=False) or None

    texts = dict.fromkeys(("licence", "model_id", "model_revision", "hardware"), text)
    return texts | {"trained": yes_or_no, "wall_time_s": _seconds}


def parameters(value: Any) -> int | None:
    """Return a number of parameters from a number, or from text such as "7B"."""
    if value in ("", None):
        return None
    expected = "expected the number of parameters, such as 7000000000 or 7B"
    if isinstance(value, str):
        match = _PARAMETERS.fullmatch(value.strip().replace(",", ""))
        if match is None:
            raise TextError(f"found {show(value)}, {expected}")
        value = float(match[1]) * _UNITS[match[2].lower()]
    number = parameter_count(value)
    if number is None:
        raise TextError(f"found {show(value)}, {expected}")
    return number


def parameters_of_card(value: Any) -> int | None:
    """Return the number of a run card, in which other programs may use the same key for something else."""
    try:
        return parameters(value)
    except TextError:
        return None


def _seconds(value: Any) -> float | None:
    if value in ("", None):
        return None
    try:
        seconds = float(value) if isinstance(value, str) else value
    except ValueError:
        seconds = None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _LARGEST:
        raise TextError(f"found {show(value)}, expected seconds from 0 to {_LARGEST:g}")
    return seconds


def design_named(data: LeaderboardData) -> Callable[[Any], PoolDesign]:
    """Return the judge of the name of a pool design. An empty one means the first design."""

    def judge(name: Any) -> PoolDesign:
        if name in ("", None):
            return data.designs[0]
        if name in data.names:
            return data.design(name)
        raise TextError(f"found {show(name)}, expected {' or '.join(data.names)}")

    return judge


def design_of(data: LeaderboardData) -> Callable[[Any], PoolDesign]:
    """Return the judge of the fingerprint of a run card."""

    def judge(fingerprint: Any) -> PoolDesign:
        design = data.by_fingerprint.get(fingerprint) if isinstance(fingerprint, str) else None
        if design is None:
            names = ", ".join(f"{design.name} ({design.fingerprint[:12]}...)" for design in data.designs)
            raise TextError(
                f"found {show(fingerprint)}, which is no data of this leaderboard; it has the pools {names}"
            )
        return design

    return judge


def plain_field(field: str, limits: Limits) -> Callable[[Any], Any]:
    """Return the judge of another field of the run card: text of one line, or a number that a page can print."""

    def judge(value: Any) -> Any:
        share = value.get("threads") if field == "audio_coverage" and isinstance(value, dict) else None
        if isinstance(share, int | float) and not 0 <= share <= 1:
            raise TextError(f"found {show(share)} for threads, expected a share from 0 to 1")
        return _printable(value, limits)

    return judge


def _printable(value: Any, limits: Limits) -> Any:
    for item in value.values() if isinstance(value, dict) else [value]:
        if isinstance(item, str):
            one_line(item, most=limits.description, what="text", needed=False)
        elif isinstance(item, int | float) and not abs(item) <= _LARGEST:
            raise TextError(f"found {show(item)}, expected a number of at most {_LARGEST:g}")
    if isinstance(value, str):
        return one_line(value, most=limits.description, what="text", needed=False)
    if isinstance(value, dict):
        for key in value:
            one_line(key, most=limits.name, what="a key")
    return value
