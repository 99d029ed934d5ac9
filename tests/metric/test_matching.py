"""The matching rule on single threads, worked out by hand."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicrs_metric.matching import Judgement, Pool, judge_in_pool, judge_without_pool, normalise


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("So What", "so what"),
        (' \t"So What"\t ', "so what"),
        ("“So What”", "so what"),
        ("Don’t", "don't"),
        ("‘So What’", "'so what'"),  # outer single quotes may be part of a title
        ("Beyonce\u0301", "beyonc\u00e9"),
        ("So  What", "so  what"),
        ("So What\n", "so what\n"),  # only spaces, tabs and double quotes go
        ("(So What!)", "(so what!)"),
        ('"" "\t', ""),
        ("", ""),
    ],
)
def test_normal_form(text: str, form: str) -> None:
    """Case, composition, curly quotes and outer blanks and double quotes go; all else stays."""
    assert normalise(text) == form


@settings(deadline=None)
@given(st.text())
def test_normal_form_is_final(text: str) -> None:
    """A form is its own form, apart from letters whose lower case is no composed Unicode."""
    form = normalise(text)
    if unicodedata.is_normalized("NFC", form):
        assert normalise(form) == form


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_rule(text: str) -> None:
    """A curly quote behind the text takes the long way; the text before it gets the same form."""
    assert normalise(f"x{text}x") == normalise(f"x{text}x’").removesuffix("'")


def test_exact_before_normal_form() -> None:
    """Both candidates have one form; each is found under its own spelling and under no third."""
    pool = Pool(["Go", "GO"])
    assert [pool.resolve(text) for text in ("Go", "GO", "go", "gO")] == [0, 1, None, None]


def test_unique_normal_form() -> None:
    """One candidate has the form: any spelling of it finds that candidate."""
    pool = Pool(["Stop", "Go"])
    assert [pool.resolve(text) for text in ("Go", "GO", ' "go" ')] == [1, 1, 1]


def test_repeated_candidate_keeps_its_first_place() -> None:
    """Written twice letter for letter, it is one candidate, so its form stays unique."""
    pool = Pool(["A", "B", "A"])
    assert len(pool) == 2
    assert [pool.resolve(text) for text in ("A", "a", "B")] == [0, 0, 1]


def test_empty_form_names_nothing() -> None:
    """A candidate of quotes alone is found letter for letter only."""
    pool = Pool(['"', "A"])
    assert [pool.resolve(text) for text in ('"', '""', "", " ")] == [0, None, None, None]


def found(judgement: Judgement) -> list[int]:
    """The flags of a judgement, one per rank."""
    return list(judgement.found)


def test_judge_plain_ranking() -> None:
    """Ranks 2 and 3 are relevant; a shorter list than the pool is in order."""
    judged = judge_in_pool(["C", "A", "B"], ["A", "B"], ["A", "B", "C", "D"])
    assert judged == (bytes([0, 1, 1]), 2, 2, 4, 0, 0)


def test_judge_nothing() -> None:
    """No ranking finds nothing; no pool holds nothing."""
    assert judge_in_pool([], ["A"], ["A", "B"]) == (b"", 1, 1, 2, 0, 0)
    assert judge_in_pool(["A"], [], []) == (bytes([0]), 0, 0, 0, 1, 0)


def test_repeat_closes_up() -> None:
    """A, (A), C, B: the repeat is dropped and counted, B moves up to rank 3."""
    judged = judge_in_pool(["A", "A", "C", "B"], ["B"], ["A", "B", "C"])
    assert (found(judged), judged.n_duplicate) == ([0, 0, 1], 1)


def test_repeat_in_another_spelling_closes_up() -> None:
    """`a` names A for the second time."""
    judged = judge_in_pool(["A", "a", "B"], ["B"], ["A", "B"])
    assert (found(judged), judged.n_duplicate, judged.n_unknown) == ([0, 1], 1, 0)


def test_unknown_string_keeps_its_rank() -> None:
    """Each unknown string is a miss with a rank, also when it comes twice."""
    judged = judge_in_pool(["X", "X", "A"], ["A"], ["A", "B"])
    assert (found(judged), judged.n_unknown, judged.n_duplicate) == ([0, 0, 1], 2, 0)


def test_ambiguous_string_is_unknown() -> None:
    """`go` may be either candidate: it finds neither, though one is relevant."""
    judged = judge_in_pool(["go"], ["Go"], ["Go", "GO"])
    assert (found(judged), judged.n_unknown) == ([0], 1)


def test_relevance_is_of_the_candidate_not_of_the_text() -> None:
    """GO is another candidate than the relevant Go, whatever a normalised comparison would say."""
    judged = judge_in_pool(["GO", "Go"], ["Go"], ["Go", "GO"])
    assert found(judged) == [0, 1]


def test_two_relevant_candidates_of_one_form() -> None:
    """The ground truth holds both spellings: two relevant candidates, each found once."""
    judged = judge_in_pool(['"Go"', "Go"], ["Go", '"Go"'], ['"Go"', "Go", "Stop"])
    assert (found(judged), judged.n_relevant, judged.n_reachable) == ([1, 1], 2, 2)


def test_ground_truth_in_another_spelling() -> None:
    """It names the one candidate that it fits; two spellings of one candidate are one relevant item."""
    judged = judge_in_pool(["Go"], ["go", "GO"], ["Go", "Stop"])
    assert (found(judged), judged.n_relevant, judged.n_reachable) == ([1], 1, 1)


def test_ground_truth_outside_the_pool() -> None:
    """It stays relevant, cannot be found, not even by ranking it, and counts once."""
    judged = judge_in_pool(["X", "A"], ["A", "X", "X"], ["A", "B"])
    assert (found(judged), judged.n_relevant, judged.n_reachable, judged.n_unknown) == ([0, 1], 2, 1, 1)


def test_repeated_candidate_is_one() -> None:
    """A pool that lists A twice has two candidates; ranking A twice is a repeat."""
    judged = judge_in_pool(["A", "A", "B"], ["B"], ["A", "A", "B"])
    assert (found(judged), judged.pool_size, judged.n_duplicate) == ([0, 1], 2, 1)


def test_without_pool_relevant_items_are_matched_by_the_rule() -> None:
    """`a` names the relevant A, the second time as a repeat; `X` and `x` are two different misses."""
    judged = judge_without_pool(["X", "a", "A", "x", "B"], ["A", "B"])
    assert (found(judged), judged.n_duplicate, judged.n_unknown, judged.pool_size) == ([0, 1, 0, 1], 1, 0, 0)


def test_without_pool_repeated_misses_close_up() -> None:
    """X letter for letter again is a repeat."""
    judged = judge_without_pool(["X", "X", "A"], ["A"])
    assert (found(judged), judged.n_duplicate) == ([0, 1], 1)


def test_without_pool_ambiguous_string_is_a_miss() -> None:
    """Two relevant items of one form: a third spelling names neither."""
    judged = judge_without_pool(["go", "GO"], ["Go", "GO"])
    assert (found(judged), judged.n_relevant) == ([0, 1], 2)


def test_without_pool_repeated_ground_truth_counts_once() -> None:
    """A twice, letter for letter, is one relevant item."""
    judged = judge_without_pool(["A"], ["A", "A"])
    assert (found(judged), judged.n_relevant, judged.n_reachable) == ([1], 1, 1)


@pytest.mark.parametrize(
    ("ranking", "relevant", "candidates"),
    [([1], ["A"], ["A"]), (["A"], [None], ["A"]), ([["A"]], ["A"], ["A"]), ([1], [1], [1])],
)
def test_other_things_than_strings(ranking: list[str], relevant: list[str], candidates: list[str]) -> None:
    """Numbers, null and lists are refused even where they would be equal."""
    with pytest.raises(TypeError):
        judge_in_pool(ranking, relevant, candidates)
    with pytest.raises(TypeError):
        judge_without_pool(ranking, relevant)
