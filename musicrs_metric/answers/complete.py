"""Completion of a ranking: unnamed candidates follow in a random order, because the order of the pool may leak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..base.seeds import shuffled
from ..matching import Pool
from ..runs.predictions import Prediction
from .result import Reading


def complete_ranking(
    reading: Reading, pool: Pool, seed: int, thread_id: str, *, keep_unknown: bool = False
) -> Prediction:
    """Make a full ranking of an answer.

    Args:
        reading: The answer.
        pool: The pool that it was read against.
        seed: Seed of the run.
        thread_id: The thread.
        keep_unknown: Whether invented titles stay where the answer has them, as misses; otherwise they are left out
            and later ranks close up.

    Returns:
        The prediction: the named candidates, then the rest of the pool. The order of the rest depends on seed, thread
        and pool alone, so two candidates that are unnamed in two answers have the same order in both. `n_answered`
        counts the ranks before the rest.
    """
    titles = {place: title for title, place in pool.place.items()}
    answered = list(_with_unknown(reading, pool, titles) if keep_unknown else map(titles.__getitem__, reading.places))
    named = set(reading.places)
    rest = [place for place in shuffled(list(titles), seed, thread_id, "fill") if place not in named]
    ranking = (*answered, *(titles[place] for place in rest))
    return Prediction(thread_id, ranking, outcome=reading.outcome, n_answered=len(answered))


def _with_unknown(reading: Reading, pool: Pool, titles: Mapping[int, str]) -> Iterator[str]:
    left = set(reading.places)
    for place, text in ((item.place, item.text) for item in reading.items):
        if place in left:
            left.remove(place)
            yield titles[place]
        # What was too ambiguous to read, such as a title that was cut, must not be found by the scorer after all.
        elif place is None and pool.resolve(text) is None:
            yield text
