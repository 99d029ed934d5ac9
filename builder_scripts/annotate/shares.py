"""Shares of changed proposals, as the paper reports for its own validation.

Section 2.1 of the paper: "41.3% of URLs were discarded as invalid, while 10.5% were corrected or added", "removed 20.0%
of irrelevant entities and recovered 0.3% of missing entities", "31.1% of conversations were reassigned to the correct
categories".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .judgement import Judgement
from .worklist import MUSIC, WorkItem

PAPER: Mapping[str, float] = {
    "links discarded": 0.413,
    "links corrected or added": 0.105,
    "entities removed": 0.200,
    "entities recovered": 0.003,
    "threads reassigned": 0.311,
    "threads about music": 477 / 1623,
}


class Share(NamedTuple):
    """Share with its parts.

    Attributes:
        part: Numerator.
        whole: Denominator.
    """

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """The share. None if the whole is 0."""
        return self.part / self.whole if self.whole else None


def shares(items: Iterable[WorkItem], judgements: Iterable[Judgement]) -> dict[str, Share]:
    """Compute the shares of changes.

    Args:
        items: The work list.
        judgements: Judgements. A thread counts once per annotator.

    Returns:
        Shares by the names of `PAPER`. The whole is the number of judged proposals. Added links and recovered entities
        use it, too, and may exceed it.
    """
    proposed = {item.thread_id: item.category for item in items}
    judged = list(judgements)
    links = [link for judgement in judged for link in judgement.links]
    entities = [entity for judgement in judged for entity in judgement.entities]
    of_links = sum(link.verdict != "added" for link in links)
    of_entities = sum(entity.verdict != "added" for entity in entities)
    return {
        "links discarded": Share(sum(link.verdict == "invalid" for link in links), of_links),
        "links corrected or added": Share(sum(link.verdict in ("corrected", "added") for link in links), of_links),
        "entities removed": Share(sum(entity.verdict == "irrelevant" for entity in entities), of_entities),
        "entities recovered": Share(sum(entity.verdict == "added" for entity in entities), of_entities),
        "threads reassigned": Share(
            sum(judgement.category != proposed[judgement.thread_id] for judgement in judged), len(judged)
        ),
        "threads about music": Share(sum(judgement.category == MUSIC for judgement in judged), len(judged)),
    }
