"""Time to score strings, relative to the least possible time and to other libraries with their set-up.

    python -m benchmarks scoring [--threads 100000] [--rounds 3]

A thread has 100 candidates, 10 of them relevant, and a ranking of all of them. For every single measurement all of it
is read anew from JSON: every string is an object of its own whose hash is not yet known, as in real use.

The floor is one look-up of every ranked string in a dictionary of the pool of its thread, title to place, that stands
ready before the clock starts: whoever tells which candidate a string names has to do at least that.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from math import log2
from typing import Any, NamedTuple

import numpy as np

from musicrs_metric.hits import hits_from_strings
from musicrs_metric.matching import normalise
from musicrs_metric.measures import DEFAULT_K
from musicrs_metric.scoring import thread_table

from .side_by_side import Contender, compare, peak_memory, report

N_CANDIDATES, N_RELEVANT = 100, 10
_WORDS = ["amber", "blue", "city", "dance", "echo", "fire", "gold", "heart", "iron", "june", "late", "moon", "night"]


class Threads(NamedTuple):
    """Inputs to score, one entry per thread."""

    rankings: list[list[str]]
    relevant: list[list[str]]
    candidates: list[list[str]]


def json_lines(threads: int) -> Iterator[str]:
    """Invented threads, one JSON line each."""
    rng = np.random.default_rng(0)
    for _ in range(threads):
        first, second = rng.choice(_WORDS, (2, N_CANDIDATES)).tolist()
        pool = [f"{a} {b} {i}" for i, (a, b) in enumerate(zip(first, second, strict=True))]
        ranking = [pool[i] for i in rng.permutation(N_CANDIDATES)]
        yield json.dumps([ranking, [pool[i] for i in rng.permutation(N_CANDIDATES)[:N_RELEVANT]], pool])


def read(lines: Sequence[str]) -> Threads:
    """Read the threads, every string a new object."""
    return Threads(*(list(column) for column in zip(*map(json.loads, lines), strict=True)))


def score_all(threads: Threads) -> object:
    """This project: every measure for every thread, with chance and ceiling."""
    return thread_table(hits_from_strings(*threads), DEFAULT_K)


def index_pools(threads: Threads) -> tuple[list[list[str]], list[dict[str, int]]]:
    """Inputs of the floor, prepared before the clock starts."""
    return threads.rankings, [{title: i for i, title in enumerate(pool)} for pool in threads.candidates]


def look_up(prepared: tuple[list[list[str]], list[dict[str, int]]]) -> None:
    """The floor: one look-up per ranked string."""
    for ranking, places in zip(*prepared, strict=True):
        deque(map(places.__getitem__, ranking), maxlen=0)


def normalise_all(threads: Threads) -> list[dict[str, float]]:
    """A plain scorer: every string normalised, found in the set of relevant ones, summed in Python."""
    rows = []
    for ranking, relevant in zip(threads.rankings, threads.relevant, strict=True):
        gold = {normalise(title) for title in relevant}
        ranks = [rank for rank, title in enumerate(ranking, 1) if normalise(title) in gold]
        row = {"mrr": 1 / ranks[0] if ranks else 0.0}
        for k in DEFAULT_K:
            top = [rank for rank in ranks if rank <= k]
            ideal = sum(1 / log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))
            row[f"recall@{k}"] = len(top) / len(gold)
            row[f"ndcg@{k}"] = sum(1 / log2(rank + 1) for rank in top) / ideal
            row[f"hit@{k}"] = float(bool(top))
            row[f"precision@{k}"] = len(top) / k
        rows.append(row)
    return rows


def with_pytrec_eval(threads: Threads) -> Any:
    """pytrec_eval-terrier, with the dictionaries that it wants."""
    import pytrec_eval

    cutoffs = ",".join(map(str, DEFAULT_K))
    measures = {"recip_rank", *(f"{name}.{cutoffs}" for name in ("recall", "ndcg_cut", "success", "P"))}
    evaluator = pytrec_eval.RelevanceEvaluator(_qrels(threads), measures)
    return evaluator.evaluate(_run(threads))


def with_ranx(threads: Threads) -> Any:
    """ranx, with its Qrels and Run objects."""
    import ranx

    measures = ["mrr", *(f"{name}@{k}" for name in ("recall", "ndcg", "hit_rate", "precision") for k in DEFAULT_K)]
    return ranx.evaluate(ranx.Qrels(_qrels(threads)), ranx.Run(_run(threads)), measures)


def _qrels(threads: Threads) -> dict[str, dict[str, int]]:
    return {str(i): dict.fromkeys(titles, 1) for i, titles in enumerate(threads.relevant)}


def _run(threads: Threads) -> dict[str, dict[str, float]]:
    descending = [float(N_CANDIDATES - rank) for rank in range(N_CANDIDATES)]
    return {str(i): dict(zip(titles, descending, strict=True)) for i, titles in enumerate(threads.rankings)}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the ratios.

    Args:
        argv: `--threads N` and `--rounds N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks scoring")
    parser.add_argument("--threads", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args(argv)
    lines = list(json_lines(arguments.threads))

    threads = read(lines)
    peak = peak_memory(partial(score_all, threads))
    del threads
    if peak is not None:
        print(f"memory beside the input: {peak:,.0f} MB at the peak   at most 1,500")
        report("memory", {"threads": arguments.threads, "peak_mb": round(peak)})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with_ranx(read(lines[:2]))  # compiles, with warnings of its compiler
    contenders = [
        Contender("floor: one look-up per ranked string", look_up, index_pools),
        Contender("musicrs_metric", score_all),
        Contender("pytrec_eval-terrier", with_pytrec_eval),
        Contender("plain Python, all strings normalised", normalise_all),
        Contender("ranx", with_ranx),
    ]
    title = f"{arguments.threads:,} threads x {N_CANDIDATES} strings to all measures, {arguments.rounds} rounds"
    ratios = compare(title, contenders, partial(read, lines), rounds=arguments.rounds, targets={"musicrs_metric": 2.5})
    for peer, target in (("pytrec_eval-terrier", 1.5), ("ranx", 5.0)):
        faster = ratios[peer] / ratios["musicrs_metric"]
        print(f"  musicrs_metric is {faster:.1f} times as fast as {peer}   at least {target:g}")


if __name__ == "__main__":
    main()
