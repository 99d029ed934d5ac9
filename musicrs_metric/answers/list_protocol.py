"""Protocols whose answer is a list: the order of the candidates in the prompt, the prompt, and the way to a ranking.

`baselines` and the tasks of Inspect share them, so that the same answers give the same ranking in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base.seeds import shuffled
from ..matching import Pool
from ..runs.predictions import Prediction
from . import prompts
from .complete import complete_ranking
from .read import read_answer
from .result import Reading


@dataclass(frozen=True)
class ListProtocol:
    """A way to ask for a list.

    Attributes:
        name: Name of the protocol and of its prompt.
        is_numbered: Whether the prompt asks for numbers.
        is_shuffled: Whether the prompt lists the candidates in a seeded random order per thread.
        keeps_unknown: Whether unknown titles keep their ranks as misses.
        max_tokens: Most tokens of an answer; None for as many as the answer takes.
    """

    name: str
    is_numbered: bool
    is_shuffled: bool
    keeps_unknown: bool
    max_tokens: int | None

    def shown(self, candidates: Sequence[str], seed: int, thread_id: str) -> tuple[str, ...]:
        """Return the distinct candidates in the order of the prompt."""
        distinct = tuple(dict.fromkeys(candidates))
        # The purpose keeps the former name of `titles`: another word would give other orders, and other rankings.
        return tuple(shuffled(distinct, seed, thread_id, "paper")) if self.is_shuffled else distinct

    def prompt(self, shown: Sequence[str], query: str | None, n_clips: int) -> str:
        """Return the text of the prompt; see `PromptTemplate.render`."""
        return prompts.load(self.name).render(query=query, candidates=shown, n_clips=n_clips)

    def read(
        self, answer: str, shown: Sequence[str], seed: int, thread_id: str, *, cut: bool
    ) -> tuple[Prediction, Reading]:
        """Read an answer, and append the candidates that it does not name in a seeded random order.

        Args:
            answer: The text that the model wrote.
            shown: The candidates in the order of the prompt.
            seed: Seed of the run.
            thread_id: The thread.
            cut: Whether the model was stopped by its budget.

        Returns:
            The ranking of the whole pool, and the account of the reading.
        """
        pool = Pool(shown)
        reading = read_answer(answer, pool, numbered=self.is_numbered, cut=cut)
        return complete_ranking(reading, pool, seed, thread_id, keep_unknown=self.keeps_unknown), reading


LISTWISE = ListProtocol("listwise", is_numbered=True, is_shuffled=False, keeps_unknown=False, max_tokens=None)
# The published runs stopped every answer at 512 tokens, which a full list of 100 titles exceeds.
TITLES = ListProtocol("titles", is_numbered=False, is_shuffled=True, keeps_unknown=True, max_tokens=512)
LIST_PROTOCOLS = {protocol.name: protocol for protocol in (LISTWISE, TITLES)}
