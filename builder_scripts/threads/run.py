"""The stage: verdicts, counts, and the two silver tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from musicrs_metric.errors import UserError

from ..layout import Work
from ..manifest import Counts, FileHash, StageManifest, hash_files, is_done, versions_of
from ..mine.rows import VERSION
from ..mine.run import outdated
from ..parquet import ROWS_PER_GROUP, replacing_parquet
from .engines import Engine, Tables, connect
from .months import months_of, suspect_note
from .rules import Rules
from .schema import replies_schema, threads_schema

STAGE = "threads"


@dataclass(frozen=True)
class Mined:
    """The mined files that a corpus is made of.

    Attributes:
        inputs: All of them, as the manifest of `mine` has them.
        submissions: Files of submissions.
        comments: Files of comments.
    """

    inputs: Sequence[FileHash]
    submissions: Sequence[Path]
    comments: Sequence[Path]


def find_mined(work: Work) -> Mined:
    """Find what `mine` has made.

    Raises:
        UserError: It was not run to its end, or by an earlier version, its files are gone, or there are no
            submissions or no comments.
    """
    manifest = StageManifest.read(work.bronze, "mine")
    if manifest.parameters.get("rows") != VERSION:
        raise UserError(f"{outdated(work, manifest)}; run `python -m builder_scripts mine` on the dumps again")
    inputs = manifest.outputs
    files = [work.bronze / file.path for file in inputs]
    for path in files:
        if not path.is_file():
            raise UserError(f"{path}: no such file, though mine has made it; run mine again")
    submissions = [path for path in files if path.parent == work.submissions]
    comments = [path for path in files if path.parent == work.comments]
    for kind, found in (("submissions", submissions), ("comments", comments)):
        if not found:
            raise UserError(f"{work.bronze}: no {kind} were mined; run mine on dumps of {kind} too")
    return Mined(inputs, submissions, comments)


def run(
    work: Work,
    rules: Rules,
    engine: Engine = "duckdb",
    *,
    memory: str | None = None,
    master: str | None = None,
    step: Callable[[str], None] = lambda _: None,
) -> tuple[StageManifest, bool]:
    """Make `silver/threads.parquet` and `silver/replies.parquet`, unless they are there.

    Args:
        work: The work folder, mined.
        rules: The rules.
        engine: What to run on; the files are the same byte by byte.
        memory: See `connect`.
        master: See `connect`.
        step: Told what is being done.

    Returns:
        The manifest, and whether anything had to be done.
    """
    started = perf_counter()
    mined = find_mined(work)
    parameters = asdict(rules)
    if is_done(work.silver, STAGE, parameters, mined.inputs):
        return StageManifest.read(work.silver, STAGE), False
    with connect(engine, work.silver / "_scratch", memory=memory, master=master) as tables:
        counts, notes = _filter(tables, mined, rules, work, step)
    manifest = StageManifest(
        STAGE,
        inputs=mined.inputs,
        outputs=hash_files((work.threads, work.replies), below=work.silver),
        parameters=parameters,
        counts=counts,
        wall_s=perf_counter() - started,
        notes=notes,
        versions=versions_of(("ibis-framework", "duckdb" if engine == "duckdb" else "pyspark", "pyarrow")),
    )
    manifest.write(work.silver)
    return manifest, True


def _filter(
    tables: Tables, mined: Mined, rules: Rules, work: Work, step: Callable[[str], None]
) -> tuple[dict[str, Counts], list[str]]:
    from . import filters

    submissions, comments = tables.read(mined.submissions), tables.read(mined.comments)
    step("judging submissions")
    by_form = tables.keep(filters.judge_submissions(submissions, rules))
    step("judging comments")
    by_thread = tables.keep(filters.judge_comments(comments, by_form, rules))
    thread_verdicts = tables.keep(filters.require_replies(by_form, by_thread, rules))
    reply_verdicts = tables.keep(filters.require_replies(by_thread, by_thread, rules))
    step("counting")
    counts = {
        kind: _counts(tables.fetch(filters.count_reasons(verdicts)), reasons)
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
    note = suspect_note(months_of((day["day"], day["n"], day["ones"]) for day in days))
    step("writing threads and replies")
    threads = filters.silver_threads(submissions, thread_verdicts)
    replies = filters.silver_replies(comments, reply_verdicts, threads)
    _write(work.threads, tables.fetch(threads), threads_schema())
    _write(work.replies, tables.fetch(replies), replies_schema())
    return counts, [note] if note else []


def _counts(reasons: Any, order: Iterable[str]) -> Counts:
    found: Mapping[str | None, int] = {row["reason"]: row["n"] for row in reasons.to_pylist()}
    dropped = {reason: found[reason] for reason in order if reason in found}
    return Counts(sum(found.values()), found.get(None, 0), dropped)


def _write(path: Path, rows: Any, schema: Any) -> None:
    with replacing_parquet(path, schema) as writer:
        writer.write_table(rows.cast(schema), ROWS_PER_GROUP)
