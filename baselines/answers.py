"""From a batch of threads to exactly one valid prediction each, whatever the system does.

A failure is an outcome in the file, counted and shown, never a missing line. A system that fails on every thread is
broken, and its run stops.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from musicrs_metric.errors import UserError
from musicrs_metric.predictions import Prediction, PredictionError, format_line

from .hearing import rank_by_policy
from .seeds import shuffled
from .system import System, Task

FAILURES = "failures.log"
# A system that has failed this often before its first success is not unlucky but broken.
PATIENCE = 5


class Answers:
    """Asks a system for predictions and stands in for those it fails to give.

    Args:
        system: The system, prepared.
        log: File to which the traceback of each failure is appended.
        say: Called with one line per failure.
    """

    def __init__(self, system: System, log: Path, say: Callable[[str], None]) -> None:
        self._system, self._log, self._say = system, log, say
        self._n_failed = self._n_answered = 0

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank a batch; where that fails, its threads one by one.

        Args:
            batch: At least one task.

        Returns:
            One prediction per task; a thread on which the system failed has outcome "failed" and its pool in a seeded
            random order, none of it answered.

        Raises:
            UserError: The system says that the user has to act, or has failed on every thread so far.
        """
        try:
            predictions = self._ask(batch)
        except UserError:
            raise
        except (
            Exception,
            SystemExit,
        ) as error:  # a library that calls sys.exit must not end the run as if it were done
            if len(batch) == 1:
                return [self._failed(batch[0], error)]
            return [prediction for task in batch for prediction in self.rank([task])]
        self._n_answered += len(batch)
        return predictions

    def _ask(self, batch: Sequence[Task]) -> list[Prediction]:
        predictions = rank_by_policy(self._system, batch)
        asked, answered = [task.thread.thread_id for task in batch], [p.thread_id for p in predictions]
        if asked != answered:
            raise ValueError(f"asked for predictions of {asked}, got those of {answered}")
        for prediction in predictions:
            try:
                format_line(prediction)
            except PredictionError as error:
                raise ValueError(str(error)) from error
        return predictions

    def _failed(self, task: Task, error: BaseException) -> Prediction:
        self._n_failed += 1
        thread = task.thread
        with self._log.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"thread {thread.thread_id}\n{''.join(traceback.format_exception(error))}\n")
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        self._say(f"thread {thread.thread_id} failed: {reason}")
        if not self._n_answered and self._n_failed >= PATIENCE:
            raise UserError(
                f"{self._system.declaration.name} failed on each of its first {PATIENCE} threads, at last with "
                f"{reason}; tracebacks are in {self._log}"
            ) from error
        ranking = shuffled(thread.candidates, self._system.context.seed, thread.thread_id, "failed")
        return Prediction(thread.thread_id, tuple(ranking), outcome="failed", n_answered=0)
