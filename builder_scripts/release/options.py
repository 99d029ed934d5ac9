"""Options of `release`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from musicrs_metric.errors import UserError, show

from ..pipeline.option_command import CommandLine, PathFrom, StageOptions

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,95}")


class ReleaseOptions(StageOptions):
    """Name and description of a release, and the choice of its clips."""

    name: str = Field(description="Name of the dataset and of its folder.")
    title: str = Field(default="", description="Title for readers. Default: the name.")
    by: str = Field(default="", description="Author of the release.")
    contact: str = Field(default="", description="Contact for questions and for requests to remove texts.")
    licence: str = Field(default="cc-by-4.0", description="Licence of queries, labels and pools, as the Hub names it.")
    purpose: str = Field(default="", description="Purpose of the dataset, in a sentence or two.")
    takedown: Annotated[PathFrom | None, CommandLine("FILE")] = Field(
        default=None, description="Ids and u/names to remove, one per line. All later releases leave them out too."
    )
    budget: float = Field(default=300.0, gt=0, description="Seconds that the clips of a thread share.")
    seed: int = Field(default=0, ge=0, description="Seed of the choice of ten links in a thread with more.")
    language: str = Field(default="en", description="Languages of the texts, such as en or en,de, for the card.")
    redact: bool = Field(default=False, description="Replace e-mail addresses, telephone numbers and @name in texts.")

    def check(self) -> None:
        """Check name and languages.

        Raises:
            UserError: The name cannot be that of a dataset, or the languages are no codes.
        """
        if not _NAME.fullmatch(self.name) or self.name.lower() == "musicrs":
            raise UserError(
                f"the release is named {show(self.name)}, expected letters, digits, - and _, and another name than the "
                "published dataset's"
            )
        wrong = [code for code in self.languages if not _LANGUAGE.fullmatch(code)]
        if wrong or not self.languages:
            raise UserError(
                f"the language is {show(self.language)}, expected ISO 639 codes such as en, or en,de for several"
            )

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of `language`."""
        return tuple(code for code in re.split(r"[,\s]+", self.language.strip().lower()) if code)

    @property
    def display_title(self) -> str:
        """The title, or else the name."""
        return self.title or self.name

    def parameters(self) -> dict[str, Any]:
        """Return the options that change the release. The takedown list is an input, not a parameter."""
        return self.model_dump(mode="json", exclude={"takedown"})
