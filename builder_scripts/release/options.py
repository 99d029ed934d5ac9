"""What whoever releases a corpus says of it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from musicrs_metric.errors import UserError, show

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,95}")


@dataclass(frozen=True)
class Options:
    """What is said of a release.

    Attributes:
        name: Of the dataset and its folder; `musicrs` is left to the published one.
        title: For people; the name where it is empty.
        by: Who releases it.
        contact: Where to ask, and where to have something removed.
        licence: Hub identifier of the licence of requests, labels and pools.
        purpose: Why it was made, in a sentence or two.
        takedown: A list of ids to remove, added to that of the work folder.
        budget: Seconds that the clips of a thread share.
        seed: Chooses ten links where a thread has more usable ones.
        language: ISO 639 codes of the languages of the texts, separated by commas.
        redact: Whether to replace personal data in texts (see `musicrs_dataset.personal`).

    Raises:
        UserError: The name cannot be that of a dataset, or the languages are no codes.
    """

    name: str
    title: str = ""
    by: str = ""
    contact: str = ""
    licence: str = "cc-by-4.0"
    purpose: str = ""
    takedown: Path | None = None
    budget: float = 300.0
    seed: int = 0
    language: str = "en"
    redact: bool = False

    def __post_init__(self) -> None:
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
        """Its title, or else its name."""
        return self.title or self.name

    def to_dict(self) -> dict[str, Any]:
        """What of this changes the release, as plain JSON types; the list of ids is an input and counts as that."""
        return {name: value for name, value in asdict(self).items() if name != "takedown"}
