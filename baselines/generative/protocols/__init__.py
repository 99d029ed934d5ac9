"""Protocols that ask for rankings, one per file, chosen with `--protocol`.

    listwise     all candidates at once, numbered; the answer is a list of numbers
    titles       all candidates at once; the answer is a list of titles between commas. The idea of the published runs,
                 but not their details: see `Titles.differences`
    constrained  all candidates at once; only unused titles can be generated, so that every answer ranks the pool
    pointwise    the probability of each candidate as the answer, computed by the model
    generate_then_match  20 titles from memory; a text encoder ranks the candidates by their likeness to these titles

Prompts list candidates in the order of the thread, so that a run in several orders (`--shuffles`) measures the effect
of the order. Only `titles` shuffles them first, as published.
"""

from __future__ import annotations

from musicrs_metric.runs.run_card import Modality

from ...system import Context
from ..settings import GenerativeOptions, ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest
from .constrained import Constrained
from .generate_then_match import GenerateThenMatch
from .listwise import Listwise
from .pointwise import Pointwise
from .titles import Titles

__all__ = ["PROTOCOLS", "Protocol", "RankedAnswer", "RankingRequest", "make_protocol"]

PROTOCOLS: dict[ProtocolName, type[Protocol]] = {
    "listwise": Listwise,
    "titles": Titles,
    "constrained": Constrained,
    "pointwise": Pointwise,
    "generate_then_match": GenerateThenMatch,
}


def make_protocol(
    options: GenerativeOptions, modality: Modality, seed: int, context: Context | None = None
) -> Protocol:
    """Make the protocol that the options name.

    Args:
        options: Options of a system.
        modality: Data of a thread that the model gets.
        seed: Seed of the run.
        context: Context of the system, for a protocol that embeds texts; None for its defaults.
    """
    return PROTOCOLS[options.protocol](options, modality, seed, context or Context(modality=modality, seed=seed))
