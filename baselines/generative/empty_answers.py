"""Stop a run early if its answers are empty: such a thread gets a random order, and the score does not show why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction

# A session stops if its first answers hold reasoning only: this many.
FIRST = 3
# A session stops at any time after this many empty answers in a row.
IN_A_ROW = 10


class EmptyAnswers:
    """Watches the answers of one session.

    Args:
        answer_tokens: The budget of an answer that the user set; None for the budget of the protocol.
    """

    def __init__(self, answer_tokens: int | None) -> None:
        self._budget = "" if answer_tokens is None else f" {answer_tokens}"
        self._n_empty = self._n_thought = 0
        self._has_answered = False

    def watch(self, predictions: Sequence[Prediction], records: Sequence[Mapping[str, Any]]) -> None:
        """Count the answers of a batch.

        Args:
            predictions: Predictions of the batch.
            records: Their answer records, in the same order.

        Raises:
            UserError: The first three answers hold reasoning only, or ten in a row are empty.
        """
        for prediction, record in zip(predictions, records, strict=True):
            if prediction.n_answered or prediction.outcome not in ("empty", "truncated"):
                self._n_empty = self._n_thought = 0
                self._has_answered = True
                continue
            self._n_empty += 1
            self._n_thought += _thought(record)
            is_early = not self._has_answered and self._n_thought == self._n_empty >= FIRST
            if is_early or self._n_empty >= IN_A_ROW:
                raise UserError(f"{self._finding()} (see answers.jsonl of the run); {self._advice(record)}")

    def _finding(self) -> str:
        if self._n_thought == self._n_empty:
            return f"the model thinks, and {self._n_empty} answers in a row are empty"
        return f"{self._n_empty} answers in a row are empty"

    def _advice(self, record: Mapping[str, Any]) -> str:
        if self._n_thought and record.get("finish_reason") == "stop":
            return (
                "the server may send answers as reasoning: start it with the reasoning parser of this model, or switch "
                "thinking off with --extra-body FILE"
            )
        return (
            f"the budget --answer-tokens{self._budget} is too small; set a larger one, such as --answer-tokens 8192, "
            "or switch thinking off with --extra-body FILE"
        )


def _thought(record: Mapping[str, Any]) -> bool:
    """Return whether the server sends or counts reasoning, or the budget ended the answer."""
    return bool(record.get("cut") or record.get("reasoning") or (record.get("tokens") or {}).get("reasoning"))
