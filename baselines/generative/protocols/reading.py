"""Completions as rankings, for the protocols whose answers are text."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.answers import complete_ranking, read_answer
from musicrs_metric.matching import Pool

from ..language_model import Completion, LanguageModel
from .base import Protocol, RankedAnswer, RankingRequest


def read_all(
    protocol: Protocol,
    language_model: LanguageModel,
    requests: Sequence[RankingRequest],
    *,
    numbered: bool,
    keep_unknown: bool,
) -> list[RankedAnswer]:
    """Complete the prompts of each budget together, read the answers, and append the missing candidates.

    Args:
        protocol: Protocol with the order of the candidates in the prompt.
        language_model: The model.
        requests: At least one.
        numbered: Whether the prompt asks for numbers.
        keep_unknown: Whether unknown titles keep their ranks.
    """
    completions: dict[int, Completion] = {}
    for budget in {request.budget for request in requests}:
        indices = [index for index, request in enumerate(requests) if request.budget == budget]
        answers = language_model.complete([requests[index].prompt for index in indices], budget)
        completions.update(zip(indices, answers, strict=True))
    return [
        _read(protocol, request, completions[index], numbered, keep_unknown) for index, request in enumerate(requests)
    ]


def _read(
    protocol: Protocol, request: RankingRequest, completion: Completion, numbered: bool, keep_unknown: bool
) -> RankedAnswer:
    pool = Pool(protocol.shown(request.thread))
    reading = read_answer(completion.text, pool, numbered=numbered, cut=completion.cut)
    prediction = complete_ranking(reading, pool, protocol.seed, request.thread.thread_id, keep_unknown=keep_unknown)
    ledger = {name: int(value) for name, value in reading.ledger._asdict().items()}
    return RankedAnswer(prediction, completion.text, completion.n_tokens, ledger, completion.details)
