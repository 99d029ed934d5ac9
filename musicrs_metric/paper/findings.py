"""Point estimates behind the paper's answers to its three research questions, from any list of results.

Section 3.2 of the paper rests on three readings of Table 1, found by recalculating its sentences:

* RQ1 counts a system as "best when combined" if its overall recall@20 is highest in `audio_query`;
* RQ2 averages a paradigm over all of its overall rows, every system in every modality weighing the same (21 rows
  generative, 6 retrieval);
* RQ3 compares genres by the best row of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from .tables import OVERALL, Result


def best_modality(results: Iterable[Result], metric: str = "recall@20") -> dict[str, str]:
    """Return the modality in which each multimodal system is best overall.

    Args:
        results: Any; only the overall ones of systems run in `audio_query` and in another modality are read.
        metric: Measure to compare.

    Returns:
        System to modality; of equal values the first in `results`.
    """
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for result in overall(results):
        values[result.system].setdefault(result.modality, result.values[metric])
    multimodal = {name: of for name, of in values.items() if "audio_query" in of and len(of) > 1}
    return {name: max(of, key=lambda modality: of[modality]) for name, of in multimodal.items()}


def paradigm_means(results: Iterable[Result], metric: str) -> dict[str, float]:
    """Return the mean over the overall rows of each paradigm, unweighted.

    Args:
        results: Any; only the overall ones are read.
        metric: Measure to average.

    Returns:
        Paradigm to mean, in the order of first appearance.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for result in overall(results):
        values[result.paradigm].append(result.values[metric])
    return {paradigm: sum(of) / len(of) for paradigm, of in values.items()}


def peaks(results: Iterable[Result], metric: str = "recall@20") -> dict[str, Result]:
    """Return the best result of each genre, overall included; of equal results the first."""
    best: dict[str, Result] = {}
    for result in results:
        if result.genre not in best or result.values[metric] > best[result.genre].values[metric]:
            best[result.genre] = result
    return best


def below_chance(results: Iterable[Result], chance: Mapping[str, Mapping[str, float]], metric: str) -> list[Result]:
    """Return the overall results that are below the chance level.

    Args:
        results: Any; only the overall ones are read.
        chance: Genre, or "Overall", to measure to chance level.
        metric: Measure to compare.
    """
    return [result for result in overall(results) if result.values[metric] < chance[OVERALL][metric]]


def overall(results: Iterable[Result]) -> list[Result]:
    """Return the overall results, without those on single genres."""
    return [result for result in results if result.genre == OVERALL]
