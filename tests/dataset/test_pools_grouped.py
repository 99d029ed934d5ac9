"""Grouped pools: whole ground truths, each in equally many pools, and none that names an answer of the thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicrs_dataset.pools import PoolSet, grouped_pools, write_pools
from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError
from musicrs_metric.matching import normalise

from .support import read_upstream
from .test_pools_balanced import thread


def assert_sound(threads: Sequence[Thread], made: PoolSet, distractors: int) -> None:
    """Check the definition of the design, with no code of the design."""
    assert list(made.pools) == [row.thread_id for row in threads]
    for subreddit in {row.subreddit for row in threads}:
        group = [row for row in threads if row.subreddit == subreddit]
        count = made.subreddits[subreddit].count
        assert count is not None
        assert count >= 2
        relevant = Counter(normalise(name) for row in group for name in set(row.ground_truth))
        placed = Counter(normalise(name) for row in group for name in made.pools[row.thread_id])
        assert placed == {name: times * count for name, times in relevant.items()}
        limit = distractors + max(len(set(row.ground_truth)) for row in group)
        for row in group:
            pool = made.pools[row.thread_id]
            assert len(set(pool)) == len(pool) <= limit
            assert set(row.ground_truth) <= set(pool)
            assert set(pool) > set(row.ground_truth)
            barred = {normalise(name) for name in (*row.ground_truth, *row.all_entities)}
            assert not barred & {normalise(name) for name in pool if name not in row.ground_truth}
            whole = [other for other in group if set(other.ground_truth) <= set(pool)]
            assert set(pool) == {name for other in whole for name in other.ground_truth}


def test_two_threads_worked_out_by_hand() -> None:
    threads = [thread("t1", ["A", "B"]), thread("t2", ["C"]), thread("t3", [])]
    made = grouped_pools(threads, distractors=3, seed=0)
    assert_sound(threads, made, 3)
    # Each set fits into all pools but one: 3 sets' worth of places in 3 pools of at most 5, 2 pools per set or 3.
    assert made.subreddits["jazz"].count in (2, 3)
    assert made.pools["t3"]


def test_a_set_is_not_used_where_replies_name_one_of_its_titles() -> None:
    threads = [thread("t1", ["A"], named=["b"]), thread("t2", ["B", "C"]), thread("t3", ["D"]), thread("t4", ["E"])]
    for seed in range(10):
        made = grouped_pools(threads, seed=seed)
        assert_sound(threads, made, 90)
        assert "C" not in made.pools["t1"]


@pytest.mark.parametrize(
    ("threads", "distractors", "message"),
    [
        ([thread("t1", ["A"]), thread("t2", [])], 90, "1 of its 2 threads have a ground truth, which"),
        (
            [thread("t1", ["A"]), thread("t2", ["B"]), *(thread(f"e{i}", [], named="AB") for i in range(9))],
            1,
            "2 of its 11 threads",
        ),
        ([thread("t1", ["A"], named=["B"]), thread("t2", ["B"])], 90, "name a title of the ground truth of thread t2"),
        ([thread(f"t{i}", [f"{i}{j}" for j in range(9)]) for i in range(4)], 2, "no second ground truth fits into 11"),
    ],
)
def test_a_subreddit_without_such_pools_is_named_before_any_draw(
    threads: list[Thread], distractors: int, message: str
) -> None:
    begun: list[int] = []

    def track(groups: Any) -> Any:
        begun.append(1)
        return groups

    others = [thread(f"a{i}", [f"X{i}"], subreddit="ambientmusic") for i in range(5)]
    with pytest.raises(UserError, match=f"r/jazz: .*{message}.*balanced"):
        grouped_pools([*others, *threads], distractors=distractors, track=track)
    assert not begun


def test_a_small_subreddit_gets_smaller_pools_and_the_note_says_so() -> None:
    threads = [thread(f"t{i}", [f"Title {i}"]) for i in range(4)]
    made = grouped_pools(threads)
    assert made.subreddits["jazz"].size == (4, 4)
    assert "r/jazz: its 4 ground truths give pools of 4 to 4 candidates" in made.notes[0]


def test_a_subreddit_does_not_depend_on_the_others() -> None:
    jazz = [thread(f"t{i}", [f"Title {i}", f"Other {i}"]) for i in range(8)]
    metal = [thread(f"m{i}", [f"Riff {i}"], subreddit="metal") for i in range(8)]
    alone = grouped_pools(jazz, distractors=5, seed=3).pools
    together = grouped_pools([*metal, *jazz], distractors=5, seed=3).pools
    assert all(together[name] == pool for name, pool in alone.items())


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n_threads=st.integers(2, 8), seed=st.integers(0, 5))
def test_any_subreddit_is_grouped_or_refused(data: st.DataObject, n_threads: int, seed: int) -> None:
    names = st.lists(st.sampled_from([*"abcdefghijklmnop", *"ABC"]), max_size=4, unique_by=str.lower)
    threads = [thread(f"t{i}", data.draw(names), named=data.draw(names)) for i in range(n_threads)]
    distractors = data.draw(st.integers(1, 12))
    try:
        made = grouped_pools(threads, distractors=distractors, seed=seed)
    except UserError:
        return
    assert_sound(threads, made, distractors)


def test_every_set_is_as_likely_in_every_pool() -> None:
    # 8 sets of two in pools of at most 6: three pools per set at most, so each pair of pool and set has the same share.
    threads = [thread(f"t{i}", [f"A{i}", f"B{i}"]) for i in range(8)]
    total = np.zeros((8, 8))
    for seed in range(200):
        made = grouped_pools(threads, distractors=4, seed=seed)
        total += [[f"A{i}" in made.pools[f"t{t}"] for i in range(8)] for t in range(8)]
    count = total[0, 0] and total.sum() / 200 / 8
    others = total[~np.eye(8, dtype=bool)] / 200
    # Standard error of one share is at most .036; 56 shares within 4.5 of them.
    assert np.abs(others - (count - 1) / 7).max() < 0.16


@pytest.mark.figures
@pytest.mark.upstream
def test_pools_of_the_published_threads(upstream_file: Path, tmp_path: Path) -> None:
    threads = read_upstream(upstream_file)
    made = grouped_pools(threads, seed=1)
    assert_sound(threads, made, 90)
    assert max(len(pool) for pool in made.pools.values()) <= 100
    files = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for file in files:
        write_pools(file, grouped_pools(threads, seed=1), threads, source="x")
    assert files[0].read_bytes() == files[1].read_bytes()
    assert grouped_pools(threads, seed=2).pools != made.pools
