"""Options of `refine`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from musicrs_metric.errors import UserError, plain

from ..extract.mentions import Kind
from ..pipeline.option_command import CommandLine, StageOptions


def _pairs(option: str, form: str, example: str) -> CommandLine:
    """Return the form of an option that takes `NAME=VALUE`."""

    def read(pairs: Sequence[str]) -> dict[str, str]:
        for pair in pairs:
            if "=" not in pair:
                raise UserError(f"{option} {plain(pair)}: expected {form}, such as {example}")
        return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}

    return CommandLine(form, read=read)


class RefineOptions(StageOptions):
    """Number and kind of the answers of a thread, and genres of subreddits."""

    kinds: list[Kind] = Field(
        default=["song"], min_length=1, description="Kind of entity to recommend. May be repeated. Default: song."
    )
    min_answers: int = Field(default=2, ge=1, description="Smallest number of answers of a thread.")
    max_answers: int = Field(default=30, ge=1, description="Largest number of answers of a thread.")
    top: int = Field(default=10, ge=1, description="The N most upvoted answers are the ground truth.")
    genres: Annotated[dict[str, str], _pairs("--genre", "SUBREDDIT=GENRE", "country=Country")] = Field(
        default={},
        description="Genre of a subreddit that the paper does not have. The genre may be new. May be repeated.",
    )
    macro_genres: Annotated[dict[str, str], _pairs("--macro-genre", "GENRE=MACRO", "Country=MM")] = Field(
        default={},
        description="Macro-genre of a new genre: MM, IM, AE or a new one. Default: other. May be repeated.",
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
