"""Parquet files and data frames of rankings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import UserError, show
from ..runs.prediction_line import FIELDS, Prediction
from ..runs.references import References
from .columns import from_columns
from .rankings import Rankings


def read(path: Path, references: References) -> Rankings:
    """Read rankings from a Parquet file, long or with one list per thread.

    Args:
        path: The file.
        references: The dataset.

    Returns:
        The rankings.

    Raises:
        UserError: The file cannot be read or has another form.
    """
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]}); write it again") from None
    columns = {name: table.column(name).to_pylist() for name in table.column_names if name != "__index_level_0__"}
    return from_columns(columns, str(path), references)


def from_frame(frame: Any, references: References) -> Rankings:
    """Read rankings from a data frame of pandas or polars.

    Args:
        frame: One row per ranked title (columns thread_id, title, and rank or score), or one row per thread.
        references: The dataset.

    Returns:
        The rankings.

    Raises:
        UserError: It is no data frame, or a cell does not fit.
    """
    if not hasattr(frame, "columns"):
        raise UserError(f"found {show(frame)}, expected a data frame of pandas or polars")
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()  # of pandas: `groupby` and `pivot` leave the threads in the index
    names = [str(name) for name in frame.columns]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"the data frame: the column {twice[0]!r} appears twice, expected distinct names of columns")
    columns = {str(name): [_plain(value) for value in frame[name]] for name in frame.columns}
    return from_columns(columns, "the data frame", references)


def table_of(predictions: Iterable[Prediction]) -> Any:
    """Return predictions as a `pyarrow.Table` with one row per thread and the fields of a prediction file.

    `table_of(predictions).to_pandas()` and `polars.from_arrow(table_of(predictions))` make data frames.
    """
    import pyarrow

    predictions = list(predictions)
    types = (pyarrow.string(), pyarrow.list_(pyarrow.string()), pyarrow.list_(pyarrow.float64()), pyarrow.string())
    schema = pyarrow.schema(list(zip(FIELDS, (*types, pyarrow.int64()), strict=True)))
    return pyarrow.table({name: [getattr(each, name) for each in predictions] for name in FIELDS}, schema)


def _plain(value: Any) -> Any:
    """Return the Python value of a scalar of numpy, and None for a missing value of pandas."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) else value
