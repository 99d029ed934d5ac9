"""What holds for every ranking."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicrs_metric.hits import hits_from_indices, hits_from_strings
from musicrs_metric.scoring import ThreadTable, thread_table

K = (1, 2, 3, 5, 20)
unhurried = settings(deadline=None)


class Thread(NamedTuple):
    """One thread as strings."""

    ranking: list[str]
    relevant: list[str]
    pool: list[str]


@st.composite
def threads(draw: st.DrawFn, *, plain: bool = False) -> Thread:
    """A pool of up to 12; some relevant; a ranking of distinct candidates or, unless `plain`, of any strings."""
    pool = [f"t{i}" for i in range(draw(st.integers(1, 12)))]
    relevant = draw(st.lists(st.sampled_from(pool), unique=True))
    if plain:
        return Thread(draw(st.permutations(pool))[: draw(st.integers(0, 12))], relevant, pool)
    strings = [*pool, *(text.upper() for text in pool), "unknown", "other", ""]
    return Thread(draw(st.lists(st.sampled_from(strings), max_size=20)), relevant, pool)


def table(thread: Thread, *, with_pool: bool = True) -> ThreadTable:
    """The values of one thread."""
    return thread_table(hits_from_strings([thread.ranking], [thread.relevant], [thread.pool] if with_pool else None), K)


def values(thread: Thread, *, with_pool: bool = True) -> dict[str, float]:
    """Measure name to value."""
    return {name: float(column[0]) for name, column in table(thread, with_pool=with_pool).values.items()}


@unhurried
@given(threads(), st.booleans())
def test_bounds(thread: Thread, with_pool: bool) -> None:
    """0 at least, the ceiling at most, and that is 1 at most; chance does not pass it either."""
    found = table(thread, with_pool=with_pool)
    for name, column in found.values.items():
        assert 0.0 <= column[0] <= found.ceiling[name][0] <= 1.0
        assert found.chance is None or 0.0 <= found.chance[name][0] <= found.ceiling[name][0] + 1e-12


@unhurried
@given(threads(), st.booleans())
def test_deeper_cutoffs_find_no_less(thread: Thread, with_pool: bool) -> None:
    """Recall, hit, and the number of hits behind precision grow with k."""
    found = values(thread, with_pool=with_pool)
    for k, deeper in pairwise(K):
        assert found[f"recall@{k}"] <= found[f"recall@{deeper}"]
        assert found[f"hit@{k}"] <= found[f"hit@{deeper}"]
        assert found[f"precision@{k}"] * k <= found[f"precision@{deeper}"] * deeper + 1e-12


@unhurried
@given(threads(plain=True), st.sampled_from(K), st.randoms(use_true_random=False))
def test_order_below_k_changes_nothing_at_k(thread: Thread, k: int, random: Random) -> None:
    """Only the set of the ranks up to k, and their order, count."""
    tail = thread.ranking[k:]
    random.shuffle(tail)
    before, after = values(thread), values(thread._replace(ranking=thread.ranking[:k] + tail))
    for name in ("recall", "ndcg", "hit", "precision"):
        assert after[f"{name}@{k}"] == before[f"{name}@{k}"]


@unhurried
@given(threads(plain=True), st.data(), st.booleans())
def test_repeats_change_nothing(thread: Thread, data: st.DataObject, with_pool: bool) -> None:
    """A candidate again, anywhere behind its first place and in any spelling, moves no value; it is counted."""
    ranking = list(thread.ranking)
    if not ranking:
        return
    first = data.draw(st.integers(0, len(ranking) - 1))
    at = data.draw(st.integers(first + 1, len(ranking)))
    spelling = data.draw(st.sampled_from(["{}", '"{}"', " “{}”"])) if with_pool else "{}"
    ranking.insert(at, spelling.format(ranking[first]))
    repeated = thread._replace(ranking=ranking)
    assert values(repeated, with_pool=with_pool) == values(thread, with_pool=with_pool)
    assert table(repeated, with_pool=with_pool).hits.n_duplicate.tolist() == [1]


@unhurried
@given(threads(), st.data(), st.booleans())
def test_unknown_strings_never_help(thread: Thread, data: st.DataObject, with_pool: bool) -> None:
    """Wherever one is put in, no value rises."""
    ranking = list(thread.ranking)
    ranking.insert(data.draw(st.integers(0, len(ranking))), data.draw(st.sampled_from(["unknown", "new", "", '"'])))
    before, after = values(thread, with_pool=with_pool), values(thread._replace(ranking=ranking), with_pool=with_pool)
    assert all(after[name] <= before[name] for name in before)


@unhurried
@given(threads(plain=True), st.data())
def test_a_relevant_item_further_up_never_hurts(thread: Thread, data: st.DataObject) -> None:
    """Changing places with the item above it lowers no value."""
    at = data.draw(st.sampled_from([i for i, t in enumerate(thread.ranking) if i and t in thread.relevant] or [0]))
    ranking = list(thread.ranking)
    if at:
        ranking[at - 1], ranking[at] = ranking[at], ranking[at - 1]
    before, after = values(thread), values(thread._replace(ranking=ranking))
    assert all(after[name] >= before[name] - 1e-12 for name in before)


@unhurried
@given(threads(), st.randoms(use_true_random=False))
def test_order_of_pool_and_ground_truth_changes_nothing(thread: Thread, random: Random) -> None:
    """Both are sets."""
    relevant, pool = list(thread.relevant), list(thread.pool)
    random.shuffle(relevant)
    random.shuffle(pool)
    assert values(Thread(thread.ranking, relevant, pool)) == values(thread)


@unhurried
@given(threads(plain=True))
def test_pools_change_no_value_of_a_ranking_of_candidates(thread: Thread) -> None:
    """They bring chance and counts; the values are those of the strings alone."""
    assert values(thread, with_pool=False) == values(thread)


@unhurried
@given(st.lists(threads(), max_size=6))
def test_places_say_what_strings_say(several: list[Thread]) -> None:
    """Strings, as places in the pool and -1 for the unknown, give the same hits, values, chance and counts."""
    strings = thread_table(
        hits_from_strings([t.ranking for t in several], [t.relevant for t in several], [t.pool for t in several]), K
    )
    place = {f"t{i}": i for i in range(12)} | {f"T{i}": i for i in range(12)}
    places = thread_table(
        hits_from_indices(
            [[place.get(text, -1) for text in t.ranking] for t in several],
            [[place[text] for text in t.relevant] for t in several],
            [len(t.pool) for t in several],
        ),
        K,
    )
    for name, column in vars(strings.hits).items():
        assert np.array_equal(getattr(places.hits, name), column), name
    assert strings.chance is not None
    assert places.chance is not None
    for one, other in ((strings.values, places.values), (strings.chance, places.chance)):
        for name, column in one.items():
            assert other[name] == pytest.approx(column, abs=1e-15), name


@unhurried
@given(st.lists(threads(), min_size=2, max_size=5))
def test_threads_do_not_touch_each_other(several: list[Thread]) -> None:
    """Together or alone, a thread scores the same."""
    together = thread_table(
        hits_from_strings([t.ranking for t in several], [t.relevant for t in several], [t.pool for t in several]), K
    ).values
    for i, thread in enumerate(several):
        assert {name: float(column[i]) for name, column in together.items()} == values(thread)
