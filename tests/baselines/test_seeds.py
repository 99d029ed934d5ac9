from __future__ import annotations

import hashlib
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from musicrs_metric.base.seeds import derive, shuffled


@given(st.lists(st.text(max_size=3), max_size=30), st.integers(0, 2**31), st.text(min_size=1, max_size=8))
def test_a_shuffle_is_a_permutation(items: list[str], seed: int, thread: str) -> None:
    """Nothing is lost or doubled, equal items included."""
    assert Counter(shuffled(items, seed, thread, "p")) == Counter(items)


def test_every_part_of_the_key_matters() -> None:
    """Another seed, thread or purpose gives another order; the same gives the same."""
    items = list(range(50))
    orders = [shuffled(items, *key) for key in [(0, "t", "p"), (1, "t", "p"), (0, "u", "p"), (0, "t", "q")]]
    assert len({tuple(order) for order in orders}) == 4
    assert shuffled(items, 0, "t", "p") == orders[0]


def test_every_item_stands_first_equally_often() -> None:
    """20,000 shuffles of five items: each comes first 4,000 times, within five standard deviations (57 each)."""
    firsts = Counter(shuffled("abcde", 0, f"t{i}", "p")[0] for i in range(20_000))
    assert all(abs(count - 4_000) < 5 * 57 for count in firsts.values())


def test_the_derived_seed_is_the_documented_hash() -> None:
    """The first 64 bits of sha256 over seed, thread and purpose, parted by NUL: anyone can compute it again."""
    expected = int(hashlib.sha256(b"7\x00t3_abc\x00shuffle").hexdigest()[:16], 16)
    assert derive(7, "t3_abc", "shuffle") == expected
