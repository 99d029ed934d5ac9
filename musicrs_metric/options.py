"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum


class By(StrEnum):
    """Ways to group threads."""

    genre = "genre"
    subreddit = "subreddit"
    macro = "macro"


class EmptyRule(StrEnum):
    """What a thread with an empty ground truth does to a mean."""

    zero = "zero"
    skip = "skip"
