"""Get exactly one valid prediction per thread, whatever the system does.

A failure is an outcome in the file, counted and shown, never a missing line. A system that fails on every thread is
broken, and its run stops.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from musicrs_metric.base.seeds import shuffled
from musicrs_metric.errors import UserError
from musicrs_metric.runs.prediction_line import check_prediction
from musicrs_metric.runs.predictions import Prediction, PredictionError

from ..system import System, Task
from .missing_audio import rank_by_policy

FAILURES = "failures.log"
# A system that has failed this often before its first success is broken, not unlucky.
MAX_FAILURES = 5


@contextmanager
def attribute_errors(system: str, call: str, log: Path | None = None) -> Iterator[None]:
    """Turn errors of a system into one line that names system and call. For all calls but `rank`.

    Args:
        system: Name of the system.
        call: Name of the call.
        log: File that gets the traceback; None if the run has no folder yet.

    Raises:
        UserError: The call raised an error, or tried to exit.
    """
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        source = f"{frame.filename}, line {frame.lineno}"
        if log is not None:
            _append(log, f"{system}, {call}", error)
            source = f"the traceback is in {log}"
        raise UserError(f"system {system}, in {call}: {_one_line(error)}; {source}") from error


class SafeRanker:
    """Asks a system for predictions, and replaces those that fail.

    Args:
        system: The system, prepared.
        log: File that gets the traceback of each failure.
        say: Called with one line per failure.
        has_answered: Whether the system has ranked a thread in an earlier session, so that it is not broken.
    """

    def __init__(self, system: System, log: Path, say: Callable[[str], None], *, has_answered: bool = False) -> None:
        self._system, self._log, self._say = system, log, say
        self._has_answered = has_answered
        self._n_failed = 0

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Rank a batch. If that fails, rank its threads one by one.

        Args:
            batch: At least one task.

        Returns:
            One valid prediction per task. A failed thread has the outcome "failed" and its pool in a seeded random
            order, with no candidate answered.

        Raises:
            UserError: The user must act, or the system has failed on every thread so far.
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
        self._has_answered = True
        return predictions

    def _ask(self, batch: Sequence[Task]) -> list[Prediction]:
        predictions = rank_by_policy(self._system, batch)
        for prediction in predictions:
            try:
                check_prediction(prediction)
            except PredictionError as error:
                raise ValueError(str(error)) from error
        return predictions

    def _failed(self, task: Task, error: BaseException) -> Prediction:
        self._n_failed += 1
        thread = task.thread
        _append(self._log, f"thread {thread.thread_id}", error)
        reason = _one_line(error)
        self._say(f"thread {thread.thread_id} failed: {reason}")
        if not self._has_answered and self._n_failed >= MAX_FAILURES:
            raise UserError(
                f"{self._system.declaration.name} failed on each of its first {MAX_FAILURES} threads, the last with "
                f"{reason}; tracebacks are in {self._log}"
            ) from error
        ranking = shuffled(thread.candidates, self._system.context.seed, thread.thread_id, "failed")
        return Prediction(thread.thread_id, tuple(ranking), outcome="failed", n_answered=0)


def _append(log: Path, title: str, error: BaseException) -> None:
    with log.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{title}\n{''.join(traceback.format_exception(error))}\n")


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
