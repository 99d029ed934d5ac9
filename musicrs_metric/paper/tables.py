"""Readers of the figures of the paper."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

SOURCE = "Surana et al. 2025, arXiv:2509.19469"
OVERALL = "Overall"
METRICS = ("recall@20", "ndcg@20")

# `musicrs_metric.runs.references.fingerprint` of the published file: the data of the paper's figures.
PUBLISHED_FINGERPRINT = "b25183be06964c691a5ec7bb731de6b35d12625b8f08d1f7a17cffaaad8145cf"


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one system in one modality on one genre: a cell of Table 1.

    Attributes:
        system: Its name.
        paradigm: "generative", "retrieval" or "traditional".
        modality: "audio_query", "query_only" or "audio_only".
        genre: One of `musicrs_metric.base.genres.GENRES`, or "Overall".
        values: Measure name to mean in [0, 1].
    """

    system: str
    paradigm: str
    modality: str
    genre: str
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class MusicDataset:
    """A row of the table in Figure 1.

    Attributes:
        name: The dataset.
        reference: Authors and year.
        source: Source of its conversations.
        real_conversations: Whether people wrote them.
        audio: Whether it comes with audio.
        ground_truth: Whether it has a ground truth.
        recommendation: Whether it evaluates recommendation.
        multimodal: Whether it takes more than one kind of input.
    """

    name: str
    reference: str
    source: str
    real_conversations: bool
    audio: bool
    ground_truth: bool
    recommendation: bool
    multimodal: bool


@dataclass(frozen=True, slots=True)
class Example:
    """A thread that the paper shows.

    Attributes:
        exhibit: "Figure 2", "Case study RQ1" or "Case study RQ2".
        genre: Its genre.
        thread_id: Reddit name.
    """

    exhibit: str
    genre: str
    thread_id: str


def table1() -> list[Result]:
    """Return Table 1: 29 systems and modalities on seven genres and overall, in the paper's order."""
    return [
        Result(row["model"], row["paradigm"], row["modality"], row["genre"], _values(row))
        for row in _rows("table1.csv")
    ]


def published_chance() -> dict[str, dict[str, float]]:
    """Return the chance levels of the published pools: genre, or "Overall", to measure to level in [0, 1]."""
    return {row["genre"]: _values(row) for row in _rows("chance.csv")}


def music_datasets() -> list[MusicDataset]:
    """Return Figure 1: properties of MusiCRS and of five other datasets, each a yes or a no."""
    return [
        MusicDataset(
            row["dataset"], row["reference"], row["source"],
            row["real_conversations"] == "yes", row["audio"] == "yes", row["ground_truth"] == "yes",
            row["recommendation"] == "yes", row["multimodal"] == "yes",
        )
        for row in _rows("datasets.csv")
    ]  # fmt: skip


def examples() -> list[Example]:
    """Return Figure 2 and the two case studies, as ids of the published file."""
    return [Example(row["exhibit"], row["genre"], row["thread_id"]) for row in _rows("examples.csv")]


def _values(row: dict[str, str]) -> dict[str, float]:
    return {"recall@20": float(row["recall_at_20"]) / 100, "ndcg@20": float(row["ndcg_at_20"]) / 100}


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
