"""Options of `annotate settle`."""

from __future__ import annotations

from pydantic import Field

from musicrs_metric.errors import UserError

from ..pipeline.option_command import PathFrom, StageOptions


class AnnotateOptions(StageOptions):
    """Source of the labels: the annotators, or a file."""

    decisions: PathFrom | None = Field(default=None, description="disagreements.csv with the column settled filled in.")
    majority: bool = Field(
        default=False, description="Let more than half of the annotators decide each question that is not settled."
    )
    labels: PathFrom | None = Field(default=None, description="A labels file in place of the annotators.")
    partial: bool = Field(default=False, description="Leave out threads that no annotator has finished.")

    def check(self) -> None:
        """Check that labels come from one source.

        Raises:
            UserError: They come from a file and from annotators.
        """
        if self.labels is not None and (self.decisions is not None or self.majority):
            raise UserError("--labels takes the place of the annotators; leave out --decisions and --majority")
