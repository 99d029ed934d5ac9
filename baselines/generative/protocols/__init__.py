"""How rankings are asked for: one protocol a file, chosen with `--protocol`.

    listwise     all candidates at once, numbered; the answer is a list of numbers
    titles       all candidates at once; the answer is a list of titles between commas. The published idea, but not the
                 published runs: see `Titles.differences`
    constrained  all candidates at once; only titles that are not used yet can be generated, so that every answer ranks
    pointwise    how likely each candidate is as an answer, by the model's own probabilities

Candidates are shown in the order in which the thread holds them, so that a run in several orders (`--shuffles`) tells
what the order does; `titles` shuffles them first, as was published.
"""

from __future__ import annotations

from musicrs_metric.runs.run_card import Modality

from ..settings import GenerativeOptions, ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest
from .constrained import Constrained
from .listwise import Listwise
from .pointwise import Pointwise
from .titles import Titles

__all__ = ["PROTOCOLS", "Protocol", "RankedAnswer", "RankingRequest", "make_protocol"]

PROTOCOLS: dict[ProtocolName, type[Protocol]] = {
    "listwise": Listwise,
    "titles": Titles,
    "constrained": Constrained,
    "pointwise": Pointwise,
}


def make_protocol(options: GenerativeOptions, modality: Modality, seed: int) -> Protocol:
    """The protocol that the options name.

    Args:
        options: The options of a system.
        modality: What of a thread the model is given.
        seed: Seed of the run.
    """
    return PROTOCOLS[options.protocol](options, modality, seed)
