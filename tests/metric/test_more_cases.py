"""Two files of one system compared as they lie on disk: paired by thread, whatever the order of their lines."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.compare import compare
from musicrs_metric.compare.load import load_runs
from musicrs_metric.runs.references import References

from .support import popularity, references_of, write_lines


def written(path: Path, rankings: dict[str, list[str]], seed: int | None = None) -> Path:
    """A prediction file, its lines in the order of a seed."""
    lines = [{"thread_id": thread, "ranking": ranking} for thread, ranking in rankings.items()]
    if seed is not None:
        random.Random(seed).shuffle(lines)
    return write_lines(path, lines)


def assert_alike(first: Path, second: Path, references: References) -> None:
    """Difference 0, interval [0, 0], p 1 and nothing but ties, without a warning and without NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        systems = [run.system for run in load_runs([first, second], references, ["recall@20", "mrr"])]
        comparison = compare(systems, ["recall@20", "mrr"], resamples=200)
    for found in comparison.metrics.values():
        (pair,) = found.pairs
        assert (pair.difference, pair.interval, pair.p_t, pair.p_flip) == (0.0, (0.0, 0.0), 1.0, 1.0)
        assert (pair.ties, pair.significant) == (len(references), False)
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_a_file_against_itself_in_another_order(tmp_path: Path) -> None:
    """Each thread has its right answer at another rank: paired line by line, most threads would differ."""
    others = list("BCDEFGHIJ")
    rows = [
        {"name": f"t3_{i}", "source_subreddit": "jazz", "final_candidates": ["A", *others], "limited_gt": ["A"]}
        for i in range(10)
    ]
    rankings = {f"t3_{i}": [*others[:i], "A", *others[i:]] for i in range(10)}
    straight, shuffled = (written(tmp_path / f"{seed}.jsonl", rankings, seed) for seed in (None, 1))
    assert straight.read_text() != shuffled.read_text()
    assert_alike(straight, shuffled, references_of(rows))


@pytest.mark.upstream
def test_popularity_against_itself(tmp_path: Path, upstream_rows: list[dict[str, Any]]) -> None:
    """The same on the published threads, against a copy and against its lines in another order."""
    names = [row["name"] for row in upstream_rows]
    rankings = dict(zip(names, popularity(upstream_rows), strict=True))
    straight, copy, shuffled = (
        written(tmp_path / f"{name}.jsonl", rankings, seed)
        for name, seed in (("straight", None), ("copy", None), ("shuffled", 1))
    )
    references = references_of(upstream_rows)
    assert_alike(straight, copy, references)
    assert_alike(straight, shuffled, references)
