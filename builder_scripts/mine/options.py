"""Options of `mine`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT

from ..pipeline.option_command import CommandLine, PathFrom, StageOptions
from ..refine.genres import subreddit_name


class MineOptions(StageOptions):
    """Dumps to read, subreddits to keep, and the machine to run on."""

    dumps: Annotated[list[PathFrom], CommandLine(is_argument=True)] = Field(
        min_length=1, description="Dumps (RS_*.zst, r_jazz_posts.jsonl, ...) and folders of them."
    )
    subreddits: list[Annotated[str, AfterValidator(subreddit_name)]] = Field(
        default=list(GENRE_OF_SUBREDDIT),
        min_length=1,
        description="Subreddit to keep. May be repeated. Default: those of the paper.",
    )
    workers: int | None = Field(
        default=None, ge=1, description="Dumps at the same time. Default: one per processor, as far as memory allows."
    )
    executor: Literal["pool", "spark", "ray", "dask"] = Field(
        default="pool", description="Executor of the work. All give the same rows."
    )
    master: str | None = Field(default=None, description="URL of the cluster. Default: this machine.")

    @property
    def names_subreddits(self) -> bool:
        """The user has named the subreddits. The dumps need not hold all subreddits of the paper."""
        return "subreddits" in self.model_fields_set
