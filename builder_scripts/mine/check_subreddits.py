"""Wanted subreddits of which the dumps hold nothing, most often because their name was misspelt."""

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
    """Say which wanted subreddits have no row, and what may have been meant.

    Args:
        mining: The work.
        mined: What came of it.
        named: Whether the user has named the subreddits. Of those of the paper, dumps need not hold all, and they are
            told only where there is none of them.

    Yields:
        One line each.
    """
    found = _found(mining.work, mined)
    missing = [name for name in mining.parameters["subreddits"] if name not in found]
    if not missing or (found and not named):
        return
    there = sorted(found | _at_the_beginning(Path(report.path) for report in mined.reports))
    begin = f"they begin with posts of {some(there) or 'none'}"
    if not named:
        yield f"no row of any subreddit of the paper is in the dumps; {begin}"
        return
    for name in missing:
        close = get_close_matches(name, there, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else begin
        yield f"no row of the subreddit {name} is in the dumps; {hint}"


def _found(work: Work, mined: Mined) -> set[str]:
    """The subreddits of all rows."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    found: set[str] = set()
    for report in mined.reports:
        file = pq.ParquetFile(work.bronze / report.kind / report.rows.path)
        for rows in file.iter_batches(columns=["subreddit"]):
            found.update(pc.unique(rows.column(0)).to_pylist())
    return found


def _at_the_beginning(dumps: Iterable[Path]) -> set[str]:
    """The subreddits that the first lines of dumps name; to look further would take as long as mining."""
    names: set[str] = set()
    for dump in dumps:
        with suppress(DamagedDumpError):
            _, block = next(DumpLines(dump, lambda _: None).blocks(), (0, b""))
            names.update(name.decode().lower() for name in _NAME.findall(block))
    return names
