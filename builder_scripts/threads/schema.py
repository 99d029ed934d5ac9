"""Silver: the columns that later stages read."""

from __future__ import annotations

from typing import Any


def threads_schema() -> Any:
    """Return the `pyarrow.Schema` of `silver/threads.parquet`, one row per thread, sorted by `thread_id`.

    `thread_id` is Reddit's name, `t3_...`; `subreddit` in lower case; `created_utc` in seconds since 1970; `score` as
    last captured, null where it was not; `author`, a pseudonym, null where the account is gone; `links`, the YouTube
    videos that the submission names, each once, with the place where the link starts.
    """
    import pyarrow as pa

    link = pa.struct([("video_id", pa.string()), ("start_s", pa.float64()), ("url", pa.string())])
    return pa.schema(
        [
            ("thread_id", pa.string()),
            ("subreddit", pa.string()),
            ("created_utc", pa.int64()),
            ("score", pa.int64()),
            ("title", pa.string()),
            ("text", pa.string()),
            ("author", pa.string()),
            ("links", pa.list_(link)),
        ]
    )


def replies_schema() -> Any:
    """Return the `pyarrow.Schema` of `silver/replies.parquet`, one row per first-level reply.

    Sorted by `thread_id` and `comment_id`, Reddit's names `t3_...` and `t1_...`. `is_submitter` tells the asker's own
    replies; the other columns are as in `threads_schema`.
    """
    import pyarrow as pa

    return pa.schema(
        [
            ("comment_id", pa.string()),
            ("thread_id", pa.string()),
            ("body", pa.string()),
            ("score", pa.int64()),
            ("author", pa.string()),
            ("created_utc", pa.int64()),
            ("is_submitter", pa.bool_()),
        ]
    )
