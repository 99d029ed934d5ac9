"""Stage `threads` on a work folder: verdicts, counts and the two silver tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from musicrs_metric.errors import UserError

from ..layout import Work
from ..manifest import Counts, FileHash, StageManifest
from ..mine.rows import VERSION
from ..mine.run import outdated
from ..parquet import ROWS_PER_GROUP, replacing_parquet
from ..pipeline.stage import StageOutput, StageResult, run_stage
from .engines import Tables, connect
from .options import ThreadsOptions

STAGE = "threads"
_ENOUGH = 30  # replies of a month; fewer may all have a score of 1


@dataclass(frozen=True)
class Mined:
    """Mined files of a corpus.

    Attributes:
        inputs: All files, as in the manifest of `mine`.
        submissions: Files of submissions.
        comments: Files of comments.
    """

    inputs: Sequence[FileHash]
    submissions: Sequence[Path]
    comments: Sequence[Path]


def find_mined(work: Work) -> Mined:
    """Find the output of `mine`.

    Raises:
        UserError: `mine` has not ended, an earlier version ran it, files are missing, or there are no submissions or no
            comments.
    """
    manifest = StageManifest.read(work.bronze, "mine")
    if manifest.parameters.get("rows") != VERSION:
        raise UserError(f"{outdated(work, manifest)}; run `python -m builder_scripts mine` on the dumps again")
    inputs = manifest.outputs
    files = [work.bronze / file.path for file in inputs]
    for path in files:
        if not path.is_file():
            raise UserError(f"{path}: no such file, but mine has written it; run mine again")
    submissions = [path for path in files if path.parent == work.submissions]
    comments = [path for path in files if path.parent == work.comments]
    for kind, paths in (("submissions", submissions), ("comments", comments)):
        if not paths:
            raise UserError(f"{work.bronze}: no {kind} were mined; run mine on dumps of {kind} too")
    return Mined(inputs, submissions, comments)


def run(work: Work, options: ThreadsOptions, step: Callable[[str], None] = lambda _: None) -> StageResult:
    """Make `silver/threads.parquet` and `silver/replies.parquet`, unless they are finished.

    Args:
        work: The work folder, with the output of `mine`.
        options: The rules, and the engine. Both engines write the same bytes.
        step: Receives a short text at the start of each step.

    Returns:
        The manifest, and whether it is new.

    Raises:
        UserError: `mine` has not been run, or the engine is missing.
    """
    mined = find_mined(work)

    def body(folder: Path) -> StageOutput:
        with connect(options.engine, folder / "_scratch", memory=options.memory, master=options.master) as tables:
            return _filter(tables, mined, options, work, step)

    packages = ("ibis-framework", "duckdb" if options.engine == "duckdb" else "pyspark", "pyarrow")
    return run_stage(STAGE, work.silver, mined.inputs, options.parameters(), body, packages=packages)


def _filter(
    tables: Tables, mined: Mined, options: ThreadsOptions, work: Work, step: Callable[[str], None]
) -> StageOutput:
    from . import filters

    submissions, comments = tables.read(mined.submissions), tables.read(mined.comments)
    step("judging submissions")
    by_form = tables.keep(filters.judge_submissions(submissions, options))
    step("judging comments")
    by_thread = tables.keep(filters.judge_comments(comments, by_form, options))
    thread_verdicts = tables.keep(filters.require_replies(by_form, by_thread, options))
    reply_verdicts = tables.keep(filters.require_replies(by_thread, by_thread, options))
    step("counting")
    counts = {
        kind: _counts(tables.fetch(filters.count_reasons(verdicts)).to_pylist(), reasons)
        for kind, verdicts, reasons in (
            ("submissions", thread_verdicts, filters.SUBMISSION_REASONS),
            ("comments", reply_verdicts, filters.COMMENT_REASONS),
        )
    }
    for kind, verdicts in (("submissions", thread_verdicts), ("comments", reply_verdicts)):
        signs = tables.fetch(filters.count_signs(verdicts)).to_pylist()
        by_sign = {row["sign"]: row["n"] for row in sorted(signs, key=lambda row: str(row["sign"]))}
        if by_sign:
            counts[f"deleted {kind}"] = Counts(sum(by_sign.values()), 0, by_sign)
    days = tables.fetch(filters.scores_by_day(by_thread)).to_pylist()
    note = suspect_note((day["day"], day["n"], day["ones"]) for day in days)
    step("writing threads and replies")
    threads = filters.silver_threads(submissions, thread_verdicts)
    replies = filters.silver_replies(comments, reply_verdicts, threads)
    _write(work.threads, tables.fetch(threads), threads_schema())
    _write(work.replies, tables.fetch(replies), replies_schema())
    return StageOutput((work.threads, work.replies), counts, [note] if note else [])


def _counts(rows: Iterable[Mapping[str, Any]], order: Sequence[str]) -> Counts:
    by_reason = {row["reason"] or "": row["n"] for row in rows}
    return Counts.by_reason({reason: by_reason[reason] for reason in ("", *order) if reason in by_reason})


def _write(path: Path, rows: Any, schema: Any) -> None:
    with replacing_parquet(path, schema) as writer:
        writer.write_table(rows.cast(schema), ROWS_PER_GROUP)


def suspect_note(days: Iterable[tuple[int, int, int]]) -> str | None:
    """List the months in which more than half of the replies have a score of 1.

    Some dumps hold scores from minutes after the post: for whole months nearly all are 1, the vote of the author. A
    ground truth by upvotes is at chance there.

    Args:
        days: Days since 1970 with their number of scores, and of those that are 1.

    Returns:
        One line. None if there is no such month with at least 30 scores.
    """
    scores, ones = Counter[str](), Counter[str]()
    for day, n, n_ones in days:
        month = f"{datetime.fromtimestamp(day * 86_400, UTC):%Y-%m}"
        scores[month] += n
        ones[month] += n_ones
    suspect = [month for month in sorted(scores) if scores[month] >= _ENOUGH and 2 * ones[month] > scores[month]]
    if not suspect:
        return None
    shares = ", ".join(f"{month} ({ones[month]:,} of {scores[month]:,})" for month in suspect)
    return f"most replies have a score of 1, perhaps captured too early, in {shares}"


def threads_schema() -> Any:
    """Return the `pyarrow.Schema` of `silver/threads.parquet`, one row per thread, sorted by `thread_id`.

    `thread_id` is Reddit's name, `t3_...`. `subreddit` is in lower case. `created_utc` is in seconds since 1970.
    `score` is the last captured one, or null. `author` is a pseudonym, or null for a deleted account. `links` holds
    each linked YouTube video once, with the start of the link.
    """
    import pyarrow as pa

    link = pa.struct([("video_id", pa.string()), ("start_s", pa.float64()), ("url", pa.string())])
    text, number = pa.string(), pa.int64()
    columns = {"thread_id": text, "subreddit": text, "created_utc": number, "score": number}
    return pa.schema(columns | {"title": text, "text": text, "author": text, "links": pa.list_(link)})


def replies_schema() -> Any:
    """Return the `pyarrow.Schema` of `silver/replies.parquet`, one row per first-level reply.

    Sorted by `thread_id` and `comment_id`, Reddit's names `t3_...` and `t1_...`. `is_submitter` marks replies
    by the asker. The other columns are as in `threads_schema`.
    """
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    columns = {"comment_id": text, "thread_id": text, "body": text, "score": number, "author": text}
    return pa.schema(columns | {"created_utc": number, "is_submitter": pa.bool_()})
