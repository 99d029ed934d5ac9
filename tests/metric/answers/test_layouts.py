"""All ways to go through the candidates x all ways to put a ranking x all marks of thinking: the ranking is found.

The generator of `layouts` combines them with intros, headings, closing words, sizes of pools and parts of rankings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

import pytest

from musicrs_metric.answers import read_answer
from musicrs_metric.matching import Pool

from .layouts import (
    FINALS,
    HEADINGS,
    INTROS,
    NUMBERED_FINALS,
    NUMBERED_WALKS,
    TAILS,
    THINKING,
    TITLED_FINALS,
    TITLED_WALKS,
    WALKS,
    Entries,
    Layout,
)

_TITLES = ["Harbour Lights", "Slow Train", "Copper Sky", "Winter Birds", "Paper Moon", "Glass River", "Stay, Stranger"]
_TITLES += ["The Long Road", "Night Ferry", "Violet Hours", "Ash and Ember", "Tin Soldiers"]
_FIRST = ("Red", "Blue", "Old", "New", "Cold", "Warm", "Lost", "Hidden", "Silver", "Golden")
_SECOND = ("Garden", "Window", "Letter", "Harvest", "Mirror", "Station", "Island", "Candle", "Orchard")


class Combination(NamedTuple):
    """One answer of the generator."""

    walk: str
    final: str
    thinking: str
    numbered: bool
    titles: list[str]
    text: str
    ranking: list[int]


def pool(size: int) -> list[str]:
    """Titles of a pool of 2 to 102."""
    return [*_TITLES, *(f"{a} {b}" for a, b in product(_FIRST, _SECOND))][:size]


def walks(numbered: bool) -> dict[str, Layout]:
    """Ways to go through the candidates."""
    return WALKS | (NUMBERED_WALKS if numbered else TITLED_WALKS)


def finals(numbered: bool) -> dict[str, Layout]:
    """Ways to put a ranking."""
    return FINALS | (NUMBERED_FINALS if numbered else TITLED_FINALS)


def combinations(seed: int, sizes: tuple[int, ...]) -> Iterator[Combination]:
    """Each walk with each final list once; everything else is drawn."""
    draw = random.Random(seed)
    for numbered in (True, False):
        for (walk, show), (final, put) in product(walks(numbered).items(), finals(numbered).items()):
            titles = pool(draw.choice(sizes))
            entries = list(enumerate(titles, 1))
            n = len(titles)
            ranking = _not_rising(draw, entries, draw.choice([2, n, n, max(2, n // 2)]))
            thinking = draw.choice(list(THINKING))
            parts = (draw.choice(INTROS), show(entries), draw.choice(HEADINGS), put(ranking), draw.choice(TAILS))
            draft = " > ".join(f"[{number}] {title}" for number, title in draw.sample(entries, n))
            text = THINKING[thinking](draft, "\n\n".join(filter(None, parts)))
            yield Combination(walk, final, thinking, numbered, titles, text, [number - 1 for number, _ in ranking])


def _not_rising(draw: random.Random, entries: Entries, size: int) -> list[tuple[int, str]]:
    while True:
        ranking = draw.sample(list(entries), size)
        if ranking != sorted(ranking):
            return ranking


def _check(combination: Combination) -> None:
    pool_ = Pool(combination.titles)
    reading = read_answer(combination.text, pool_, numbered=combination.numbered, cut=False)
    where = f"{combination.walk} / {combination.final} / {combination.thinking}\n{combination.text}"
    assert list(reading.places) == combination.ranking, where
    assert (reading.outcome == "ok") == (len(combination.ranking) == len(pool_)), where


@pytest.mark.figures
def test_the_final_list_is_found_in_every_combination() -> None:
    """One in three of more than 1,700 pairs of a walk and a final list: 0 wrong orders."""
    answers = list(combinations(1, (4, 5, 12)))
    assert len({(answer.walk, answer.final, answer.numbered) for answer in answers}) > 1_700
    assert {answer.thinking for answer in answers} == set(THINKING)
    for answer in answers[::3]:
        _check(answer)


@pytest.mark.figures
@pytest.mark.parametrize("seed", range(2, 4))
def test_the_final_list_is_found_in_many_more(seed: int) -> None:
    """Other draws of marks, intros, headings, sizes and parts."""
    for answer in combinations(seed, (100,) if seed % 4 == 0 else (2, 4, 5, 12, 30)):
        _check(answer)


@pytest.mark.figures
@pytest.mark.parametrize("numbered", [True, False])
def test_a_walk_alone_is_no_ranking(numbered: bool) -> None:
    """Whole or cut, under any intro: nothing is read, and nothing is called ok."""
    for (name, show), (at, intro) in product(walks(numbered).items(), enumerate(INTROS)):
        n = (4, 12)[at % 2]
        if name in ("bare", "commas") and not intro:
            continue  # nothing but titles, as the prompt asked for: this is a ranking
        entries = list(enumerate(pool(n), 1))
        for size in (n, max(3, n * 2 // 3)):
            text = "\n\n".join(filter(None, (intro, show(entries[:size]))))
            reading = read_answer(text, Pool(pool(n)), numbered=numbered, cut=size < n)
            assert (reading.places, reading.outcome) == ((), "failed"), f"{name}: {text}"


@pytest.mark.parametrize("numbered", [True, False])
def test_the_order_of_the_pool_is_read_where_the_answer_states_it(numbered: bool) -> None:
    """Under a heading that says so, in every final layout."""
    entries = list(enumerate(pool(12), 1))
    for (name, put), heading in product(finals(numbered).items(), ("My ranking:", "**Final answer:**", "## Ranking")):
        reading = read_answer(f"{heading}\n\n{put(entries)}", Pool(pool(12)), numbered=numbered, cut=False)
        assert (list(reading.places), reading.outcome) == (list(range(12)), "ok"), name


@pytest.mark.parametrize("numbered", [True, False])
def test_a_correction_replaces_a_draft(numbered: bool) -> None:
    """A draft in any order and layout, then a shorter list in any other."""
    draw = random.Random(5)
    words = ("Wait, that is not right. Correct ranking:", "On second thought:", "Final ranking:", "Revised order:")
    layouts = finals(numbered)
    for (first, put), (second, again) in islice(product(layouts.items(), repeat=2), 0, None, 5):
        entries = list(enumerate(pool(8), 1))
        draft, ranking = draw.sample(entries, 8), _not_rising(draw, entries, draw.choice([2, 3, 8]))
        text = f"Draft:\n\n{put(draft)}\n\n{draw.choice(words)}\n\n{again(ranking)}"
        reading = read_answer(text, Pool(pool(8)), numbered=numbered, cut=False)
        assert [place + 1 for place in reading.places] == [number for number, _ in ranking], (
            f"{first}, {second}: {text}"
        )
