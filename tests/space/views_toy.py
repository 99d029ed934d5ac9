"""Submissions for the tests of the page: systems of a chosen strength, whose rankings are drawn with a seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np

from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.runs.predictions import Outcome, Prediction
from musicrs_metric.runs.references import References
from musicrs_metric.runs.run_card import Modality, Paradigm, RunCard
from space.store.files import key_of
from space.submission import Submission

_NAMES = ("Aural", "Brass", "Cadence", "Dorian", "Echo", "Fugue", "Groove", "Hymn", "Iamb", "Jig")


def mini_dataset(folder: Path) -> Path:
    """Build the mini dataset, with its clips, in a folder."""
    threads, about = resolve_source("mini")
    build(threads, folder, about=about, configs=("audio_query",))
    return folder


def predictions(references: References, strength: float, seed: int) -> tuple[Prediction, ...]:
    """Rankings that find what is relevant the sooner the higher the strength; 0 is chance."""
    rng = np.random.default_rng(seed)
    made = []
    threads = zip(references.thread_ids, references.candidates, references.ground_truth, strict=True)
    for thread, pool, relevant in threads:
        liked = set(relevant)
        scores = rng.standard_normal(len(pool)) + strength * np.array([title in liked for title in pool])
        outcome: Outcome = "failed" if rng.random() < 0.03 else "ok"
        made.append(Prediction(thread, tuple(pool[i] for i in np.argsort(-scores, kind="stable")), outcome=outcome))
    return tuple(sorted(made, key=lambda one: one.thread_id))


def submission(
    references: References, number: int, *, name: str | None = None, strength: float | None = None
) -> Submission:
    """One submission; its kind follows from its number, so that every filter has something to find.

    Every third number is the same system as the one before it, on another modality.
    """
    modality = get_args(Modality)[number % 3]
    name = f"{_NAMES[number // 3 % len(_NAMES)]} {number // 30 + 1}" if name is None else name
    card = RunCard(
        name=name,
        paradigm=get_args(Paradigm)[number // 3 % 2],
        modality=modality,
        dataset="musicrs",
        config=modality,
        fingerprint=references.fingerprint,
        reads="thread" if number // 3 % 4 else ("pools", "labels")[number // 12 % 2],
        open_weights=(True, False, None)[number // 3 % 3],
        audio_coverage=None if modality == "query_only" else {"threads": 0.9},
        created_at="2026-11-01T12:00:00+00:00",
    )
    made = predictions(references, (number * 37 % 23 - 6) / 20 if strength is None else strength, number)
    return Submission(
        key=key_of(card, made),
        card=card,
        link="https://example.org/system" if number % 2 else None,
        description="Made for tests." if number % 3 else "",
        received_at=f"2026-11-{1 + number % 28:02d}T12:00:00+00:00",
        predictions=made,
    )


def submissions(references: References, n: int) -> Iterator[Submission]:
    """As many submissions as asked for."""
    for number in range(n):
        yield submission(references, number)
