"""The result of scoring by the rules of another corpus, with the reading of this project where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.files import strict_json
from ...base.numbers import UNDEFINED
from ...base.renderers.terminal import rich_table
from ...base.tables import text_table
from ...errors import UserError, show, some

if TYPE_CHECKING:
    from rich.table import Table

Numbers = dict[str, float]
_COLUMNS = 6  # of one table, so that it fits a terminal


@dataclass(frozen=True)
class RuleScores:
    """Scores by the rules of another corpus.

    Attributes:
        rule: Name of the rules.
        theirs: Column to measure to value, as their script computes it.
        ours: The same for the reading of this project; empty if the dataset is unknown.
        counts: Name to number, such as dialogues and turns.
        differences: Sentences about what the two readings do differently on this file.
    """

    rule: str
    theirs: dict[str, Numbers]
    ours: dict[str, Numbers] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    differences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "as": self.rule,
            "theirs": self.theirs,
            "ours": self.ours,
            "counts": self.counts,
            "differences": list(self.differences),
        }

    def lines(self, title: str) -> Iterator[str | Table]:
        """Yield tables with one row per measure, and the sentences."""
        columns = {f"ours {name}": numbers for name, numbers in self.ours.items()}
        columns |= {f"{self.rule} {name}": numbers for name, numbers in self.theirs.items()}
        names = list(columns)
        for start in range(0, len(names), _COLUMNS):
            shown = names[start : start + _COLUMNS]
            measures = dict.fromkeys(measure for name in shown for measure in columns[name])
            rows = [[measure, *(_cell(columns[name].get(measure)) for name in shown)] for measure in measures]
            yield rich_table(text_table(title, ["measure", *shown], rows), no_wrap=["measure"])
        yield "Counts: " + ", ".join(f"{name} {value}" for name, value in self.counts.items()) + "."
        yield from self.differences


def _cell(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"


def read_records(path: Path, expected: str) -> list[dict[str, Any]]:
    """Read a file of JSON objects: a JSON list, or one object per line.

    Args:
        path: The file.
        expected: What an object holds, for the message.

    Raises:
        UserError: The file cannot be read, or holds something else. The message names the line or row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UserError(f"{path}: cannot be read ({reason}); expected {expected}") from error
    is_list = text.lstrip().startswith("[")
    try:
        values: list[Any] = strict_json(text) if is_list else text.split("\n")
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); expected {expected}") from error
    rows: list[dict[str, Any]] = []
    unit = "row" if is_list else "line"
    for number, value in enumerate(values, 1):
        if not is_list:
            if not value.strip():
                continue
            try:
                value = strict_json(value)
            except ValueError as error:
                raise UserError(f"{path}, line {number}: not JSON ({error}); expected {expected}") from error
        if not isinstance(value, dict):
            raise UserError(f"{path}, {unit} {number}: found {show(value)}, expected {expected}")
        rows.append(value)
    if not rows:
        raise UserError(f"{path}: holds no row; expected {expected}")
    return rows


def texts(row: Mapping[str, Any], name: str, where: str) -> list[str]:
    """Return a list of texts of an object, or raise `UserError`."""
    value = row.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        found = f"found {show(value)}" if name in row else f"no such field among {some(list(row)) or 'none'}"
        raise UserError(f"{where}: {name}: {found}, expected a list of texts")
    return value


def text(row: Mapping[str, Any], name: str, where: str) -> str:
    """Return a text of an object, or raise `UserError`."""
    value = row.get(name)
    if not isinstance(value, str) or not value:
        found = f"found {show(value)}" if name in row else f"no such field among {some(list(row)) or 'none'}"
        raise UserError(f"{where}: {name}: {found}, expected a text")
    return value


def numbers_of(values: Mapping[str, float | None], names: Sequence[str]) -> Numbers:
    """Return the values of some measures, without undefined ones."""
    return {name: value for name in names if (value := values.get(name)) is not None}
