"""Two run folders made into a third, which says of itself what both say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.predictions import PREDICTIONS, Prediction, write_predictions
from musicrs_metric.runs.read import read_run
from musicrs_metric.runs.run_card import RUN_CARD, Modality, Paradigm, Reads, RunCard, write_run_card

from .fuse import Method, fuse
from .run.card import code_version, count_outcomes

T = TypeVar("T")

_PARADIGMS: tuple[Paradigm, ...] = ("traditional", "retrieval", "generative")


def fuse_runs(
    a: Path, b: Path, out: Path, method: Method = "rrf", weight: float = 0.5, name: str | None = None
) -> RunCard:
    """Fuse two runs and write the result as a run.

    Args:
        a: A run folder.
        b: Another on the same pools.
        out: Folder to write; it must not hold anything yet.
        method: See `baselines.fuse`.
        weight: The first run's share, 0 to 1.
        name: What tables are to call the result; both names where None.

    Returns:
        The card of the result.

    Raises:
        UserError: A folder holds no run or one without a card, the runs are of different pools or threads, the weight
            is out of range, or `out` is not empty.
    """
    if not 0 <= weight <= 1:
        raise UserError(f"--weight {weight}: expected a number from 0 to 1")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: is not empty; name another folder, or remove this one")
    cards, answers = zip(*(_read(folder) for folder in (a, b)), strict=True)
    for what in ("fingerprint", "pools"):
        found = [getattr(card, what) for card in cards]
        if found[0] != found[1]:
            raise UserError(f"{a} and {b}: runs on different data, {what} {found[0]} and {found[1]}")
    if answers[0].keys() != answers[1].keys():
        odd = sorted(answers[0].keys() ^ answers[1].keys())
        raise UserError(f"{a} and {b}: in one run only: {count(len(odd), 'thread')}, such as {odd[0]}; finish both")
    fused = [fuse(own, answers[1][thread], method, weight) for thread, own in answers[0].items()]
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


def _read(folder: Path) -> tuple[RunCard, dict[str, Prediction]]:
    card, predictions = read_run(folder)
    if card is None:
        raise UserError(f"{folder}: has no {RUN_CARD}; expected a run folder, as `run` writes it")
    return card, {prediction.thread_id: prediction for prediction in predictions.predictions}


def _control(cards: Sequence[RunCard]) -> dict[str, str]:
    """What makes the result a control run: one of the two is, and whoever names the result cannot hide it."""
    swaps = dict.fromkeys(card.extra["control"] for card in cards if card.extra.get("control"))
    return {"control": " + ".join(swaps)} if swaps else {}


def _fused_card(
    a: RunCard, b: RunCard, *, name: str, settings: dict[str, Any], predictions: list[Prediction]
) -> RunCard:
    def one(read: Callable[[RunCard], T]) -> T | None:
        """What both say, or the only one that says anything."""
        said = {repr(value): value for card in (a, b) if (value := read(card)) is not None}
        return next(iter(said.values())) if len(said) == 1 else None

    def both(read: Callable[[RunCard], str | None]) -> str | None:
        """What both say, side by side where they differ."""
        said = dict.fromkeys(value for card in (a, b) if (value := read(card)) is not None)
        return " + ".join(said) or None

    known = [card.open_weights for card in (a, b) if card.open_weights is not None]
    modality: Modality = a.modality if a.modality == b.modality else "audio_query"
    return RunCard(
        name=name,
        paradigm=max(a.paradigm, b.paradigm, key=_PARADIGMS.index),
        modality=modality,
        dataset=a.dataset,
        config=modality + a.config.removeprefix(a.modality) if a.config.startswith(a.modality) else a.config,
        fingerprint=a.fingerprint,
        reads=max(a.reads, b.reads, key=get_args(Reads).index),
        model_id=both(lambda card: card.model_id),
        model_revision=both(lambda card: card.model_revision),
        licence=both(lambda card: card.licence),
        open_weights=all(known) if known else None,
        trained=bool(a.trained or b.trained),
        pools=a.pools,
        seed=one(lambda card: card.seed),
        missing_audio=both(lambda card: card.missing_audio),
        clip_plan=both(lambda card: card.clip_plan),
        audio_coverage=one(lambda card: card.audio_coverage),
        outcomes=count_outcomes(predictions),
        code_version=code_version(),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=settings,
    )
