"""Options of `threads`: the filters of the paper, and the rules that the paper leaves open."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..pipeline.option_command import StageOptions


class ThreadsOptions(StageOptions):
    """Rules for threads and replies (MusiCRS paper, section 3), and the engine that applies them.

    If several dumps hold a submission or comment, only the latest capture counts. If the times of capture are unknown,
    the last dump by name counts. A text that was withdrawn by then is dropped. A withdrawn capture of unknown time
    counts as the latest. A row is dropped for the first reason that holds, in the order of
    `builder_scripts.threads.filters`.
    """

    engine: Literal["duckdb", "spark"] = Field(default="duckdb", description="Engine. Both give the same files.")
    master: str | None = Field(default=None, description="Spark's master, or sc://... Default: this machine.")
    memory: str | None = Field(default=None, description="Memory limit of DuckDB or Spark's driver, such as 4GB.")
    min_replies: int = Field(default=3, ge=1, description="First-level replies that a thread needs.")
    # Code points, without blanks around the text.
    min_chars: int = Field(default=5, ge=0, description="Characters that a reply needs.")
    # Off by default: an author who withdraws a text should not find it in a benchmark.
    keep_deleted: bool = Field(
        default=False, description="Use the earlier capture of a text that was withdrawn later, if a dump has one."
    )
    keep_bots: bool = Field(default=False, description="Keep posts and replies by bots.")
    keep_stickied: bool = Field(default=False, description="Keep comments that moderators pinned.")
    # The replies of the asker stay replies of the thread either way.
    asker_counts: bool = Field(default=True, description="Count replies by the asker among those needed.")

    def parameters(self) -> dict[str, Any]:
        """Return the options that change the output."""
        return self.model_dump(mode="json", exclude={"engine", "master", "memory"})
