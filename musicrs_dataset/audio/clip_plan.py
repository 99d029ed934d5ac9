"""How much sound a thread gets, and from which of its links."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from musicrs_metric.errors import UserError

from .decoding import SHORTEST


@dataclass(frozen=True)
class ClipPlan:
    """How much is cut for a thread.

    Attributes:
        total_s: Seconds that the clips of a thread share evenly.
        max_clips: Clips of a thread at most.
        seed: Where more links are usable, chooses among them; the choice in one thread depends on no other thread.

    Raises:
        UserError: There would be no clip, or clips shorter than 0.1 s.
    """

    total_s: float = 300.0
    max_clips: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_clips < 1 or not SHORTEST * self.max_clips <= self.total_s < float("inf"):
            raise UserError(
                f"found a budget of {self.total_s:g} s for {self.max_clips} clips, "
                f"expected at least one clip, and {SHORTEST} s for each"
            )

    def choose(self, thread_id: str, places: Sequence[int]) -> list[int]:
        """Choose among the usable links of a thread; all of them where they are no more than `max_clips`."""
        if len(places) <= self.max_clips:
            return list(places)
        drawn = sorted(places, key=lambda place: hashlib.sha256(f"{self.seed}|{thread_id}|{place}".encode()).digest())
        return sorted(drawn[: self.max_clips])
