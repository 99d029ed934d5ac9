"""Wanted subreddits without a row in the dumps. Most often their name is misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from musicrs_metric.errors import some

from ..layout import Work
from .dump_reader import DamagedDumpError, DumpLines
from .run import Mined, Mining

_NAME = re.compile(rb'"subreddit"\s*:\s*"([\w.-]+)"')


def missing_subreddits(mining: Mining, mined: Mined, *, named: bool) -> Iterator[str]:
    """Find the wanted subreddits without a row, and similar names.

    Args:
        mining: The jobs.
        mined: The result.
        named: The user has named the subreddits. Otherwise they are those of the paper: dumps need not hold all, and
            only the lack of all is reported.

    Yields:
        One line per subreddit.
    """
    subreddits = _subreddits_of(mining.work, mined)
    missing = [name for name in mining.parameters["subreddits"] if name not in subreddits]
    if not missing or (subreddits and not named):
        return
    present = sorted((subreddits | _at_the_beginning(Path(report.path) for report in mined.reports)) - set(missing))
    begin = f"they begin with posts of {some(present) or 'none'}"
    if not named:
        yield f"no row of any subreddit of the paper is in the dumps; {begin}"
        return
    for name in missing:
        close = get_close_matches(name, present, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else begin
        yield f"no row of the subreddit {name} is in the dumps; {hint}"


def _subreddits_of(work: Work, mined: Mined) -> set[str]:
    """Return the subreddits of all rows."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    subreddits: set[str] = set()
    for report in mined.reports:
        file = pq.ParquetFile(work.bronze / report.kind / report.rows.path)
        for rows in file.iter_batches(columns=["subreddit"]):
            subreddits.update(pc.unique(rows.column(0)).to_pylist())
    return subreddits


def _at_the_beginning(dumps: Iterable[Path]) -> set[str]:
    """Return the subreddits in the first lines of dumps. A full search would take as long as mining."""
    names: set[str] = set()
    for dump in dumps:
        with suppress(DamagedDumpError):
            _, block = next(DumpLines(dump, lambda _: None).blocks(), (0, b""))
            names.update(name.decode().lower() for name in _NAME.findall(block))
    return names
