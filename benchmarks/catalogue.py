"""Time to score rankings of a catalogue, and to rank it by BM25, relative to the least possible time and to bm25s.

    python -m benchmarks catalogue [--turns 8000] [--items 47000] [--rounds 3]

Scoring: the floor is one look-up of every ranked id in a dictionary. All ids are read anew from JSON for every
measurement, so that no hash is known. Ranking: bm25s alone indexes the same words and retrieves as many items.
Times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from baselines.catalogue.retrievers import DEPTH, LexicalCatalogue, words
from baselines.system import Context
from musicrs_metric.catalogue.corpus import Corpus
from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.catalogue.judge import judge_rankings
from musicrs_metric.catalogue.measures import catalogue_table

from .side_by_side import Contender, compare

_WORDS = [f"{first}{second}" for first in "bcdfghjklmnprstvw" for second in ("ab", "el", "in", "ot", "un", "ar", "ix")]


def invented_corpus(turns: int, items: int) -> Corpus:
    """Invent titles of 2 to 12 words of a skewed vocabulary, and queries of 5 to 60."""
    rng = np.random.default_rng(0)
    vocabulary = [f"{a}{b}" for a in _WORDS for b in _WORDS]

    def text(low: int, high: int) -> str:
        places = (len(vocabulary) * rng.random(rng.integers(low, high)) ** 3).astype(int)
        return " ".join(vocabulary[place] for place in places)

    catalogue = Catalogue(tuple(Item(f"{i:011x}", text(2, 12), cluster=f"c{i // 2}") for i in range(items)))
    relevant = [[catalogue.items[i].id for i in rng.integers(0, items, 10)] for _ in range(turns)]
    names = [str(turn) for turn in range(turns)]
    return Corpus(
        name="invented", config="query_only", thread_ids=names, candidates=[()] * turns, ground_truth=relevant,
        groups={"dialogue": names, "turn": ["0"] * turns}, queries=[text(5, 60) for _ in range(turns)],
        known=[()] * turns, catalogue=catalogue,
    )  # fmt: skip


def score_all(corpus: Corpus, rankings: list[list[str]]) -> object:
    """This project: every measure of every turn, with chance and ceiling."""
    return catalogue_table(judge_rankings(rankings, corpus.ground_truth, corpus.known, corpus.catalogue).hits)


def look_up(codes: dict[str, int], rankings: list[list[str]]) -> None:
    """The floor: one look-up per ranked id."""
    for ranking in rankings:
        deque(map(codes.get, ranking), maxlen=0)


def rank_all(corpus: Corpus, cache: Path, _: object) -> None:
    """This project: index and rankings of ids."""
    deque(LexicalCatalogue(corpus, Context(modality="query_only", seed=0, cache=cache)).rankings(), maxlen=0)


def bm25s_alone(corpus: Corpus, _: object) -> Any:
    """bm25s: index and positions of the best items, one query at a time on one thread."""
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([words(item.text) for item in corpus.catalogue.items], show_progress=False)
    queries = [words(query) for query in corpus.queries]
    return index.retrieve(queries, k=min(DEPTH, len(corpus.catalogue)), show_progress=False, backend_selection="numpy")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the ratios.

    Args:
        argv: `--turns N`, `--items N` and `--rounds N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks catalogue")
    parser.add_argument("--turns", type=int, default=8_000)
    parser.add_argument("--items", type=int, default=47_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args(argv)
    corpus = invented_corpus(arguments.turns, arguments.items)
    rng = np.random.default_rng(1)
    ids = np.array([item.id for item in corpus.catalogue.items], dtype=object)
    lines = [json.dumps(ids[rng.permutation(len(ids))[:DEPTH]].tolist()) for _ in range(arguments.turns)]
    compare(
        f"{arguments.turns:,} turns x {DEPTH:,} ids to all measures, CPU seconds",
        [
            Contender("floor: one look-up per ranked id", partial(look_up, corpus.catalogue.codes)),
            Contender("musicrs_metric", partial(score_all, corpus)),
        ],
        lambda: [json.loads(line) for line in lines],
        rounds=arguments.rounds, targets={"musicrs_metric": 2.0}, clock=process_time,
    )  # fmt: skip
    lines.clear()
    with TemporaryDirectory() as cache:
        compare(
            f"BM25 of {arguments.items:,} items for {arguments.turns:,} queries, CPU seconds",
            [
                Contender("bm25s alone", partial(bm25s_alone, corpus)),
                Contender("baselines: lexical", partial(rank_all, corpus, Path(cache))),
            ],
            lambda: None,
            rounds=arguments.rounds, targets={"baselines: lexical": 1.3}, clock=process_time,
        )  # fmt: skip
