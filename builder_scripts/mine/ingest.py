"""One dump into one Parquet file: the unit of work that an executor maps over the dumps."""

from __future__ import annotations

import re
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from musicrs_metric.errors import show

from ..manifest import Counts, FileHash, hash_file
from ..parquet import ROWS_PER_GROUP, replacing_parquet
from .authors import Pseudonyms
from .dump_reader import DamagedDumpError, DumpLines, count_lines
from .dumps import Dump
from .parsing import parse, repair
from .report import DumpReport
from .rows import MAKE_ROW, WITHDRAWN, Row, bronze_schema

_GROUP_BYTES = 1 << 25  # of lines, so that long texts do not pile up either
# More broken lines than this are no accident of a crawler but a damaged file.
_BROKEN_SHARE = 0.001
_BROKEN_FEW = 100
_MALFORMED_SHARE = 0.5
_FIRST_LINES = 100  # none of them is a line of a dump: the file is something else
_DENSE = 0.5  # share of wanted lines from which on searching for them saves nothing


@dataclass(frozen=True)
class Job:
    """One dump to be mined.

    Attributes:
        dump: The compressed file.
        folder: Where its rows are to lie.
        subreddits: Which ones are wanted, in lower case.
        salt: Key of the pseudonyms.
        parameters: All that decides the rows, for the report.
    """

    dump: Dump
    folder: Path
    subreddits: frozenset[str]
    salt: bytes
    parameters: Mapping[str, Any]


def ingest(job: Job, advance: Callable[[int], None] = lambda _: None) -> DumpReport:
    """Mine one dump: its rows in `<folder>/<dump>.parquet`, then its report beside them.

    A damaged dump gives the rows before the damage, and a report that names it. Memory is the window of the dump's
    encoder (up to 2 GiB) and one group of rows, whatever the size of the file.

    Args:
        job: What to do.
        advance: Told how many compressed bytes were read, each time.
    """
    started, cpu_before = perf_counter(), process_time()
    rows = job.folder / f"{job.dump.name}.parquet"
    stat = job.dump.path.stat()
    lines = DumpLines(job.dump.path, advance)
    mining = _Mining(job, lines)
    with replacing_parquet(rows, bronze_schema(job.dump.kind)) as writer, ThreadPoolExecutor(1) as behind:
        written = behind.submit(int)
        for group in mining.groups():
            table = _table(job.dump.name, group, writer.schema)
            written.result()
            written = behind.submit(writer.write_table, table)
        written.result()
    report = DumpReport(
        kind=job.dump.kind,
        dump=FileHash(job.dump.path.as_posix(), stat.st_size, lines.sha256),
        mtime_ns=stat.st_mtime_ns,
        rows=hash_file(rows, below=job.folder),
        parameters=job.parameters,
        counts=mining.counts(),
        withdrawn=dict(sorted(mining.withdrawn.items())),
        repaired=mining.repaired,
        raw_bytes=mining.raw_bytes,
        frames=lines.frames,
        window=lines.window,
        peak_rss=_peak_rss(),
        wall_s=round(perf_counter() - started, 3),
        cpu_s=round(process_time() - cpu_before, 3),
        damage=mining.damage,
    )
    report.write(job.folder)
    return report


class _Mining:
    def __init__(self, job: Job, lines: DumpLines) -> None:
        self._lines, self._subreddits = lines, job.subreddits
        names = "|".join(map(re.escape, sorted(job.subreddits))).encode()
        self._wanted = re.compile(rb'"subreddit"\s*:\s*"(?i:' + names + rb')"')
        self._make_row, self._authors = MAKE_ROW[job.dump.kind], Pseudonyms(job.salt)
        self.damage = ""
        self._beginning = b""
        self.withdrawn = Counter[str]()
        self.raw_bytes = self.repaired = 0
        self._seen = self._tried = self._kept = self._broken = self._malformed = self._elsewhere = 0

    def groups(self) -> Iterator[list[Row]]:
        """Yield rows in groups that memory can hold."""
        group: list[Row] = []
        size = 0
        for at, line in self._candidates():
            row = self._row(line)
            if row is None:
                continue
            group.append((at, *row))
            size += len(line)
            if len(group) == ROWS_PER_GROUP or size > _GROUP_BYTES:
                yield group
                self._kept += len(group)
                group, size = [], 0
        if group:
            yield group
            self._kept += len(group)

    def _candidates(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that name a wanted subreddit somewhere, be it in the post that they share.

        Where most lines of a block are wanted, as in the dump of one subreddit, a search saves nothing: the next block
        gives all its lines.
        """
        dense = False
        try:
            for start, block in self._lines.blocks():
                self._beginning = self._beginning or block
                self.raw_bytes += len(block)
                n, unwanted_before, tried_before = count_lines(block), self._elsewhere, self._tried
                self._seen += n
                yield from self._every_line(start, block) if dense else self._naming_lines(start, block)
                wanted = self._tried - tried_before - (self._elsewhere - unwanted_before)
                dense = wanted > _DENSE * n
        except DamagedDumpError as error:
            self.damage = str(error)

    def _naming_lines(self, start: int, block: bytes) -> Iterator[tuple[int, bytes]]:
        end = 0
        for match in self._wanted.finditer(block):
            if match.start() < end:  # a second one in the line
                continue
            begin = block.rfind(b"\n", end, match.start()) + 1 or end
            end = block.find(b"\n", match.end())
            end = len(block) if end < 0 else end
            self._tried += 1
            yield start + begin, block[begin:end]

    def _every_line(self, start: int, block: bytes) -> Iterator[tuple[int, bytes]]:
        for line in block.split(b"\n"):
            if line:
                self._tried += 1
                yield start, line
            start += len(line) + 1

    def _row(self, line: bytes) -> Row | None:
        value = parse(line)
        was_repaired = value is None
        if value is None:
            value = repair(line)
            if value is None:
                if self._wanted.search(line):
                    self._broken += 1
                else:
                    self._elsewhere += 1
                return None
        subreddit = value.get("subreddit")
        if not isinstance(subreddit, str) or subreddit.lower() not in self._subreddits:
            self._elsewhere += 1
            return None
        self.repaired += was_repaired
        row = self._make_row(value, self._authors)
        if row is None:
            self._malformed += 1
        elif row[WITHDRAWN]:
            self.withdrawn[row[WITHDRAWN]] += 1
        return row

    def counts(self) -> Counts:
        """Say where the lines went, once all groups have been taken."""
        if not self.damage and self._broken > max(_BROKEN_FEW, _BROKEN_SHARE * self._tried):
            self.damage = f"holds {self._broken:,} broken lines among {self._tried:,} of the wanted subreddits"
        if not self.damage and self._malformed > max(_BROKEN_FEW, _MALFORMED_SHARE * self._tried):
            self.damage = (
                f"holds {self._malformed:,} malformed lines among {self._tried:,} of the wanted subreddits; does its "
                "name say submissions where it holds comments, or the other way round?"
            )
        if not self.damage and not self._kept + self._malformed and not _is_dump(self._beginning):
            start = self._beginning[:40].decode("utf-8", "replace")
            self.damage = f"is no dump: expected one JSON object per line with its subreddit, found {show(start)}"
        left_out = {
            "other_subreddit": self._seen - self._tried + self._elsewhere,  # and broken lines that name no wanted one
            "broken": self._broken,
            "malformed": self._malformed,
            "too_long": self._lines.too_long,
            "cut": int(self._lines.cut),
        }
        seen = self._seen + self._lines.too_long + self._lines.cut
        return Counts(seen, self._kept, {reason: n for reason, n in left_out.items() if n})


def _is_dump(beginning: bytes) -> bool:
    """Return True if a file begins with a line of a dump, or is empty."""
    lines = [line for line in beginning.split(b"\n", _FIRST_LINES)[:_FIRST_LINES] if line.strip()]
    values = [parse(line) or repair(line) for line in lines]
    return not values or any(isinstance(value.get("subreddit"), str) for value in values if value)


def _table(dump: str, rows: list[Row], schema: Any) -> Any:
    import pyarrow as pa

    fields = list(schema)[1:]
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), fields, strict=True)]
    return pa.table([pa.repeat(dump, len(rows)), *columns], schema)


def _peak_rss() -> int:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not Linux; this figure may be the parent's
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
