"""Against ir_measures and ranx on random rankings: short, long, of different lengths, empty, with unknown titles."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import ir_measures
import numpy as np
import pytest

from musicrs_metric.hits import hits_from_strings
from musicrs_metric.measures import measure_names
from musicrs_metric.scoring import score, thread_table

K = (1, 3, 5, 10, 20)
IR_MEASURES = {"recall": "R", "ndcg": "nDCG", "hit": "Success", "precision": "P"}
RANX = {"recall": "recall", "ndcg": "ndcg", "hit": "hit_rate", "precision": "precision"}


class Run(NamedTuple):
    """Random threads: rankings, relevant items, pools."""

    rankings: list[list[str]]
    relevant: list[list[str]]
    pools: list[list[str]]


def random_run(seed: int, threads: int = 120) -> Run:
    """Pools of 1 to 100, none to all of a few relevant, rankings from empty to the whole pool and beyond."""
    rng = np.random.default_rng(seed)
    run = Run([], [], [])
    for i in range(threads):
        pool = [f"title {j} of {i}" for j in range(rng.integers(1, 101))]
        others = [f"unknown {j}" for j in range(rng.integers(0, 5))]
        answers = rng.permutation(pool + others).tolist()
        depth = (0, rng.integers(0, 6), rng.integers(0, len(answers) + 1), len(answers))[i % 4]
        run.rankings.append(answers[:depth])
        run.relevant.append(rng.permutation(pool)[: rng.integers(0, 13)].tolist())
        run.pools.append(pool)
    return run


def scores(rankings: list[list[str]]) -> list[dict[str, float]]:
    """Rankings as the descending scores that the libraries want."""
    return [{title: float(len(ranking) - rank) for rank, title in enumerate(ranking)} for ranking in rankings]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("with_pools", [True, False])
def test_every_thread_against_ir_measures(seed: int, with_pools: bool) -> None:
    """Each measure of each thread; a thread that ir_measures leaves out, for want of an answer, is 0."""
    run = random_run(seed)
    assert {0, 1} <= {len(ranking) for ranking in run.rankings}
    qrels = {str(i): dict.fromkeys(titles, 1) | {"none": 0} for i, titles in enumerate(run.relevant)}
    answers = {str(i): found for i, found in enumerate(scores(run.rankings))}
    names = {
        "mrr": "RR",
        **{f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in IR_MEASURES.items() for k in K},
    }
    measures = {ours: ir_measures.parse_measure(theirs) for ours, theirs in names.items()}
    expected = {ours: np.zeros(len(run.rankings)) for ours in measures}
    ours_of = {theirs: ours for ours, theirs in measures.items()}
    for value in ir_measures.iter_calc(measures.values(), qrels, answers):
        expected[ours_of[value.measure]][int(value.query_id)] = value.value
    table = thread_table(hits_from_strings(run.rankings, run.relevant, run.pools if with_pools else None), K)
    assert set(expected) == set(table.values) == set(measure_names(K))
    for name, column in expected.items():
        assert table.values[name] == pytest.approx(column, abs=1e-9), name


@pytest.mark.figures
def test_means_against_ranx() -> None:
    """Means over the threads that ranx can hold: those with a ground truth and an answer."""
    import ranx

    run = random_run(3, threads=200)
    kept = [i for i in range(len(run.rankings)) if run.rankings[i] and run.relevant[i]]
    assert 100 < len(kept) < 200
    rankings, relevant = [run.rankings[i] for i in kept], [run.relevant[i] for i in kept]
    names = {"mrr": "mrr", **{f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in RANX.items() for k in K}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its compiler
        found = ranx.evaluate(
            ranx.Qrels({str(i): dict.fromkeys(titles, 1) for i, titles in enumerate(relevant)}),
            ranx.Run({str(i): answer for i, answer in enumerate(scores(rankings))}),
            list(names.values()),
        )
    result = score(rankings, relevant, [run.pools[i] for i in kept], k=K, confidence=None)
    assert result.values == pytest.approx({ours: float(found[theirs]) for ours, theirs in names.items()}, abs=1e-9)
    # The others score 0: ranx has no answer for them, the mean must.
    everything = score(run.rankings, run.relevant, run.pools, k=K, confidence=None)
    assert everything.values["mrr"] == pytest.approx(float(found["mrr"]) * len(kept) / 200, abs=1e-9)
