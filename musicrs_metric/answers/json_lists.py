"""The lists that an answer holds in JSON, with their places; objects that follow each other are one list."""

from __future__ import annotations

from collections.abc import Iterator

from .fields import role
from .found import FoundList
from .headings import purpose
from .json_values import JsonValue, json_values
from .values import Values

# What words say of a list, whatever its key says.
_STRONGER = ("final", "draft", "excluded", "remark")
_BETWEEN_OBJECTS = " \t\n\r,;-*•.()0123456789"


def json_lists(text: str, values: Values) -> tuple[list[FoundList], str]:
    """Find the lists in JSON.

    Args:
        text: Plain lines.
        values: The reader of values.

    Returns:
        The lists, and the text with blank lines in their place.
    """
    found: list[FoundList] = []
    pieces: list[str] = []
    end = line = 0
    for group in _grouped(json_values(text), text):
        value = group[0].value if len(group) == 1 else [inner.value for inner in group]
        listing = values.read(value)
        if listing is None or not listing.items:
            continue
        start, stop = group[0].start, group[-1].end
        pieces += [text[end:start], "\n" * text.count("\n", start, stop)]
        line += text.count("\n", end, start)
        last = line + text.count("\n", start, stop)
        # "I left out [1, 3]": the words in front of a list on its line.
        words = text[max(end, text.rfind("\n", end, start) + 1) : start]
        label = purpose(words) if any(map(str.isalpha, words)) else None
        says = label if label in _STRONGER or listing.purpose is None else listing.purpose
        found.append(
            FoundList(
                "values", tuple(listing.listed), tuple(listing.items), line, last, says,
                states_order=listing.states_order, is_plain=listing.states_order, is_open=group[-1].is_open,
            )
        )  # fmt: skip
        end, line = stop, last
    return found, "".join([*pieces, text[end:]])


def _grouped(values: Iterator[JsonValue], text: str) -> Iterator[list[JsonValue]]:
    """Objects that follow each other and hold no lists are one list."""
    group: list[JsonValue] = []
    for value in values:
        if group and not (
            _are_alike(group[-1], value) and not text[group[-1].end : value.start].strip(_BETWEEN_OBJECTS)
        ):
            yield group
            group = []
        group.append(value)
    if group:
        yield group


def _are_alike(one: JsonValue, other: JsonValue) -> bool:
    """Check whether two objects are records of one table, or maps of one title each."""
    if not (_is_flat(one) and _is_flat(other)):
        return False
    return any(map(role, one.value.keys() & other.value.keys())) or len(one.value) == len(other.value) == 1


def _is_flat(value: JsonValue) -> bool:
    return isinstance(value.value, dict) and not any(isinstance(inner, list | dict) for inner in value.value.values())
