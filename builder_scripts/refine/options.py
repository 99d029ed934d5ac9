"""Options of `refine`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from musicrs_metric.errors import UserError, plain

from ..extract.mentions import Kind
from ..pipeline.option_command import CommandLine, StageOptions


def _read_genres(pairs: Sequence[str]) -> dict[str, str]:
    """Read `SUBREDDIT=GENRE`."""
    for pair in pairs:
        if "=" not in pair:
            raise UserError(f"--genre {plain(pair)}: expected SUBREDDIT=GENRE, such as country=Country")
    return {name: genre for name, _, genre in (pair.partition("=") for pair in pairs)}


class RefineOptions(StageOptions):
    """Number and kind of the answers of a thread, and genres of subreddits."""

    kinds: list[Kind] = Field(
        default=["song"], min_length=1, description="Kind of entity to recommend. May be repeated. Default: song."
    )
    min_answers: int = Field(default=2, ge=1, description="Smallest number of answers of a thread.")
    max_answers: int = Field(default=30, ge=1, description="Largest number of answers of a thread.")
    top: int = Field(default=10, ge=1, description="The N most upvoted answers are the ground truth.")
    genres: Annotated[dict[str, str], CommandLine("SUBREDDIT=GENRE", read=_read_genres)] = Field(
        default={},
        description="Genre of a subreddit that the paper does not have. The genre may be new. May be repeated.",
    )

    def check(self) -> None:
        """Check that a thread can have a number of answers.

        Raises:
            UserError: The largest number is below the smallest.
        """
        if self.max_answers < self.min_answers:
            raise UserError(
                f"--min-answers {self.min_answers} --max-answers {self.max_answers}: no thread has that many; "
                "expected a maximum that is no less than the minimum"
            )
