"""From completions to rankings: what the two protocols share whose answers have to be read."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.answers import complete_ranking, read_answer
from musicrs_metric.matching import Pool

from ..language_model import Completion, LanguageModel
from .base import Protocol, RankedAnswer, RankingRequest


def read_all(
    protocol: Protocol,
    language_model: LanguageModel,
    asks: Sequence[RankingRequest],
    *,
    numbered: bool,
    keep_unknown: bool,
) -> list[RankedAnswer]:
    """Complete prompts of one budget together, read each answer, and append what it leaves out.

    Args:
        protocol: Tells in what order the candidates were shown.
        language_model: The model.
        asks: At least one.
        numbered: Whether numbers were asked for.
        keep_unknown: Whether invented titles keep their places.
    """
    found: dict[int, Completion] = {}
    for budget in {ask.budget for ask in asks}:
        places = [place for place, ask in enumerate(asks) if ask.budget == budget]
        found.update(
            zip(places, language_model.complete([asks[place].prompt for place in places], budget), strict=True)
        )
    return [_read(protocol, ask, found[place], numbered, keep_unknown) for place, ask in enumerate(asks)]


def _read(
    protocol: Protocol, ask: RankingRequest, found: Completion, numbered: bool, keep_unknown: bool
) -> RankedAnswer:
    pool = Pool(protocol.shown(ask.thread))
    reading = read_answer(found.text, pool, numbered=numbered, cut=found.cut)
    prediction = complete_ranking(reading, pool, protocol.seed, ask.thread.thread_id, keep_unknown=keep_unknown)
    ledger = {name: int(value) for name, value in reading.ledger._asdict().items()}
    return RankedAnswer(prediction, found.text, found.n_tokens, ledger, found.details)
