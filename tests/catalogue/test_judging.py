"""Rankings of a catalogue: the order of the steps, properties, and values by hand and by simulation."""

from __future__ import annotations

import itertools
from math import comb, log2

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.catalogue.judge import judge_rankings
from musicrs_metric.catalogue.measures import catalogue_table, chance_levels
from musicrs_metric.scoring import ThreadTable


def catalogue(*clusters: str) -> Catalogue:
    """Make items a, b, c, ... in these clusters; "" for one of its own."""
    return Catalogue(tuple(Item(chr(97 + i), cluster=cluster) for i, cluster in enumerate(clusters)))


def table(ranking: str, relevant: str, known: str, items: Catalogue, k: tuple[int, ...] = (2,)) -> ThreadTable:
    """Judge one ranking; each letter is an id."""
    return catalogue_table(judge_rankings([list(ranking)], [list(relevant)], [list(known)], items).hits, k)


def value(measure: str, *arguments: object) -> float:
    """Return one value of `table`."""
    return float(table(*arguments).values[measure][0])  # type: ignore[arg-type]


FIVE = catalogue("x", "x", "", "", "")


def test_merge_remove_cut() -> None:
    """a and b are one cluster, c is known: what is left of abcd is [x, d], so d is within the first two."""
    assert value("recall@2", "abcd", "d", "c", FIVE) == 1
    assert value("precision@2", "abcd", "d", "c", FIVE) == 0.5
    assert value("mrr@2", "abcd", "d", "c", FIVE) == 0.5


def test_cut_before_merge_differs() -> None:
    """If abd were cut at 2 before merging, d would be lost."""
    assert value("recall@2", "abd", "d", "", FIVE) == 1
    assert not set("abd"[:2]) & {"d"}


def test_cut_before_removal_differs() -> None:
    """If cd were cut at 1 before the known c is removed, d would be lost."""
    assert value("recall@1", "cd", "d", "c", FIVE, (1,)) == 1
    assert not set("cd"[:1]) & {"d"}


def test_removal_before_merge_differs() -> None:
    """The known a removes its cluster x, and so b. Removing ids first would leave b, which is relevant, as a hit."""
    judged = judge_rankings([["b", "d"]], [["b", "d"]], [["a"]], FIVE)
    assert judged.hits.n_relevant.tolist() == [1]
    assert value("recall@1", "bd", "bd", "a", FIVE, (1,)) == 1
    assert value("precision@2", "bd", "bd", "a", FIVE) == 0.5


def test_repeats_count_once() -> None:
    """A repeat takes no place, under the same id or another one of its cluster."""
    judged = judge_rankings([["a", "a", "b", "c"]], [["c"]], [[]], FIVE)
    assert judged.hits.rank.tolist() == [2]
    assert judged.hits.n_duplicate.tolist() == [2]


def test_unknown_ids_are_misses() -> None:
    """An id that the catalogue lacks keeps its rank, also if it is in the ground truth."""
    judged = judge_rankings([["?", "c"]], [["c", "?"]], [[]], FIVE)
    assert judged.hits.rank.tolist() == [2]
    assert (judged.hits.n_relevant.tolist(), judged.hits.n_reachable.tolist()) == ([2], [1])
    assert judged.hits.n_unknown.tolist() == [1]


def test_a_known_id_that_the_catalogue_lacks_is_removed() -> None:
    """Known z is no item. It leaves the ranking, so that b is at rank 1."""
    assert value("recall@1", "zb", "b", "z", catalogue("", ""), (1,)) == 1
    assert value("recall@1", "zb", "b", "", catalogue("", ""), (1,)) == 0


def test_name_of_a_cluster_is_no_id() -> None:
    """An item c without a cluster is not in the cluster of the name c."""
    items = Catalogue((Item("a", cluster="c"), Item("c")))
    assert items.n_clusters == 2
    assert value("recall@1", "a", "c", "", items, (1,)) == 0


def test_short_lists_count_misses() -> None:
    """One cluster ranked of two: the second rank is empty, and its turn is reported."""
    judged = judge_rankings([["a"], None], [["a", "d"]] * 2, [[]] * 2, FIVE)
    assert judged.n_short(2) == 1
    assert catalogue_table(judged.hits, (2,)).values["precision@2"].tolist() == [0.5, 0]
    assert judged.hits.missing.tolist() == [False, True]


def test_measures_by_hand() -> None:
    """Hits at ranks 1 and 3 of G = 3, k = 3."""
    items = catalogue("", "", "", "", "")
    values = {name: column[0] for name, column in table("abc", "ace", "", items, (3,)).values.items()}
    assert values["recall@3"] == pytest.approx(2 / 3)
    assert values["map@3"] == pytest.approx((1 + 2 / 3) / 3)
    assert values["ndcg@3"] == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3) + 1 / log2(4)))
    assert (values["mrr@3"], values["hit@3"], values["precision@3"]) == (1, 1, pytest.approx(2 / 3))


def test_mrr_stops_at_k() -> None:
    """The first hit is at rank 3."""
    scores = table("abc", "c", "", catalogue("", "", ""), (2, 3)).values
    assert (scores["mrr@2"][0], scores["mrr@3"][0]) == (0, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("n_items", "relevant", "known"), [(5, "ab?", ""), (5, "abc", "c"), (4, "a", "bcd"), (1, "a", "")]
)
def test_chance_is_the_mean_over_all_orders(n_items: int, relevant: str, known: str) -> None:
    """All permutations of a small catalogue, one by one."""
    items = catalogue(*[""] * n_items)
    orders = [list(order) for order in itertools.permutations([item.id for item in items.items])]
    judged = judge_rankings(orders, [list(relevant)] * len(orders), [list(known)] * len(orders), items)
    scores = catalogue_table(judged.hits, (1, 2, 3, 7))
    for name, column in scores.values.items():
        assert scores.chance is not None
        assert column.mean() == pytest.approx(scores.chance[name][0], abs=1e-12), name
        assert column.max() == pytest.approx(scores.ceiling[name][0], abs=1e-12), name


def test_chance_of_the_facts() -> None:
    """N 30, G 4, k 10: hit rate by the hypergeometric formula, the others as simulated over 200,000 orders."""
    items = Catalogue(tuple(Item(f"i{i}") for i in range(30)))
    hits = judge_rankings([None], [["i0", "i1", "i2", "i3"]], [[]], items).hits
    levels = chance_levels(hits, (10,))
    assert levels["hit@10"][0] == pytest.approx(1 - comb(26, 10) / comb(30, 10))
    for name, simulated in {"mrr@10": 0.30745, "map@10": 0.12190, "ndcg@10": 0.23629}.items():
        assert levels[name][0] == pytest.approx(simulated, abs=1e-3)


unhurried = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
LETTERS = st.lists(st.sampled_from("abcdefgh?!"), max_size=12)


@unhurried
@given(
    ranking=LETTERS,
    relevant=st.lists(st.sampled_from("abcdefgh"), max_size=5),
    known=st.lists(st.sampled_from("abcdefgh"), max_size=4),
    clusters=st.lists(st.sampled_from(["", "x", "y"]), min_size=6, max_size=6),
    k=st.integers(1, 9),
)
def test_values_stay_within_their_bounds(
    ranking: list[str], relevant: list[str], known: list[str], clusters: list[str], k: int
) -> None:
    """Every measure agrees with a plain reading of the rules, and is at most its ceiling."""
    items = catalogue(*clusters)
    scores = table("".join(ranking), "".join(relevant), "".join(known), items, (k,))
    for name, column in scores.values.items():
        assert -1e-12 <= column[0] <= scores.ceiling[name][0] + 1e-12, name
    cluster = {item.id: item.cluster or f"own {item.id}" for item in items.items}

    def merged(ids: list[str]) -> list[str]:
        return list(dict.fromkeys(cluster.get(item, f"missing {item}") for item in ids))

    left = [name for name in merged(ranking) if name not in merged(known)]
    gold = set(merged(relevant)) - set(merged(known))
    found = sum(name in gold and not name.startswith("missing") for name in left[:k])
    assert scores.values["recall@" + str(k)][0] == pytest.approx(found / len(gold) if gold else 0)


@unhurried
@given(ranking=LETTERS, relevant=st.lists(st.sampled_from("abc"), min_size=1), extra=st.sampled_from("?!z"))
def test_a_new_distractor_never_raises_recall(ranking: list[str], relevant: list[str], extra: str) -> None:
    """The catalogue gets one more item that is not relevant: neither recall nor its chance level rises."""
    small = catalogue("", "", "", "x", "x")
    large = Catalogue((*small.items, Item(extra)))
    before, after = (table("".join(ranking), "".join(relevant), "", items, (1, 3)) for items in (small, large))
    assert before.chance is not None
    assert after.chance is not None
    for name in ("recall@1", "recall@3"):
        assert after.values[name][0] <= before.values[name][0] + 1e-12
        assert after.chance[name][0] <= before.chance[name][0] + 1e-12


def test_large_catalogues_and_single_items() -> None:
    """10^5 items, and one item."""
    items = Catalogue(tuple(Item(f"i{i}") for i in range(100_000)))
    hits = judge_rankings([["i5", "i7"]], [["i7"]], [["i5"]], items).hits
    scores = catalogue_table(hits, (1, 100))
    assert scores.values["recall@1"][0] == 1
    assert scores.chance is not None
    assert scores.chance["recall@100"][0] == pytest.approx(100 / 99_999)
    single = table("a", "a", "", catalogue(""), (1, 100))
    assert np.allclose([column[0] for name, column in single.values.items() if not name.startswith("precision@100")], 1)
