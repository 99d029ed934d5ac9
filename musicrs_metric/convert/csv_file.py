"""CSV files of rankings: reader, and writer of the long form.

The writer guards each text against formulas of spreadsheets (`musicrs_metric.base.text.guarded`). The reader removes
the guard from files of this writer. In other files, a cell that names a candidate stays as it is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ..base.text import csv_line, unguarded
from ..errors import UserError, count
from ..matching import Pool
from ..runs.kinds import DELIMITERS
from ..runs.prediction_line import Prediction
from ..runs.references import References
from .columns import FORMS, from_columns
from .rankings import Rankings, text_of

COLUMNS = ("thread_id", "rank", "title", "score", "outcome", "n_answered")


def read(path: Path, references: References) -> Rankings:
    """Read rankings from a CSV file, long or wide. Commas, semicolons, tabs or bars separate its cells.

    Args:
        path: The file, in UTF-8 or UTF-16.
        references: The dataset.

    Returns:
        The rankings.

    Raises:
        UserError: The file has no such form, or a cell does not fit.
    """
    text = text_of(path)
    header = text.lstrip("\r\n").splitlines()[:1]
    if not header:
        raise UserError(f"{path}: holds no line; {FORMS}")
    delimiter = max(DELIMITERS, key=header[0].count)
    lines: list[int] = []
    rows: list[list[str]] = []
    # A title is shorter than a file. Python's own limit of a cell would refuse a ranking in one cell.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if cells:
                rows.append(cells)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num}: not CSV ({error}); expected closed quotes") from None
    names, *cells_of_rows = rows
    doubled = next((name for name in names if name.strip() and names.count(name) > 1), None)
    if doubled is not None:
        raise UserError(f"{path}: the column {doubled!r} appears twice, expected distinct names of columns")
    for line, cells in zip(lines[1:], cells_of_rows, strict=True):
        if len(cells) > len(names) and any(cells[len(names) :]):
            raise UserError(
                f"{path}, line {line}: found {count(len(cells), 'cell')}, expected {len(names)} as in the first line; "
                f"put a title that holds {delimiter!r} between double quotes"
            )
    columns = {name: [cells[i] if i < len(cells) else "" for cells in cells_of_rows] for i, name in enumerate(names)}
    is_own = tuple(names) == COLUMNS
    if is_own:
        columns = {name: [unguarded(cell) for cell in cells] for name, cells in columns.items()}
    result = from_columns(columns, str(path), references, lambda position: f"line {lines[position + 1]}")
    return result if is_own else result._replace(predictions=[*_unguarded(result.predictions, references)])


def lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    """Yield the lines of a CSV file in the long form, with its header.

    Args:
        predictions: Rankings. An empty ranking has one row without rank and title.
    """
    yield csv_line(COLUMNS)
    for prediction in predictions:
        scores = prediction.scores or [""] * len(prediction.ranking)
        ranked: list[tuple[object, str, object]]
        ranked = list(zip(range(1, len(scores) + 1), prediction.ranking, scores, strict=True)) or [("", "", "")]
        answered = "" if prediction.n_answered is None else prediction.n_answered
        for rank, title, score in ranked:
            number = repr(float(score)) if isinstance(score, int | float) else score
            yield csv_line([prediction.thread_id, rank, title, number, prediction.outcome or "", answered])


def _unguarded(predictions: Iterable[Prediction], references: References) -> Iterator[Prediction]:
    """Remove the guard of titles that name no candidate."""
    for prediction in predictions:
        if any(title.startswith("'") or ";'" in title for title in prediction.ranking):
            position = references.position.get(prediction.thread_id)
            pool = Pool(() if position is None else references.candidates[position])
            kept = (title if pool.resolve(title) is not None else unguarded(title) for title in prediction.ranking)
            prediction = replace(prediction, ranking=tuple(kept))
        yield prediction
