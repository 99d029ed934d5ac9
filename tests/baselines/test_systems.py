from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from baselines.data import Data, as_references
from baselines.launch import build_system
from baselines.registry import SYSTEMS, system_class
from baselines.run.thread_access import ThreadAccess
from baselines.systems.lexical import words
from musicrs_dataset.mini import load_mini
from musicrs_dataset.records import Thread
from tests.baselines.toys import OF_TEXT, run_toy, thread


def rank(
    name: str, threads: Sequence[Thread], out: Path, *, seed: int = 0, cache: Path | None = None
) -> dict[str, tuple[str, ...]]:
    """Rankings by thread id; vectors are computed for the occasion unless a cache is given."""
    system = build_system(name, "query_only", seed=seed, cache=cache)
    data = Data(threads, as_references(threads, "toy", "query_only"))
    return {p.thread_id: p.ranking for p in run_toy(system, data, out / f"{name}{seed}{len(threads)}").predictions}


@pytest.mark.parametrize("name", OF_TEXT)
def test_every_ranking_is_a_permutation_of_the_pool(name: str, tmp_path: Path, vectors: Path) -> None:
    """No system of the project drops, doubles or invents a candidate."""
    threads = load_mini(clips=False)
    rankings = rank(name, threads, tmp_path, cache=vectors)
    assert all(Counter(rankings[t.thread_id]) == Counter(t.candidates) for t in threads)


@pytest.mark.parametrize("name", [name for name in OF_TEXT if system_class(name).declaration.reads == "thread"])
def test_a_system_that_reads_its_thread_ranks_alike_in_any_company(name: str, tmp_path: Path) -> None:
    """What it does with a thread is the same among eight threads and among three, in any batch."""
    threads = load_mini(clips=False)[:8]
    among_all = rank(name, threads, tmp_path)
    among_few = rank(name, threads[3:6], tmp_path)
    assert among_few == {key: among_all[key] for key in among_few}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_declares_what_it_is(name: str) -> None:
    """The registry's name is its own, and a system with a model names model and licence."""
    declared = system_class(name).declaration
    assert declared.name == name
    assert (declared.model_id is None) == (declared.licence is None)
    # Where the user names the weights, they have no id here, and are open because the Hub or a folder gives them.
    assert declared.open_weights is not None or declared.model_id is None
    assert declared.description.endswith(".")


def test_the_two_below_chance_say_why() -> None:
    """Their notes state that the score is a property of the pools."""
    for name in ("popularity", "neighborhood"):
        assert "Below chance on the published pools" in system_class(name).declaration.note


def test_file_order_is_the_stored_order(tmp_path: Path) -> None:
    """Nothing is moved."""
    assert rank("file_order", [thread("t", "CAB")], tmp_path)["t"] == ("C", "A", "B")


def test_random_draws_each_thread_for_itself(tmp_path: Path) -> None:
    """Equal pools get different orders, another seed gives others, and the same seed the same."""
    threads = [thread(f"t{i}", "ABCDEFGH") for i in range(2)]
    first, second = rank("random", threads, tmp_path), rank("random", threads, tmp_path, seed=1)
    assert len({*first.values(), *second.values()}) == 4


def test_popularity_counts_pools_of_the_own_subreddit(tmp_path: Path) -> None:
    """By hand: X is in two jazz pools, Z in three metal pools and one of jazz. Ties keep the stored order."""
    threads = [
        thread("a", ["Z", "Y", "X"]),
        thread("b", ["X", "W"]),
        *(thread(f"m{i}", ["Z"], subreddit="metal") for i in range(3)),
    ]
    assert rank("popularity", threads, tmp_path)["a"] == ("X", "Z", "Y")


def test_popularity_takes_strings_as_they_are(tmp_path: Path) -> None:
    """As published: "x" and "X" are two strings here, although one would match the other in scoring."""
    threads = [thread("a", ["Y", "X"]), thread("b", ["x", "Y"]), thread("c", ["x"])]
    assert rank("popularity", threads, tmp_path)["a"] == ("Y", "X")


def test_neighborhood_puts_answers_of_similar_threads_first(tmp_path: Path) -> None:
    """Twelve threads of a subreddit: the nine with like queries are neighbours, the two others are not."""
    like = [thread(f"t{i}", ["A", "B", "C"], [f"like{i}"], query=f"calm piano music number {i}") for i in range(10)]
    far = [thread(f"far{i}", ["A"], [f"far{i}"], query=f"tax form {i} for a farm tractor") for i in range(2)]
    other = thread("other", ["A"], ["elsewhere"], query="calm piano music number 0", subreddit="metal")
    pool = ["elsewhere", "far0", "like0", "far1", "like5", "like9", "like1"]
    asked = thread("t0", pool, ["like0"], query="calm piano music number 0")
    ranking = rank("neighborhood", [asked, *like[1:], *far, other], tmp_path)["t0"]
    assert set(ranking[:3]) == {"like1", "like5", "like9"}  # and not like0, its own answer


def test_neighborhood_shuffles_both_groups(tmp_path: Path) -> None:
    """Seeds change the order within the groups and never across them."""
    threads = [thread(f"t{i}", "ABCDEFGH", ["A", "B", "C", "D"]) for i in range(3)]
    orders = {rank("neighborhood", threads, tmp_path, seed=seed)["t0"] for seed in range(6)}
    assert all(set(order[:4]) == set("ABCD") for order in orders)
    assert len({order[:4] for order in orders}) > 1
    assert len({order[4:] for order in orders}) > 1


def test_words_of_a_text() -> None:
    """Two or more word characters, lower case; signs part them, accents stay."""
    assert words("Don't stop: a Déjà-Vu, 99 x!") == ["don", "stop", "déjà", "vu", "99"]


def bm25(query: str, name: str, names: Sequence[str]) -> float:
    """The formula as Lucene has it, written out: idf ln(1 + (N - n + .5) / (n + .5)), k1 1.5, b 0.75."""
    documents = [words(text) for text in names]
    mean, own, score = sum(map(len, documents)) / len(documents), words(name), 0.0
    for word in set(words(query)):
        n, f = sum(word in document for document in documents), own.count(word)
        idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        score += idf * f / (f + 1.5 * (0.25 + 0.75 * len(own) / mean))
    return score


def test_lexical_is_bm25_over_all_names(tmp_path: Path) -> None:
    """Scores agree with the formula; frequencies count the names of other pools, each distinct name once."""
    pool = ["Blue Train", "Blue in Green", "Kind of Blue", "Green Onions Green", "So What"]
    threads = [
        thread("a", pool, query="blue blue green? something with blue"),
        thread("b", ["Blue Monday", "Blue Train", "Onions", "Monday Monday"], query="none of these"),
        thread("c", ["So What"], query="?!"),
    ]
    names = list(dict.fromkeys(name for t in threads for name in t.candidates))
    system = build_system("lexical", None)
    access = ThreadAccess(threads, system.reads)
    system.prepare(access.for_prepare())
    prediction, unlike, nothing = system.rank([access.task(i) for i in range(3)])
    expected = {name: bm25(threads[0].query or "", name, names) for name in pool}
    assert list(prediction.ranking) == sorted(pool, key=lambda name: -expected[name])
    assert prediction.scores == pytest.approx([expected[name] for name in prediction.ranking], rel=1e-5)
    assert (unlike.ranking, nothing.ranking) == (threads[1].candidates, ("So What",))  # ties by place


def test_lexical_on_titles_without_a_word() -> None:
    """Letters are no words, so every title scores 0 and the order is that of the pool."""
    threads = [thread("a", ["B", "A"], query="A, or songs like it")]
    system = build_system("lexical", None)
    access = ThreadAccess(threads, system.reads)
    system.prepare(access.for_prepare())
    assert system.rank([access.task(0)])[0].ranking == ("B", "A")
