"""Comparison of a row with the owner's own run of the same system, and the status "reproduced" of the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.errors import UserError, plain, show
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import read_run
from musicrs_metric.runs.run_card import RunCard

from .owner import find_key
from .store import SubmissionStore
from .store.notes import now
from .submission import SubmissionEntry

_DECLARED = ("modality", "reads", "paradigm")


class Reproduction(NamedTuple):
    """Result of a comparison.

    Attributes:
        entry: The submission.
        n: Number of threads with a prediction of the row or of the run.
        n_same: Number of these with the same ranking.
        differences: The other ones and contradicting declarations, in words.
        has_card: True if the run has a run card, so that data and declarations were compared.
    """

    entry: SubmissionEntry
    n: int
    n_same: int
    differences: tuple[str, ...]
    has_card: bool

    @property
    def is_equal(self) -> bool:
        """True if nothing differs."""
        return not self.differences


def reproduce(store: SubmissionStore, key: str, run: Path) -> Reproduction:
    """Compare the predictions of a row with those of a run, and set or remove the status "reproduced" of the row.

    Args:
        store: The submissions.
        key: Key of the row, or its first characters.
        run: Run folder or prediction file of the owner.

    Returns:
        The comparison. Rankings are the same if all titles and their order are the same.

    Raises:
        UserError: There is no such row, the run cannot be read, or it was made on other data.
    """
    entry = find_key([(entry, None) for entry in store.entries()], key)[0]
    files = read_run(run)
    submission = store.get(entry.key)
    if submission is None:
        raise UserError(f"{entry.key[:12]}: its predictions cannot be read")
    differences: list[str] = []
    if files.card is not None:
        if files.card.fingerprint != entry.card.fingerprint:
            raise UserError(
                f"{run}: its run.json states the data {show(files.card.fingerprint[:12])}, the row "
                f"{show(entry.card.fingerprint[:12])}; run the system on the data of the row"
            )
        differences += _declarations(entry.card, files.card)
    own = {prediction.thread_id: prediction for prediction in files.predictions.predictions}
    theirs = {prediction.thread_id: prediction for prediction in submission.predictions}
    threads = sorted(own.keys() | theirs.keys())
    unequal = [thread for thread in threads if not _is_same(own.get(thread), theirs.get(thread))]
    differences += [_words(thread, theirs.get(thread), own.get(thread)) for thread in unequal]
    result = Reproduction(entry, len(threads), len(threads) - len(unequal), tuple(differences), files.card is not None)
    store.notes.change(entry.key, reproduced_at=now() if result.is_equal else "")
    return result


def _declarations(row: RunCard, run: RunCard) -> Iterator[str]:
    for name in _DECLARED:
        stated = getattr(row, name), getattr(run, name)
        if stated[0] != stated[1]:
            yield f"{name}: the row states {stated[0]}, run.json of the run {stated[1]}"


def _is_same(one: Prediction | None, other: Prediction | None) -> bool:
    return one is not None and other is not None and one.ranking == other.ranking


def _words(thread: str, row: Prediction | None, run: Prediction | None) -> str:
    if row is None or run is None:
        return f"thread {plain(thread)}: no prediction of the {'row' if row is None else 'run'}"
    rank = _first_difference(row.ranking, run.ranking)
    titles = [show(ranking[rank]) if rank < len(ranking) else "no title" for ranking in (row.ranking, run.ranking)]
    return f"thread {plain(thread)}: differs from rank {rank + 1}: {titles[0]} in the row, {titles[1]} in the run"


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((rank for rank, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
