"""Scorer of Inspect: the project's own reading, matching and measures, per thread and per genre."""

from __future__ import annotations

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState

from ..answers.list_protocol import LIST_PROTOCOLS
from ..chance import chance
from ..hits import hits_from_strings
from ..measures import measure
from ..runs.predictions import Prediction

MEASURES = ("recall@20", "ndcg@20", "mrr")
CUTOFFS = (20,)
_BY_GENRE = grouped(mean(), "genre", all=False)
_METRICS: dict[str, list[Any]] = {
    **{name: [mean(), stderr(), _BY_GENRE] for name in MEASURES},
    **{f"chance {name}": [mean()] for name in MEASURES},
    "answered": [mean()],
}


@scorer(metrics=_METRICS)
def ranking(config: str, protocol: str, seed: int = 0) -> Scorer:
    """Score the ranking of each thread: recall@20, nDCG@20 and MRR, the chance level of each, and the answered share.

    Args:
        config: Configuration of the dataset.
        protocol: Name of the protocol of the prompt.
        seed: Seed of the run. The first epoch has this seed, the second the next one.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        pool: list[str] = state.metadata["candidates"]
        prediction = _prediction(state, pool, config, protocol, seed)
        hits = hits_from_strings([prediction.ranking], [state.metadata["ground_truth"]], [pool])
        scores, expected = measure(hits, CUTOFFS), chance(hits, CUTOFFS) or {}
        n_answered = prediction.n_answered or 0
        value = {name: float(scores[name][0]) for name in MEASURES}
        value |= {f"chance {name}": float(expected[name][0]) for name in MEASURES}
        return Score(
            value=value | {"answered": min(n_answered / len(pool), 1.0)},
            answer=" > ".join(prediction.ranking[:n_answered]),
            metadata={
                "ranking": list(prediction.ranking),
                "outcome": prediction.outcome,
                "n_answered": n_answered,
            },
        )

    return score


def _prediction(state: TaskState, pool: list[str], config: str, protocol: str, seed: int) -> Prediction:
    """Read the answer of a sample, by the same rules as a run of `baselines`."""
    thread_id, form = str(state.sample_id), LIST_PROTOCOLS[protocol]
    has_audio = config == "query_only" or state.metadata["n_clips"] > 0
    if config == "audio_only" and not has_audio:
        return Prediction(thread_id, (), outcome="no_audio", n_answered=0)
    shown = form.shown(pool, seed, thread_id)
    if state.output.stop_reason == "content_filter":
        # A withheld answer says nothing. The thread fails, and its pool gets a random order.
        text, outcome = "", "failed"
    else:
        text, outcome = state.output.completion, None
    cut = state.output.stop_reason in ("max_tokens", "model_length")
    prediction, _ = form.read(text, shown, seed + state.epoch - 1, thread_id, cut=cut)
    if outcome is None and has_audio:
        return prediction
    return Prediction(
        thread_id,
        prediction.ranking,
        outcome="failed" if outcome is not None else "no_audio",
        n_answered=prediction.n_answered,
    )
