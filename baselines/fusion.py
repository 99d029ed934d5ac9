"""Late fusion of two runs: one ranking per pool, from ranks or from scores.

rrf     A candidate scores w / (60 + rank in A) + (1 - w) / (60 + rank in B). G. Cormack et al., Reciprocal rank fusion
        outperforms Condorcet and individual rank learning methods, SIGIR 2009, doi:10.1145/1571941.1572114; theirs has
        no weights.
zscore  w * z in A + (1 - w) * z in B. z is the score minus the mean, divided by the standard deviation (of all items,
        not of a sample), over the scores of the system in this thread. Equal scores all have z = 0.

A candidate that only one run ranks counts as last in the other: it gets nothing for a rank, and the lowest z.
Ties go to the candidate that A ranks higher, then to the one that B ranks higher.
"""

from __future__ import annotations

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

Method = Literal["rrf", "zscore"]
T = TypeVar("T")

_K = 60
_PARADIGMS: tuple[Paradigm, ...] = ("traditional", "retrieval", "generative")


def fuse_runs(
    a: Path, b: Path, out: Path, method: Method = "rrf", weight: float = 0.5, name: str | None = None
) -> RunCard:
    """Fuse two runs and write the result as a run.

    Args:
        a: The first run folder.
        b: The second run folder, on the same pools.
        out: Folder to write. It must be empty or missing.
        method: See the module.
        weight: Weight of the first run, 0 to 1.
        name: Name of the result in tables. None joins both names.

    Returns:
        The card of the result.

    Raises:
        UserError: A folder holds no run or a run without a card, the runs are on different pools or threads, the
            weight is out of range, or `out` is not empty.
    """
    if not 0 <= weight <= 1:
        raise UserError(f"--weight {weight}: expected a number from 0 to 1")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: is not empty; name another folder, or remove this one")
    cards, predictions = zip(*(_read(folder) for folder in (a, b)), strict=True)
    for field in ("fingerprint", "pools"):
        values = [getattr(card, field) for card in cards]
        if values[0] != values[1]:
            raise UserError(f"{a} and {b}: runs on different data, {field} {values[0]} and {values[1]}")
    if predictions[0].keys() != predictions[1].keys():
        unpaired = sorted(predictions[0].keys() ^ predictions[1].keys())
        raise UserError(
            f"{a} and {b}: in one run only: {count(len(unpaired), 'thread')}, such as {unpaired[0]}; finish both"
        )
    fused = [fuse(own, predictions[1][thread], method, weight) for thread, own in predictions[0].items()]
    control = _control(cards)
    name = name or f"{cards[0].name} + {cards[1].name}"
    name = ", ".join([name, *(swap for swap in control.values() if swap not in name)])
    card = _fused_card(*cards, name=name, settings={"method": method, "weight": weight}, predictions=fused)
    card.extra.update(control)
    card.extra["fused"] = [
        {"name": card.name, "sha256": file_sha256(folder / PREDICTIONS)}
        for card, folder in zip(cards, (a, b), strict=True)
    ]
    out.mkdir(parents=True, exist_ok=True)
    write_predictions(out / PREDICTIONS, fused)
    write_run_card(out / RUN_CARD, card)
    return card


def fuse(a: Prediction, b: Prediction, method: Method = "rrf", weight: float = 0.5) -> Prediction:
    """Fuse two rankings of one pool.

    Args:
        a: The first prediction.
        b: The second prediction, for the same thread.
        method: See the module.
        weight: Weight of the first prediction, 0 to 1.

    Returns:
        The candidates that either system ranked itself, best first, with their fused scores. The filled parts follow;
        then no candidate has a score. The random order of a failed thread therefore has no influence. If one system
        ranked nothing, the order of the other stays. The outcome is the first of the two that is not "ok".

    Raises:
        UserError: The method needs scores and a prediction has none.
    """
    values = [_VALUES[method](own) for own in (_ranked_part(a), _ranked_part(b))]
    weights = (weight, 1 - weight)
    if not all(values):  # one system ranked nothing, so its lowest value is unknown
        values, weights = [value for value in values if value], (1.0, 1.0)
    lowest = [0.0 if method == "rrf" else min(value.values()) for value in values]
    candidates = list(dict.fromkeys(candidate for value in values for candidate in value))
    fused = {
        candidate: sum(
            share * value.get(candidate, low) for share, value, low in zip(weights, values, lowest, strict=False)
        )
        for candidate in candidates
    }
    ranking = sorted(candidates, key=lambda candidate: -fused[candidate])
    rest = [candidate for candidate in dict.fromkeys(a.ranking + b.ranking) if candidate not in fused]
    return Prediction(
        thread_id=a.thread_id,
        ranking=(*ranking, *rest),
        scores=None if rest or not ranking else tuple(fused[candidate] for candidate in ranking),
        outcome=next((p.outcome for p in (a, b) if p.outcome not in (None, "ok")), None),
        n_answered=len(ranking) if rest else None,
    )


def _ranked_part(prediction: Prediction) -> Prediction:
    """Remove the filled part."""
    n = len(prediction.ranking) if prediction.n_answered is None else prediction.n_answered
    scores = None if prediction.scores is None else prediction.scores[:n]
    return Prediction(prediction.thread_id, prediction.ranking[:n], scores)


def _by_rank(prediction: Prediction) -> Mapping[str, float]:
    distinct = dict.fromkeys(prediction.ranking)
    return {candidate: 1 / (_K + rank) for rank, candidate in enumerate(distinct, 1)}


def _by_score(prediction: Prediction) -> Mapping[str, float]:
    if prediction.scores is None and prediction.ranking:
        raise UserError(f"thread {prediction.thread_id}: has no scores; --method rrf needs none")
    first: dict[str, float] = {}
    for candidate, score in zip(prediction.ranking, prediction.scores or (), strict=True):
        first.setdefault(candidate, score)
    values = np.fromiter(first.values(), dtype=np.float64)
    deviation = values.std() if len(values) else 0.0
    z = (values - values.mean()) / deviation if deviation else np.zeros(len(values))
    return dict(zip(first, z.tolist(), strict=True))


_VALUES: dict[Method, Callable[[Prediction], Mapping[str, float]]] = {"rrf": _by_rank, "zscore": _by_score}


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
    a: RunCard, b: RunCard, *, name: str, settings: dict[str, Any], predictions: list[Prediction]
) -> RunCard:
    def common(read: Callable[[RunCard], T]) -> T | None:
        """Return the value if the cards that have one agree."""
        values = {repr(value): value for card in (a, b) if (value := read(card)) is not None}
        return next(iter(values.values())) if len(values) == 1 else None

    def joined(read: Callable[[RunCard], str | None]) -> str | None:
        """Join different values with a plus sign."""
        values = dict.fromkeys(value for card in (a, b) if (value := read(card)) is not None)
        return " + ".join(values) or None

    open_weights = [card.open_weights for card in (a, b) if card.open_weights is not None]
    modality: Modality = a.modality if a.modality == b.modality else "audio_query"
    return RunCard(
        name=name,
        paradigm=max(a.paradigm, b.paradigm, key=_PARADIGMS.index),
        modality=modality,
        dataset=a.dataset,
        config=modality + a.config.removeprefix(a.modality) if a.config.startswith(a.modality) else a.config,
        fingerprint=a.fingerprint,
        reads=max(a.reads, b.reads, key=get_args(Reads).index),
        model_id=joined(lambda card: card.model_id),
        model_revision=joined(lambda card: card.model_revision),
        licence=joined(lambda card: card.licence),
        open_weights=all(open_weights) if open_weights else None,
        trained=bool(a.trained or b.trained),
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
