"""The constraint of generated lists: whatever a model prefers, it ends with every candidate listed once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baselines.generative.trie import CandidateTrie

END = 9


def walk(sequences: list[list[int]], choice: random.Random) -> list[int]:
    """List candidates, taking any allowed token."""
    trie = CandidateTrie(sequences)
    answer: list[int] = []
    while tokens := trie(answer):
        answer.append(choice.choice(tokens))
    return trie.order


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=12), st.randoms(use_true_random=False))
def test_every_walk_lists_every_candidate_once(titles: list[list[int]], choice: random.Random) -> None:
    """With titles that begin one another, are equal, or empty but for their end."""
    order = walk([[*title, END] for title in titles], choice)
    assert sorted(order) == list(range(len(titles)))


def test_what_may_come_next() -> None:
    """By hand: 1 2 and 1 3 and 1, each once; after the first, its branch is closed."""
    trie = CandidateTrie([[1, 2, END], [1, 3, END], [1, END]])
    assert trie([]) == [1]
    assert trie([1]) == [2, 3, END]
    assert trie([1, END]) == [1]
    assert trie([1, END, 1]) == [2, 3]
    assert trie([1, END, 1, 3]) == [END]
    assert trie([1, END, 1, 3, END, 1]) == [2]
    assert trie([1, END, 1, 3, END, 1, 2, END]) == []
    assert trie.order == [2, 1, 0]


def test_equal_sequences_are_listed_in_their_order() -> None:
    """So that titles which differ by what no tokenizer keeps are ranked alike on every machine."""
    trie = CandidateTrie([[1, END], [2, END], [1, END]])
    assert trie([1, END, 1, END, 2, END]) == []
    assert trie.order == [0, 2, 1]


def test_a_sequence_that_begins_another_is_refused() -> None:
    """The longer one could never be reached, and would be missing from the ranking."""
    for sequences in ([[1], [1, 2]], [[1, 2], [1]]):
        with pytest.raises(ValueError, match="begin those of"):
            CandidateTrie(sequences)
