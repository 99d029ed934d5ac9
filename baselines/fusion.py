"""Late fusion of runs: one ranking per pool, from ranks or from scores. Each run has a weight; the weights sum to 1.

zscore  The sum of w * z. z is the score minus the mean, divided by the standard deviation (of all items, not of a
        sample), over the scores of the system in this thread. Equal scores all have z = 0.
rrf     The sum of w / (60 + rank). G. Cormack et al., Reciprocal rank fusion outperforms Condorcet and individual rank
        learning methods, SIGIR 2009, doi:10.1145/1571941.1572114; theirs has no weights.
rank    The sum of -w * rank: the mean rank.

A candidate that only some runs rank counts as last in the others: it gets nothing for a rank under rrf, the rank after
the last one under rank, and the lowest z. Ties go to the candidate that the first run ranks higher, then the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.predictions import PREDICTIONS, Prediction, write_predictions
from musicrs_metric.runs.read import read_run
from musicrs_metric.runs.run_card import RUN_CARD, Modality, Paradigm, Reads, RunCard, write_run_card

from .run.card import code_version, count_outcomes

Method = Literal["zscore", "rrf", "rank"]
T = TypeVar("T")

_K = 60
_PARADIGMS: tuple[Paradigm, ...] = ("traditional", "retrieval", "generative")


def fuse_runs(
    folders: Sequence[Path],
    out: Path,
    method: Method | None = None,
    weights: Sequence[float] | None = None,
    name: str | None = None,
    *,
    replace: bool = False,
) -> RunCard:
    """Fuse runs and write the result as a run.

    Args:
        folders: At least two run folders, on the same pools.
        out: Folder to write. It must be empty or missing.
        method: See the module. None for zscore, or for rrf if a run has no scores; `method_note` of the card explains.
        weights: One positive number per run; None for equal weights. For two runs, a single number from 0 to 1 is the
            weight of the first.
        name: Name of the result in tables. None joins the names of the runs.
        replace: Whether `out` may hold an earlier fusion, which is replaced.

    Returns:
        The card of the result.

    Raises:
        UserError: A folder holds no run or a run without a card, the runs are on different pools or threads, a
            weight is out of range, or `out` is not empty.
    """
    shares = _shares(weights, len(folders))
    if not replace and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: is not empty; name another folder, or remove this one")
    cards, predictions = zip(*(_read(folder) for folder in folders), strict=True)
    for folder, card, own in zip(folders[1:], cards[1:], predictions[1:], strict=True):
        _check_pair(folders[0], cards[0], predictions[0], folder, card, own)
    note = None if method else _without_scores(folders, predictions)
    chosen: Method = method or ("rrf" if note else "zscore")
    fused = [fuse([of_run[thread] for of_run in predictions], chosen, shares) for thread in predictions[0]]
    control = _control(cards)
    name = name or " + ".join(card.name for card in cards)
    name = ", ".join([name, *(swap for swap in control.values() if swap not in name)])
    settings = {"method": chosen, "weights": list(shares)}
    card = _fused_card(cards, name=name, settings=settings, predictions=fused)
    card.extra.update(control)
    card.extra.update({"method_note": note} if note else {})
    card.extra["fused"] = [
        {
            "name": card.name,
            "sha256": file_sha256(folder / PREDICTIONS),
            "model_id": card.model_id,
            "model_revision": card.model_revision,
            "reads": card.reads,
            "settings": card.settings,
        }
        for card, folder in zip(cards, folders, strict=True)
    ]
    out.mkdir(parents=True, exist_ok=True)
    write_predictions(out / PREDICTIONS, fused)
    write_run_card(out / RUN_CARD, card)
    return card


def fuse(
    predictions: Sequence[Prediction], method: Method = "zscore", weights: Sequence[float] | None = None
) -> Prediction:
    """Fuse rankings of one pool.

    Args:
        predictions: At least one per run, all for the same thread.
        method: See the module.
        weights: One per prediction; None for equal weights.

    Returns:
        The candidates that any system ranked itself, best first, with their fused scores. The filled parts follow;
        then no candidate has a score. The random order of a failed thread therefore has no influence. A system that
        ranked nothing has no say. The outcome is the first one that is not "ok".

    Raises:
        UserError: The method needs scores and a prediction has none.
    """
    weights = weights or [1 / len(predictions)] * len(predictions)
    values = [_VALUES[method](_ranked_part(own)) for own in predictions]
    # A system that ranked nothing has no lowest value.
    parts = [(weight, value, _lowest(value, method)) for weight, value in zip(weights, values, strict=True) if value]
    candidates = list(dict.fromkeys(candidate for value in values for candidate in value))
    fused = {
        # fsum rounds once, so the sum does not depend on the order of the runs.
        candidate: math.fsum(weight * value.get(candidate, low) for weight, value, low in parts)
        for candidate in candidates
    }
    ranking = sorted(candidates, key=lambda candidate: -fused[candidate])
    everything = dict.fromkeys(candidate for own in predictions for candidate in own.ranking)
    rest = [candidate for candidate in everything if candidate not in fused]
    return Prediction(
        thread_id=predictions[0].thread_id,
        ranking=(*ranking, *rest),
        scores=None if rest or not ranking else tuple(fused[candidate] for candidate in ranking),
        outcome=next((p.outcome for p in predictions if p.outcome not in (None, "ok")), None),
        n_answered=len(ranking) if rest else None,
    )


def _shares(weights: Sequence[float] | None, n: int) -> list[float]:
    """Return the weights with a sum of 1."""
    if n < 2:
        raise UserError(f"fuse: {count(n, 'run')}; expected at least two run folders")
    if not weights:
        return [1 / n] * n
    if n == 2 and len(weights) == 1:
        if not 0 <= weights[0] <= 1:
            raise UserError(f"--weight {weights[0]}: expected a number from 0 to 1")
        weights = [weights[0], 1 - weights[0]]
    if len(weights) != n:
        raise UserError(
            f"--weight: {count(len(weights), 'weight')} for {n} runs; repeat it once per run, in their order"
        )
    if any(not 0 <= weight < math.inf for weight in weights) or not sum(weights) > 0:
        raise UserError(f"--weight {', '.join(map(str, weights))}: expected numbers from 0, not all 0")
    return [weight / sum(weights) for weight in weights]


def _check_pair(
    a: Path, card_a: RunCard, of_a: Mapping[str, Prediction], b: Path, card_b: RunCard, of_b: Mapping[str, Prediction]
) -> None:
    for field in ("fingerprint", "pools"):
        values = [getattr(card, field) for card in (card_a, card_b)]
        if values[0] != values[1]:
            raise UserError(f"{a} and {b}: runs on different data, {field} {values[0]} and {values[1]}")
    if of_a.keys() != of_b.keys():
        unpaired = sorted(of_a.keys() ^ of_b.keys())
        raise UserError(
            f"{a} and {b}: in one run only: {count(len(unpaired), 'thread')}, such as {unpaired[0]}; finish both"
        )


def _without_scores(folders: Sequence[Path], predictions: Sequence[Mapping[str, Prediction]]) -> str | None:
    """Return why z-scores are impossible; None if they are possible."""
    for folder, of_run in zip(folders, predictions, strict=True):
        missing = [thread for thread, own in of_run.items() if own.scores is None and _ranked_part(own).ranking]
        if missing:
            n = f"{count(len(missing), 'thread')} of {len(of_run)}"
            return (
                f"{folder} has no scores in {n}, such as {missing[0]}: fused by reciprocal ranks (rrf), not by z-scores"
            )
    return None


def _lowest(values: Mapping[str, float], method: Method) -> float:
    """Return the value of a candidate that a run did not rank."""
    return {"rrf": 0.0, "rank": -len(values) - 1.0, "zscore": min(values.values())}[method]


def _ranked_part(prediction: Prediction) -> Prediction:
    """Remove the filled part."""
    n = len(prediction.ranking) if prediction.n_answered is None else prediction.n_answered
    scores = None if prediction.scores is None else prediction.scores[:n]
    return Prediction(prediction.thread_id, prediction.ranking[:n], scores)


def _by_rank(prediction: Prediction) -> Mapping[str, float]:
    distinct = dict.fromkeys(prediction.ranking)
    return {candidate: 1 / (_K + rank) for rank, candidate in enumerate(distinct, 1)}


def _by_place(prediction: Prediction) -> Mapping[str, float]:
    return {candidate: -float(rank) for rank, candidate in enumerate(dict.fromkeys(prediction.ranking), 1)}


def _by_score(prediction: Prediction) -> Mapping[str, float]:
    if prediction.scores is None and prediction.ranking:
        raise UserError(f"thread {prediction.thread_id}: has no scores; --method rrf needs none")
    first: dict[str, float] = {}
    for candidate, score in zip(prediction.ranking, prediction.scores or (), strict=True):
        first.setdefault(candidate, score)
    values = np.fromiter(first.values(), dtype=np.float64)
    # The deviation of equal scores may be no 0, because their mean is rounded.
    deviation = values.std() if len(set(first.values())) > 1 else 0.0
    z = (values - values.mean()) / deviation if deviation else np.zeros(len(values))
    return dict(zip(first, z.tolist(), strict=True))


_VALUES: dict[Method, Callable[[Prediction], Mapping[str, float]]] = {
    "rrf": _by_rank,
    "rank": _by_place,
    "zscore": _by_score,
}


def _read(folder: Path) -> tuple[RunCard, dict[str, Prediction]]:
    card, predictions = read_run(folder)
    if card is None:
        raise UserError(f"{folder}: has no {RUN_CARD}; expected a run folder, as `run` writes it")
    return card, {prediction.thread_id: prediction for prediction in predictions.predictions}


def _control(cards: Sequence[RunCard]) -> dict[str, str]:
    """Mark the result as a control run if a source is one. `--name` cannot remove the mark."""
    swaps = dict.fromkeys(card.extra["control"] for card in cards if card.extra.get("control"))
    return {"control": " + ".join(swaps)} if swaps else {}


def _fused_card(
    cards: Sequence[RunCard], *, name: str, settings: dict[str, Any], predictions: list[Prediction]
) -> RunCard:
    def common(read: Callable[[RunCard], T]) -> T | None:
        """Return the value if the cards that have one agree."""
        values = {repr(value): value for card in cards if (value := read(card)) is not None}
        return next(iter(values.values())) if len(values) == 1 else None

    def joined(read: Callable[[RunCard], str | None]) -> str | None:
        """Join different values with a plus sign."""
        values = dict.fromkeys(value for card in cards if (value := read(card)) is not None)
        return " + ".join(values) or None

    a = cards[0]
    open_weights = [card.open_weights for card in cards if card.open_weights is not None]
    modality: Modality = common(lambda card: card.modality) or "audio_query"
    return RunCard(
        name=name,
        paradigm=max((card.paradigm for card in cards), key=_PARADIGMS.index),
        modality=modality,
        dataset=a.dataset,
        config=modality + a.config.removeprefix(a.modality) if a.config.startswith(a.modality) else a.config,
        fingerprint=a.fingerprint,
        reads=max((card.reads for card in cards), key=get_args(Reads).index),
        model_id=joined(lambda card: card.model_id),
        model_revision=joined(lambda card: card.model_revision),
        licence=joined(lambda card: card.licence),
        open_weights=all(open_weights) if open_weights else None,
        trained=any(card.trained for card in cards),
        pools=a.pools,
        seed=common(lambda card: card.seed),
        missing_audio=joined(lambda card: card.missing_audio),
        clip_plan=joined(lambda card: card.clip_plan),
        audio_coverage=common(lambda card: card.audio_coverage),
        outcomes=count_outcomes(predictions),
        code_version=code_version(),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=settings,
    )
