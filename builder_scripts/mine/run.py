"""Stage `mine`: mine the dumps that are not finished, and count all lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from musicrs_metric.base.progress import say
from musicrs_metric.errors import UserError, some

from ..layout import Work
from ..manifest import Counts, FileHash, StageManifest, is_done, versions_of
from .authors import author_salt
from .dumps import Dump
from .executors import Executor, default_workers, run_jobs
from .ingest import Job
from .report import DumpReport, read_report
from .rows import VERSION

if TYPE_CHECKING:
    from rich.console import Console

STAGE = "mine"


@dataclass(frozen=True)
class Mined:
    """Result of the stage.

    Attributes:
        reports: One per dump, by kind and name.
        n_new: Number of dumps that this run has mined.
    """

    reports: Sequence[DumpReport]
    n_new: int

    @property
    def damaged(self) -> list[DumpReport]:
        """Reports of damaged dumps."""
        return [report for report in self.reports if report.damage]

    def counts(self) -> dict[str, Counts]:
        """Return the counts of lines, by kind."""
        total = {kind: Counts(0, 0) for kind in ("submissions", "comments")}
        for report in self.reports:
            total[report.kind] += report.counts
        return total

    def withdrawn(self) -> dict[str, Counts]:
        """Return the kept lines whose texts were withdrawn, by kind and sign. Their texts are not stored."""
        by_sign = {kind: Counter[str]() for kind in ("submissions", "comments")}
        for report in self.reports:
            by_sign[report.kind].update(report.withdrawn)
        return {f"withdrawn {kind}": Counts(n.total(), 0, dict(n)) for kind, n in by_sign.items() if n}


class Mining:
    """Jobs for a set of dumps.

    Args:
        dumps: The dumps, in the order of their start.
        work: The work folder.
        subreddits: Wanted subreddits, in any case.

    Attributes:
        done: Reports of the dumps that an earlier run has mined with the same parameters.
        jobs: Jobs of the other dumps.
    """

    def __init__(self, dumps: Sequence[Dump], work: Work, subreddits: Collection[str]) -> None:
        if not subreddits:
            raise UserError("no subreddit is wanted; name at least one")
        wanted = frozenset(name.lower().removeprefix("r/") for name in subreddits)
        salt = author_salt(work.salt)
        self.work = work
        # The hash reveals nothing of the salt, but distinguishes rows of another salt.
        self.parameters: dict[str, Any] = {
            "rows": VERSION,
            "subreddits": sorted(wanted),
            "salt": sha256(salt).hexdigest()[:8],
        }
        self.done: list[DumpReport] = []
        self.jobs: list[Job] = []
        for dump in dumps:
            folder = _folder(work, dump)
            report = read_report(folder, dump.path, self.parameters)
            if report is None:
                self.jobs.append(Job(dump, folder, wanted, salt, self.parameters))
            else:
                self.done.append(report)

    def replaces(self) -> str:
        """Describe the rows of other subreddits that this run replaces; "" for none."""
        try:
            last = StageManifest.read(self.work.bronze, STAGE)
        except UserError:
            return ""
        n, before = sum(counts.kept for counts in last.counts.values()), last.parameters.get("subreddits", ())
        return f"{n:,} rows of {some(before)}" if n and before != self.parameters["subreddits"] else ""

    def outdated(self) -> str:
        """Describe the rows of an earlier version that this run replaces; "" for none."""
        try:
            last = StageManifest.read(self.work.bronze, STAGE)
        except UserError:
            return ""
        return "" if last.parameters.get("rows") == VERSION else outdated(self.work, last)

    def run(
        self,
        workers: int,
        executor: Executor = "pool",
        master: str | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> Mined:
        """Run the jobs, and write the manifest of the stage; see `run_jobs`."""
        started = perf_counter()
        new: list[DumpReport] = []
        if self.jobs:
            with closing(run_jobs(self.jobs, executor, workers, advance, master)) as reports:
                new.extend(reports)
        mined = Mined(sorted((*self.done, *new), key=lambda report: (report.kind, report.path)), len(new))
        inputs = [report.dump for report in mined.reports]
        if not is_done(self.work.bronze, STAGE, self.parameters, inputs):
            manifest = StageManifest(
                STAGE,
                inputs=inputs,
                outputs=[_below(report.kind, report.rows) for report in mined.reports],
                parameters=self.parameters,
                counts=mined.counts() | mined.withdrawn(),
                wall_s=perf_counter() - started,
                notes=[f"{Path(report.path).name} {report.damage}" for report in mined.damaged],
                versions=versions_of(("zstandard", "orjson", "pyarrow")),
            )
            manifest.write(self.work.bronze)
        return mined


def run_with_progress(
    mining: Mining, workers: int | None, executor: Executor, master: str | None, console: Console
) -> Mined:
    """Run the jobs with a progress bar over the bytes of the dumps.

    Args:
        mining: The jobs.
        workers: Dumps at the same time. None for one per processor, as far as memory allows.
        executor: See `run_jobs`.
        master: See `run_jobs`.
        console: Console of the bar, and of messages about replaced rows.
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    outdated = mining.outdated()
    if outdated:
        say(console, f"{outdated}; all dumps are mined again")
    replaced = mining.replaces()
    if replaced:
        say(console, f"in place of {replaced}, which an earlier run has mined; to keep them, take another work folder")
    todo = [job.dump for job in mining.jobs]
    columns = (TextColumn("Mining"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not todo) as progress:
        task = progress.add_task("", total=sum(dump.path.stat().st_size for dump in todo))
        at_once = workers or default_workers(todo)
        return mining.run(at_once, executor, master, lambda size: progress.update(task, advance=size))


def outdated(work: Work, manifest: StageManifest) -> str:
    """Describe rows that an earlier version has mined."""
    return (
        f"{work.bronze}: mined by an earlier version (rows {manifest.parameters.get('rows')}, now {VERSION}), which "
        "did not read all signs that a text was deleted or removed"
    )


def _folder(work: Work, dump: Dump) -> Path:
    return work.submissions if dump.kind == "submissions" else work.comments


def _below(kind: str, rows: FileHash) -> FileHash:
    return FileHash(f"{kind}/{rows.path}", rows.bytes, rows.sha256)
