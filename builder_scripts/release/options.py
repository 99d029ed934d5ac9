"""What whoever releases a corpus says of it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from musicrs_metric.errors import UserError, show

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

    Raises:
        UserError: The name cannot be that of a dataset.
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

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name.lower() == "musicrs":
            raise UserError(
                f"the release is named {show(self.name)}, expected letters, digits, - and _, and another name than the "
                "published dataset's"
            )

    @property
    def called(self) -> str:
        """Its title, or else its name."""
        return self.title or self.name

    def to_dict(self) -> dict[str, Any]:
        """What of this changes the release, as plain JSON types; the list of ids is an input and counts as that."""
        return {name: value for name, value in asdict(self).items() if name != "takedown"}
