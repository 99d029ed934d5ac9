"""Clip plan: the total length of a thread's clips, and the links that they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from musicrs_metric.errors import UserError

from .decoding import SHORTEST


@dataclass(frozen=True)
class ClipPlan:
    """Number and length of the clips of a thread.

    Attributes:
        total_s: Seconds that the clips of a thread share evenly.
        max_clips: Largest number of clips per thread.
        seed: Seed of the choice if more links are usable. The choice in a thread does not depend on other threads.

    Raises:
        UserError: The plan gives no clip, or clips shorter than 0.1 s.
    """

    total_s: float = 300.0
    max_clips: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_clips < 1 or not SHORTEST * self.max_clips <= self.total_s < float("inf"):
            raise UserError(
                f"found a budget of {self.total_s:g} s for {self.max_clips} clips, "
                f"expected at least one clip, and {SHORTEST} s per clip"
            )

    def choose(self, thread_id: str, links: Sequence[int]) -> list[int]:
        """Choose at most `max_clips` of the usable links of a thread, given by their positions."""
        if len(links) <= self.max_clips:
            return list(links)
        drawn = sorted(links, key=lambda link: hashlib.sha256(f"{self.seed}|{thread_id}|{link}".encode()).digest())
        return sorted(drawn[: self.max_clips])
