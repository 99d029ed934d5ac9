"""A work folder whose silver layer holds a few threads, and stages run on it as from a shell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from builder_scripts.layout import Work
from builder_scripts.threads.run import replies_schema, threads_schema


def post(name: str, title: str, text: str, *, subreddit: str = "jazz", score: int | None = 10) -> dict[str, Any]:
    """A row of `threads.parquet`."""
    link = {"video_id": "jNQXAC9IVRw", "start_s": 12.0, "url": "https://youtu.be/jNQXAC9IVRw?t=12"}
    return {
        "thread_id": f"t3_{name}", "subreddit": subreddit, "created_utc": 1_500_000_000, "score": score,
        "title": title, "text": text, "author": "a1", "links": [link],
    }  # fmt: skip


def reply(
    name: str, thread: str, body: str, score: int | None = 1, *, by_asker: bool = False, created: int = 1_500_000_100
) -> dict[str, Any]:
    """A row of `replies.parquet`."""
    return {
        "comment_id": f"t1_{name}", "thread_id": f"t3_{thread}", "body": body, "score": score,
        "author": "a1" if by_asker else f"b{name}", "created_utc": created, "is_submitter": by_asker,
    }  # fmt: skip


def write_silver(folder: Path, posts: Sequence[dict[str, Any]], replies: Sequence[dict[str, Any]]) -> Work:
    """Write both tables."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    work = Work(folder)
    work.silver.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(posts), schema=threads_schema()), work.threads)
    pq.write_table(pa.Table.from_pylist(list(replies), schema=replies_schema()), work.replies)
    return work


def run_stage(command: Callable[..., None], *arguments: object, exit_code: int = 0) -> str:
    """Run a command; what it prints. A user's mistake is raised as the `UserError` that it is."""
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == exit_code, result.output
    return result.output
