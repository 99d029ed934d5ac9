"""Prediction files: written by systems, read by everything that scores, judged by the one validator.

(interface first; the validator is being written)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "repaired", "truncated", "refusal", "empty", "no_audio", "failed"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of `predictions.jsonl`.

    Attributes:
        thread_id: The thread it answers.
        ranking: Candidates, best first.
        scores: One finite number per ranked item, if the system has them.
        outcome: How the answer came about; None where the system does not say.
        n_answered: How many leading places the system itself filled; None where it does not say.
    """

    thread_id: str
    ranking: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    outcome: Outcome | None = None
    n_answered: int | None = None
