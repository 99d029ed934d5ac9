"""MusiCRS metric: recall, nDCG and MRR of rankings, with their chance level, ceiling and interval.

`evaluate.load` fetches this file and the files that it names in lines `from .x import ...`. It does not fetch the files
that those import, and it misreads a comment on such a line. So every file of the core has its own line here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import datasets
import evaluate

from .chance import chance as chance
from .citation import BIBTEX
from .closed_forms import Floats as Floats
from .errors import show as show
from .hits import Hits as Hits
from .inputs import labels, same_length, string_lists
from .intervals import CONFIDENCE, RESAMPLES
from .matching import Pool as Pool
from .measures import DEFAULT_K
from .random_orders import Pools as Pools
from .scoring import Empty, score

_DESCRIPTION = """
Recall@k, nDCG@k, MRR, hit@k and precision@k of rankings of candidate titles, as the MusiCRS benchmark defines them.
Each score comes with the expected score of a random order (chance), the best possible score (ceiling), the standard
error, and a 95 % interval over threads. A title counts as the candidate that it names: equal letter for letter, or, if
only one candidate fits, equal after lower case, composed Unicode and straightened outer quotes.
"""

_INPUTS = """
Args:
    predictions (list of list of str): one ranking per thread, best first. A repeated candidate keeps its first rank and
        later ranks close up; a title that names no candidate keeps its rank as a miss.
    references (list of list of str): the relevant candidates per thread; may be empty.
    candidates (list of list of str, optional): the pool per thread. Without it `chance` is None.
    groups (list of str, optional): a label per thread, such as its genre; adds `by_group`.
    k (int or list of int): cutoffs from 1 to 99,999, default 1, 5, 10, 20.
    empty (str): "zero" (default) scores a thread with an empty ground truth as 0, "skip" excludes it from the mean.
    confidence (float or None): coverage of the intervals, default 0.95; None for no intervals.
    resamples (int): bootstrap resamples, default 10,000.
    seed (int): seed of the bootstrap, default 0.
    flat (bool): True for one level of numbers, which `Trainer.log_metrics`, trackio and TensorBoard take.

Returns:
    dict: one number in [0, 1] per measure ("recall@1" to "precision@20" and "mrr"); `n`, `n_empty`, `n_missing`,
    `n_unknown`, `n_duplicate`, `n_unreachable`; `chance`, `ceiling`, `se` and `interval` with the same keys as the
    scores; the settings; `by_group` if groups are given. With `flat`: the measures, the counts, and keys such as
    "recall@20_chance", "recall@20_se", "recall@20_low", "recall@20_high" and "group/Jazz/recall@20".

Examples:
    >>> import evaluate
    >>> musicrs = evaluate.load("musicrs")
    >>> result = musicrs.compute(
    ...     predictions=[["Blue in Green", "So What"], ["Naima"]],
    ...     references=[["So What"], ["Naima", "Giant Steps"]],
    ...     candidates=[["So What", "Blue in Green", "All Blues", "Solar"], ["Giant Steps", "Naima"]],
    ...     k=[1, 2],
    ... )
    >>> result["recall@1"], result["recall@2"], result["mrr"]
    (0.25, 0.75, 0.75)
    >>> result["chance"]["recall@1"], result["n"]
    (0.375, 2)
"""

_TEXTS = datasets.Sequence(datasets.Value("string"))


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _INPUTS)
class Musicrs(evaluate.Metric):  # type: ignore[misc]
    """The metric as an `evaluate` module: checks its inputs, gathers them over processes, and calls the core."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=BIBTEX,
            inputs_description=_INPUTS,
            features=datasets.Features(
                predictions=_TEXTS, references=_TEXTS, candidates=_TEXTS, groups=datasets.Value("string")
            ),
            reference_urls=["https://arxiv.org/abs/2509.19469"],
        )

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        candidates: Any = None,
        groups: Any = None,
        k: int | Iterable[int] = DEFAULT_K,
        empty: Empty = "zero",
        confidence: float | None = CONFIDENCE,
        resamples: int = RESAMPLES,
        seed: int = 0,
        flat: bool = False,
    ) -> dict[str, Any] | None:
        """Score the rankings of this call, or those that were added before.

        With several processes the scores are those of all rows together. Process 0 gets them, the others get None.

        Raises:
            ValueError: An input or a setting that is not as described below, or no rows at all.
        """
        settings: dict[str, Any] = {
            "k": k,
            "empty": empty,
            "confidence": confidence,
            "resamples": resamples,
            "seed": seed,
        }
        score([[]], [[]], **settings)  # refuses a wrong setting before any row is stored
        settings["flat"] = flat
        if predictions is not None or references is not None:
            rows = _columns(predictions, references, candidates, groups)
            if self.writer is None and self.num_process == 1:
                # All rows are known already. The cache file of `evaluate` would return them unchanged, but later.
                return self._compute(**rows, **settings)  # type: ignore[arg-type]
            super().add_batch(**rows)
        result: dict[str, Any] | None = super().compute(**settings)
        return result

    def add_batch(
        self, *, predictions: Any = None, references: Any = None, candidates: Any = None, groups: Any = None
    ) -> None:
        """Add the rankings of several threads.

        Raises:
            ValueError: An input that is not as described below.
        """
        super().add_batch(**_columns(predictions, references, candidates, groups))

    def add(self, *, prediction: Any = None, reference: Any = None, candidates: Any = None, group: Any = None) -> None:
        """Add the ranking of one thread: `prediction`, `reference`, and, if used, its `candidates` and its `group`.

        Raises:
            ValueError: An input that is not as described below.
        """
        one = [None if value is None else [value] for value in (prediction, reference, candidates, group)]
        row = {name: column[0] for name, column in _columns(*one).items()}
        super().add(prediction=row.pop("predictions"), reference=row.pop("references"), **row)

    def _compute(
        self,
        *,
        predictions: list[list[str]],
        references: list[list[str]],
        candidates: list[list[str] | None],
        groups: list[str],
        flat: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        pools = _all_or_none("candidates", [pool for pool in candidates if pool is not None], len(candidates))
        labelled = _all_or_none("groups", [label for label in groups if label], len(groups))
        by = None if labelled is None else {"group": labelled}
        scores = score(predictions, references, pools, groups=by, **settings)
        return scores.to_flat_dict() if flat else scores.to_dict()


def _columns(predictions: Any, references: Any, candidates: Any, groups: Any) -> dict[str, list[Any]]:
    """Check the inputs. Replace an absent column by values that `evaluate` can store."""
    ranked, relevant = string_lists("predictions", predictions), string_lists("references", references)
    pools = None if candidates is None else string_lists("candidates", candidates)
    labelled = None if groups is None else labels("groups", groups)
    same_length(predictions=ranked, references=relevant, candidates=pools, groups=labelled)
    return {
        "predictions": ranked,
        "references": relevant,
        "candidates": [None] * len(ranked) if pools is None else pools,
        "groups": [""] * len(ranked) if labelled is None else labelled,
    }


def _all_or_none(name: str, given: list[Any], n: int) -> list[Any] | None:
    if given and len(given) < n:
        raise ValueError(f"{name} were given for {len(given)} of {n} threads, expected all or none")
    return given or None
