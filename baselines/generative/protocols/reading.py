"""Completions as rankings, for the protocols whose answers are text."""

from __future__ import annotations

from collections.abc import Sequence

from musicrs_metric.answers.list_protocol import ListProtocol

from ..language_model import Completion, LanguageModel
from .base import Protocol, RankedAnswer, RankingRequest


def read_all(
    protocol: Protocol, language_model: LanguageModel, requests: Sequence[RankingRequest], form: ListProtocol
) -> list[RankedAnswer]:
    """Complete the prompts of each budget together, read the answers, and append the missing candidates.

    Args:
        protocol: Protocol with the order of the candidates in the prompt.
        language_model: The model.
        requests: At least one.
        form: Form of the list that the prompt asks for.
    """
    completions = complete_all(language_model, requests)
    return [
        _read(protocol, request, completion, form) for request, completion in zip(requests, completions, strict=True)
    ]


def complete_all(language_model: LanguageModel, requests: Sequence[RankingRequest]) -> list[Completion]:
    """Complete the prompts of each budget together.

    Args:
        language_model: The model.
        requests: At least one.

    Returns:
        One completion per request, in order.
    """
    completions: dict[int, Completion] = {}
    for budget in {request.budget for request in requests}:
        indices = [index for index, request in enumerate(requests) if request.budget == budget]
        answers = language_model.complete([requests[index].prompt for index in indices], budget)
        completions.update(zip(indices, answers, strict=True))
    return [completions[index] for index in range(len(requests))]


def _read(protocol: Protocol, request: RankingRequest, completion: Completion, form: ListProtocol) -> RankedAnswer:
    shown, thread_id = protocol.shown(request.thread), request.thread.thread_id
    prediction, reading = form.read(completion.text, shown, protocol.seed, thread_id, cut=completion.cut)
    ledger = {name: int(value) for name, value in reading.ledger._asdict().items()}
    return RankedAnswer(prediction, completion.text, completion.n_tokens, ledger, completion.details)
