"""The paper's figures: that they are the paper's, and that they give its sentences."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT, GENRES
from musicrs_metric.paper.findings import below_chance, best_modality, overall, paradigm_means, peaks
from musicrs_metric.paper.tables import (
    METRICS,
    OVERALL,
    PUBLISHED_FINGERPRINT,
    Result,
    examples,
    music_datasets,
    published_chance,
    table1,
)
from musicrs_metric.runs.references import fingerprint


def test_table_has_29_rows_of_eight_cells() -> None:
    rows = table1()
    assert len(overall(rows)) == 29
    assert len(rows) == 29 * 8
    assert {row.genre for row in rows} == {*GENRES, OVERALL}


def test_every_figure_is_the_published_one(paper_table1: Path) -> None:
    with paper_table1.open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    ours = table1()
    assert len(ours) == len(published)
    for row, result in zip(published, ours, strict=True):
        assert (result.paradigm, result.system, result.modality, result.genre) == tuple(list(row.values())[:4])
        assert f"{result.values['recall@20'] * 100:.2f}" == row["recall_at_20"]
        assert f"{result.values['ndcg@20'] * 100:.2f}" == row["ndcg_at_20"]


def test_rq1_two_of_nine_multimodal_systems_are_best_when_combined() -> None:
    best = best_modality(table1())
    assert len(best) == 9
    assert sorted(name for name, modality in best.items() if modality == "audio_query") == [
        "Qwen2-Audio-7B",
        "Qwen2.5-Omni-7B",
    ]
    assert best["CLAP"] == "query_only"  # the paper: 22.71 query-only against 21.15 audio-only


def test_rq2_retrieval_beats_generative_by_the_means_of_the_paper() -> None:
    recall, ndcg = (paradigm_means(table1(), metric) for metric in METRICS)
    assert (f"{recall['retrieval'] * 100:.2f}", f"{ndcg['retrieval'] * 100:.2f}") == ("21.21", "14.72")
    assert (f"{recall['generative'] * 100:.2f}", f"{ndcg['generative'] * 100:.2f}") == ("18.77", "13.14")
    assert recall["traditional"] == pytest.approx((0.1651 + 0.1472) / 2)


def test_rq3_peaks_of_the_genres() -> None:
    best = peaks(table1())
    assert {genre: f"{row.values['recall@20'] * 100:.2f}" for genre, row in best.items()} == {
        "Classical": "26.53",
        "Hip-Hop": "25.12",
        "Pop": "23.38",
        "Electronic": "25.29",
        "Metal": "26.42",
        "Indie": "29.85",
        "Jazz": "28.09",
        OVERALL: "22.71",
    }


def test_most_rows_of_the_table_lie_below_chance() -> None:
    rows, chance = table1(), published_chance()
    assert len(below_chance(rows, chance, "recall@20")) == 23
    assert len(below_chance(rows, chance, "ndcg@20")) == 24


def test_a_system_in_one_modality_is_no_evidence_on_modalities() -> None:
    rows = [
        Result("A", "retrieval", "audio_query", OVERALL, {"recall@20": 0.9}),
        Result("B", "retrieval", "query_only", OVERALL, {"recall@20": 0.2}),
        Result("B", "retrieval", "audio_only", OVERALL, {"recall@20": 0.1}),
        Result("C", "retrieval", "query_only", OVERALL, {"recall@20": 0.2}),
        Result("C", "retrieval", "audio_query", OVERALL, {"recall@20": 0.1}),
        Result("C", "retrieval", "audio_query", "Jazz", {"recall@20": 0.9}),
    ]
    assert best_modality(rows) == {"C": "query_only"}


def test_chance_is_the_exact_expectation_on_the_published_file(reference_metrics: dict[str, Any]) -> None:
    exact = reference_metrics["chance_exact"]["P"]
    expected = {**exact["per_genre"], OVERALL: exact["overall"]}
    chance = published_chance()
    assert set(chance) == set(expected)
    for genre, values in chance.items():
        for metric in METRICS:
            assert values[metric] == pytest.approx(expected[genre][metric], abs=0.5e-4)


def test_fingerprint_is_that_of_the_published_file(upstream_rows: list[dict[str, Any]]) -> None:
    threads = ((row["name"], row["final_candidates"], row["limited_gt"]) for row in upstream_rows)
    assert fingerprint(threads) == PUBLISHED_FINGERPRINT


def test_only_musicrs_has_everything_that_figure_1_asks_for() -> None:
    complete = {
        dataset.name
        for dataset in music_datasets()
        if all(
            [
                dataset.real_conversations,
                dataset.audio,
                dataset.ground_truth,
                dataset.recommendation,
                dataset.multimodal,
            ]
        )
    }
    assert len(music_datasets()) == 6
    assert complete == {"MusiCRS"}


def test_examples_are_threads_of_their_genre(upstream_rows: list[dict[str, Any]]) -> None:
    genre = {row["name"]: GENRE_OF_SUBREDDIT[row["source_subreddit"]] for row in upstream_rows}
    shown = examples()
    assert [example.genre for example in shown] == [genre[example.thread_id] for example in shown]
    assert len({example.genre for example in shown if example.exhibit == "Figure 2"}) == 6
