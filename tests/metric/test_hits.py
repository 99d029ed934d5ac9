"""Many threads as flat arrays: strings, places, Arrow lists, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from musicrs_metric.hits import Hits, hits_from_indices, hits_from_strings


def columns(hits: Hits) -> dict[str, list[Any] | None]:
    """The arrays of `hits` as lists."""
    return {name: None if column is None else column.tolist() for name, column in vars(hits).items()}


# Three threads: two hits behind a repeat and an unknown string; nothing found; no prediction.
STRINGS: tuple[list[list[str] | None], list[list[str]], list[list[str]]] = (
    [["C", "C", "?", "A", "B"], ["E"], None],
    [["A", "B"], ["D"], ["F"]],
    [["A", "B", "C"], ["D", "E"], ["F"]],
)
PLACES: tuple[list[list[int] | None], list[list[int]], list[int]] = (
    [[2, 2, -1, 0, 1], [1], None],
    [[0, 1], [0], [0]],
    [3, 2, 1],
)
EXPECTED: dict[str, list[Any]] = {
    "thread": [0, 0],
    "rank": [3, 4],
    "n_relevant": [2, 1, 1],
    "n_reachable": [2, 1, 1],
    "pool_size": [3, 2, 1],
    "n_unknown": [1, 0, 0],
    "n_duplicate": [1, 0, 0],
    "missing": [False, False, True],
}


def test_strings() -> None:
    """Ranks close up behind the repeat, not behind the unknown string."""
    assert columns(hits_from_strings(*STRINGS)) == EXPECTED


def test_places() -> None:
    """The same threads as places say the same."""
    assert columns(hits_from_indices(*PLACES)) == EXPECTED


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64()])
def test_arrow_lists(kind: pa.DataType) -> None:
    """Ragged Arrow lists, whole, in chunks or as a slice; null is a thread without prediction."""
    rankings, references, sizes = PLACES
    whole = pa.array(rankings, pa.list_(kind))
    relevant = pa.array(references, pa.list_(kind))
    assert columns(hits_from_indices(whole, relevant, sizes)) == EXPECTED
    chunks = pa.chunked_array([whole[:1], whole[1:]])
    assert columns(hits_from_indices(chunks, relevant, sizes)) == EXPECTED
    assert hits_from_indices(whole[1:], relevant[1:], sizes[1:]).missing.tolist() == [False, True]


@pytest.mark.parametrize("kind", [np.int16, np.int64, np.uint8, np.uint64])
def test_matrix_and_flags(kind: type) -> None:
    """A matrix with one flag per candidate, in any integer type: hits at rank 2, and at ranks 1 and 3."""
    rankings: npt.NDArray[Any] = np.array([[1, 0, 2], [2, 1, 0]], dtype=kind)
    flags = np.array([[True, False, False], [True, False, True]])
    fixed = pa.FixedSizeListArray.from_arrays(rankings.astype(np.int32).reshape(-1), 3)
    for form in (rankings, rankings.tolist(), fixed):
        hits = hits_from_indices(form, flags, 3)
        assert (hits.thread.tolist(), hits.rank.tolist()) == ([0, 1, 1], [2, 1, 3])
        assert hits.n_relevant.tolist() == [1, 2]


def test_flags_of_pools_of_different_sizes() -> None:
    """Flags behind the end of a smaller pool must not be set."""
    rankings = [[1, 0], [0]]
    hits = hits_from_indices(rankings, np.array([[False, True], [True, False]]), [2, 1])
    assert (hits.thread.tolist(), hits.rank.tolist(), hits.n_relevant.tolist()) == ([0, 1], [1, 1], [1, 1])
    with pytest.raises(ValueError, match=r"references\[1\] names position 1, expected 0 to 0"):
        hits_from_indices(rankings, np.array([[False, True], [True, True]]), [2, 1])


def test_arrays_in_place_of_lists() -> None:
    """Rows may be tuples or numpy arrays of strings."""
    rankings: list[Any] = [np.array(["B", "A"]), ("C",)]
    hits = hits_from_strings(rankings, [("A",), np.array(["C"])], [np.array(["A", "B"]), ["C"]])  # type: ignore[list-item]
    assert (hits.rank.tolist(), hits.n_unknown.tolist()) == ([2, 1], [0, 0])


def test_no_threads() -> None:
    """No threads are in order here; a mean over them is refused later."""
    assert len(hits_from_strings([], [])) == len(hits_from_indices([], [], [])) == 0
    assert hits_from_strings([], [], []).pool_size is not None


def test_pools_of_very_different_sizes() -> None:
    """Memory follows the sum of the pools, not their number times the largest."""
    sizes = [3_000_000] + [1] * 5_000
    hits = hits_from_indices([[2_999_999]] + [[0]] * 5_000, [[2_999_999]] + [[0]] * 5_000, sizes)
    assert hits.rank.tolist() == [1] * 5_001


@pytest.mark.parametrize(
    ("rankings", "references", "candidates", "said"),
    [
        ([["A"], "AB"], [["A"], ["A"]], [["A"], ["A", "B"]], r"rankings\[1\] is 'AB', expected a list of strings"),
        ([["A"], ["B"]], [["A"], "B"], None, r"references\[1\] is 'B', expected a list of strings"),
        ([["A"]], [["A"]], ["A"], r"candidates\[0\] is 'A', expected a list of strings"),
        ([["A"], ["A", 7]], [["A"], ["A"]], [["A"], ["A"]], r"rankings\[1\]\[1\] is 7, expected text"),
        ([[0, 1]], [[0]], [[0, 1]], r"rankings\[0\]\[0\] is 0, expected text"),
        ([[0, 1]], [[0]], None, r"rankings\[0\]\[0\] is 0, expected text"),
        ([["A", None]], [["A"]], [["A"]], r"rankings\[0\]\[1\] is null, expected text"),
        ([[["A"]]], [["A"]], [["A"]], r"rankings\[0\]\[0\] is a list of 1, expected text"),
        ([["A"]], [["A"]], [["A", 3.5]], r"candidates\[0\]\[1\] is 3.5, expected text"),
        ([["A"]], [["A", 3]], [["A"]], r"references\[0\]\[1\] is 3, expected text"),
        ([["A"]], [None], [["A"]], r"references\[0\] is null, expected a list of strings"),
        ([5], [["A"]], [["A"]], r"rankings\[0\] is 5, expected a list of strings"),
        ([["A"]], [["A"], ["B"]], None, "rankings has 1, references has 2"),
        ([["A"]], [["A"]], [], "references has 1, candidates has 0"),
    ],
)
def test_wrong_strings(rankings: Any, references: Any, candidates: Any, said: str) -> None:
    """What is no list of strings is refused by thread and place, in words."""
    with pytest.raises(ValueError, match=said):
        hits_from_strings(rankings, references, candidates)


@pytest.mark.parametrize(
    ("rankings", "references", "sizes", "said"),
    [
        ([[0], [2]], [[0], [0]], [3, 2], r"rankings\[1\] names position 2, expected 0 to 1 \(or -1 for a title"),
        ([[0], [-2]], [[0], [0]], 2, r"rankings\[1\] names position -2"),
        ([[0], [1]], [[0], [2]], 2, r"references\[1\] names position 2, expected 0 to 1$"),
        ([[0]], [[-1]], 2, r"references\[0\] names position -1"),
        ([[0.5]], [[0]], 2, "rankings must hold integers, .* found float64"),
        ([["0"]], [[0]], 2, "rankings must hold integers, .* found <U1"),
        (np.array([[0.0]]), [[0]], 2, "rankings must hold integers, .* found float64"),
        (pa.array([[0, None]]), [[0]], 2, "rankings must hold integers, .* found float64"),
        (pa.array([["a"]]), [[0]], 2, "rankings must hold integers, .* found object"),
        ([0], [[0]], 2, "rankings must hold one list of positions per thread"),
        (np.array([0]), [[0]], 2, "rankings must hold one list of positions per thread"),
        ([[0]], [[0], [0]], 2, "rankings has 1, references has 2"),
        ([[0]], [[0]], [2, 2], "rankings has 1, references has 1, pool_sizes has 2"),
    ],
)
def test_wrong_places(rankings: Any, references: Any, sizes: Any, said: str) -> None:
    """A place outside its pool, a number that is none, and lengths that differ are refused in words."""
    with pytest.raises(ValueError, match=said):
        hits_from_indices(rankings, references, sizes)
