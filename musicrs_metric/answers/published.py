"""The reading rule of the published runs, kept apart from this project's own.

An answer is split at commas. Every part is a title: a repeat counts again each time, so recall can pass 100 %, and a
part that is no candidate keeps its rank as a miss. Candidates that no part equals letter for letter follow in a random
order. A candidate that was written in another case counts where it was written, and once more in the random order.

The published runs drew that order once. Here each measure has its exact expected value over all orders, so that a
comparison does not depend on one draw.
`musicrs_metric.matching.normalise` compares the parts with the ground truth, as it does everywhere.

Source: the published code of the MusiCRS paper (arXiv 2509.19469). Its scorer divides the hits among the first k parts
by the length of the ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..closed_forms import discounts, expected_reciprocal_rank
from ..matching import normalise
from ..measures import DEFAULT_K


@dataclass(frozen=True)
class PublishedReading:
    """One answer under the published rule.

    Attributes:
        titles: The parts of the answer, without white space around them; empty parts are dropped.
        hits: Whether each part is in the ground truth; a repeat is a hit again.
        n_unknown: Parts that name no candidate.
        n_repeated: Parts that name a candidate once more.
        n_rest: Candidates that follow in random order.
        n_relevant_rest: Those of them that are relevant.
        n_relevant: Length of the ground truth.
    """

    titles: tuple[str, ...]
    hits: tuple[bool, ...]
    n_unknown: int
    n_repeated: int
    n_rest: int
    n_relevant_rest: int
    n_relevant: int

    def values(self, k: Sequence[int] = DEFAULT_K, *, with_rest: bool = True) -> dict[str, float]:
        """Compute recall@k and ndcg@k for every cutoff, and mrr.

        Args:
            k: Cutoffs.
            with_rest: Whether the candidates in random order follow, each measure at its expected value; otherwise only
                the answer is scored.

        Returns:
            Measure name to value. Recall and nDCG are at least 0 and pass 1 where repeats are hits; mrr is in [0, 1].
            All are 0 where the ground truth is empty.
        """
        if not self.n_relevant:
            return dict.fromkeys([*(f"recall@{c}" for c in k), *(f"ndcg@{c}" for c in k), "mrr"], 0.0)
        share = self.n_relevant_rest / self.n_rest if with_rest and self.n_rest else 0.0
        expected = np.array([*map(float, self.hits), *([share] * self.n_rest)])
        gains = expected * discounts(len(expected))
        ideal = discounts(max(k))
        values = {f"recall@{c}": float(expected[:c].sum()) / self.n_relevant for c in k}
        values |= {f"ndcg@{c}": float(gains[:c].sum() / ideal[: min(self.n_relevant, c)].sum()) for c in k}
        if any(self.hits):
            values["mrr"] = 1 / (self.hits.index(True) + 1)
        else:
            late = expected_reciprocal_rank(self.n_rest, self.n_relevant_rest, after=len(self.hits))
            values["mrr"] = late if with_rest else 0.0
        return values


def read_published(answer: str | None, candidates: Sequence[str], relevant: Sequence[str]) -> PublishedReading:
    """Read an answer by the published rule.

    Args:
        answer: What the model wrote; None counts as nothing.
        candidates: The pool; a candidate that is written twice is one.
        relevant: The ground truth.

    Returns:
        The reading.
    """
    titles = tuple(part.strip() for part in (answer or "").split(",") if part.strip())
    forms = [normalise(title) for title in titles]
    gold = {normalise(title) for title in relevant}
    known = {normalise(candidate) for candidate in candidates}
    written = set(titles)
    rest = [candidate for candidate in dict.fromkeys(candidates) if candidate not in written]
    named = [form for form in forms if form in known]
    return PublishedReading(
        titles=titles,
        hits=tuple(form in gold for form in forms),
        n_unknown=len(forms) - len(named),
        n_repeated=len(named) - len(set(named)),
        n_rest=len(rest),
        n_relevant_rest=sum(normalise(candidate) in gold for candidate in rest),
        n_relevant=len(relevant),
    )
