"""Filters as Ibis expressions over mined rows, equal for every engine.

Each row gets a verdict: the first reason to drop it, or null. One table thus counts kept and dropped rows. Verdicts are
narrow: `dump` and `at` identify a row, and only kept rows fetch their texts at the end. The expressions give equal
results on DuckDB and Spark: no regular expressions, no trimming, no time zones, no ordered aggregates. `mine` has done
such work before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis
from ibis import _

from .options import ThreadsOptions

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, StringValue, Table

ROW = ("dump", "at")
_NEVER = 1 << 62  # later than any capture
SUBMISSION_REASONS = ("duplicate", "deleted", "bot", "no_link", "few_replies")
COMMENT_REASONS = (
    "duplicate",
    "orphan",
    "thread_left_out",
    "nested",
    "deleted",
    "bot",
    "stickied",
    "short",
    "few_replies",
)


def mark_copies(rows: Table, key: str, options: ThreadsOptions) -> Table:
    """Number the copies of each submission or comment in a column `nth`, 0 for the one that counts."""
    withdrawn = rows.withdrawn.notnull()
    if options.keep_deleted:
        rows = rows.mutate(last=rows.retrieved_on.fill_null(-1), gone=withdrawn)
        order = [ibis.asc(_.gone), ibis.desc(_.last)]
    else:
        # A withdrawal is final: only a capture that is known to be later can undo it.
        unknown = ibis.cases((withdrawn, _NEVER), else_=-1)
        rows = rows.mutate(last=ibis.coalesce(rows.retrieved_on, unknown), gone=withdrawn)
        order = [ibis.desc(_.last), ibis.desc(_.gone)]
    order += [ibis.desc(_.dump), ibis.desc(_["at"])]
    return rows.mutate(nth=ibis.row_number().over(group_by=key, order_by=order)).drop("last", "gone")


def judge_submissions(submissions: Table, options: ThreadsOptions) -> Table:
    """Return the verdicts of submissions, without their replies.

    Args:
        submissions: Mined submissions.
        options: The rules.

    Returns:
        `dump`, `at`, `thread_id`, `author`, `withdrawn` and `reason`, one row per submission.
    """
    marked = mark_copies(submissions, "thread_id", options)
    reason = _first(
        (marked.nth > 0, "duplicate"),
        (marked.withdrawn.notnull(), "deleted"),
        (marked.bot & (not options.keep_bots), "bot"),
        (marked.links.length() == 0, "no_link"),
    )
    return marked.select(*ROW, "thread_id", "author", "withdrawn", reason=reason)


def judge_comments(comments: Table, threads: Table, options: ThreadsOptions) -> Table:
    """Return the verdicts of comments, by themselves and by their thread.

    Args:
        comments: Mined comments.
        threads: Verdicts of `judge_submissions`.
        options: The rules.

    Returns:
        `dump`, `at`, `thread_id`, `created_utc`, `score`, `withdrawn`, `by_asker` and `reason`, a row per comment.
    """
    counted = threads.filter(_.reason.isnull() | (_.reason != "duplicate"))
    about = counted.select(about="thread_id", thread_reason="reason", asker="author")
    copies = mark_copies(comments, "comment_id", options)
    marked = copies.left_join(about, copies.thread_id == about.about)
    reason = _first(
        (marked.nth > 0, "duplicate"),
        (marked.about.isnull(), "orphan"),
        (marked.thread_reason.notnull(), "thread_left_out"),
        (marked.parent_id != marked.thread_id, "nested"),
        (marked.withdrawn.notnull(), "deleted"),
        (marked.bot & (not options.keep_bots), "bot"),
        (marked.stickied & (not options.keep_stickied), "stickied"),
        (marked.chars < options.min_chars, "short"),
    )
    by_asker = _by_asker(marked)
    return marked.select(*ROW, "thread_id", "created_utc", "score", "withdrawn", by_asker=by_asker, reason=reason)


def require_replies(verdicts: Table, comments: Table, options: ThreadsOptions) -> Table:
    """Drop threads with too few replies, and the comments in them.

    Args:
        verdicts: Verdicts of submissions or comments.
        comments: Verdicts of comments.
        options: The rules.
    """
    kept = comments.filter(_.reason.isnull())
    if not options.asker_counts:
        kept = kept.filter(~_.by_asker)
    answered = kept.group_by("thread_id").agg(n=_.count()).filter(_.n >= options.min_replies)
    names = answered.select(answered="thread_id")
    joined = verdicts.left_join(names, verdicts.thread_id == names.answered)
    few = joined.reason.isnull() & joined.answered.isnull()
    return joined.mutate(reason=ibis.cases((few, "few_replies"), else_=joined.reason)).drop("answered")


def silver_threads(submissions: Table, verdicts: Table) -> Table:
    """Return the kept threads, in the columns and the order of `threads_schema`."""
    kept = submissions.semi_join(verdicts.filter(_.reason.isnull()), ROW)
    columns = ("thread_id", "subreddit", "created_utc", "score", "title", "text", "author", "links")
    return kept.select(*columns).order_by("thread_id")


def silver_replies(comments: Table, verdicts: Table, threads: Table) -> Table:
    """Return the kept replies, in the columns and the order of `replies_schema`.

    Args:
        comments: Mined comments.
        verdicts: Their verdicts.
        threads: The kept threads, with their authors.
    """
    kept = comments.semi_join(verdicts.filter(_.reason.isnull()), ROW)
    askers = threads.select(asked="thread_id", asker="author")
    joined = kept.join(askers, kept.thread_id == askers.asked)
    columns = ("comment_id", "thread_id", "body", "score", "author", "created_utc")
    return joined.select(*columns, is_submitter=_by_asker(joined)).order_by("thread_id", "comment_id")


def count_reasons(verdicts: Table) -> Table:
    """Count rows by `reason`, in a column `n`."""
    return verdicts.group_by("reason").agg(n=_.count())


def count_signs(verdicts: Table) -> Table:
    """Count the rows dropped as `deleted` by their sign of withdrawal (`sign`), in a column `n`."""
    return verdicts.filter(_.reason == "deleted").group_by(sign="withdrawn").agg(n=_.count())


def scores_by_day(comments: Table) -> Table:
    """Count first-level replies and their scores by day since 1970.

    Args:
        comments: Verdicts of comments.

    Returns:
        `day`, the number of scores (`n`), and the number of scores of 1 (`ones`).
    """
    scored = comments.filter(_.reason.isnull() & _.score.notnull())
    return scored.group_by(day=_.created_utc // 86_400).agg(n=_.count(), ones=(_.score == 1).sum())


def _by_asker(comments: Table) -> BooleanValue:
    """Find the replies by the asker. Dumps before 2017 have no such field, but name both authors."""
    return ibis.coalesce(comments.is_submitter, comments.author == comments.asker, ibis.literal(False))


def _first(*cases: tuple[BooleanValue, str]) -> StringValue:
    return ibis.cases(*cases, else_=ibis.null("string"))
