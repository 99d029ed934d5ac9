"""Titles written from memory: layouts, talk, thinking, repeats, and answers that stop in the middle."""

from __future__ import annotations

import random

import pytest

from musicrs_metric.answers.free_titles import read_free_titles

TWO = ("So What", "Naima")


@pytest.mark.parametrize(
    "answer",
    [
        "So What\nNaima",
        "1. So What\n2. Naima",
        "Sure! Here are 20 titles:\n\n1) **So What** - a modal classic\n2) **Naima** - a ballad\n\nEnjoy!",
        "- So What\n  - by Miles Davis\n- Naima\n  - by John Coltrane",
        "### Jazz\n* So What\n\n### Ballads\n* Naima",
        "So What, Naima",
        '["So What", "Naima"]',
        '```json\n{"ranking": ["So What", "Naima"]}\n```',
        '{"titles": [{"title": "So What", "artist": "Miles Davis"}, {"title": "Naima", "year": 1960}]}',
        '{"1": "So What", "2": "Naima"}',
        "| # | title | artist |\n|---|---|---|\n| 1 | So What | Miles Davis |\n| 2 | Naima | Coltrane |",
        "<think>\n1. Blue\n2. Green\n</think>\n1. So What\n2. Naima",
        "Perhaps 1. Blue?\n<answer>\n1. So What\n2. Naima\n</answer>",
        'I suggest "So What" and "Naima" by Coltrane.',
        "Title: So What\n\nTitle: Naima",
        "<ul><li>So What</li><li>Naima</li></ul>",
    ],
)
def test_layouts(answer: str) -> None:
    found = read_free_titles(answer, 20, cut=False)
    assert (found.titles, found.outcome) == (TWO, "repaired")  # 18 are missing


@pytest.mark.parametrize(
    ("answer", "cut", "outcome"),
    [
        ("", False, "empty"),
        (" \n<|im_end|>", False, "empty"),
        ("1.\n2.\n...", False, "failed"),
        ("I'm sorry, but I can't help with that.", False, "refusal"),
        ("Unfortunately I cannot name any.", False, "refusal"),
        ("<think>\n1. So What\n2. Naima", True, "failed"),
        ("Here are 20 titles:", True, "failed"),
        ("1. So Wh", True, "failed"),
    ],
)
def test_answers_without_a_title(answer: str, cut: bool, outcome: str) -> None:
    assert read_free_titles(answer, 20, cut=cut)[0::4] == ((), outcome)


def test_the_account() -> None:
    """Three of two wanted, one of them written twice in another case."""
    found = read_free_titles("1. So What\n2. so what\n3. Naima\n4. Blue in Green", 2, cut=False)
    assert found == (TWO, 1, 1, False, "repaired")
    assert read_free_titles("1. So What\n2. Naima", 2, cut=False) == (TWO, 0, 0, False, "ok")


@pytest.mark.parametrize("answer", ["1. So What\n2. Naima\n3. Blue in Gr", '["So What", "Naima", "Blue in Gr'])
def test_a_title_that_was_cut_is_none(answer: str) -> None:
    assert read_free_titles(answer, 20, cut=True) == (TWO, 0, 0, True, "truncated")


def test_titles_that_look_like_numbers() -> None:
    assert read_free_titles("1. 1979\n2. 99 Problems\n3. 4'33\"", 20, cut=False).titles == (
        "1979", "99 Problems", "4'33\"",
    )  # fmt: skip


def test_anything_is_read() -> None:
    """Random text of the signs that matter: no exception, distinct titles, and an account that adds up."""
    pieces = [
        "So What",
        "1.",
        "-",
        "\n",
        '"',
        "**",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "|",
        "<think>",
        "</answer>",
        "#",
        " ",
    ]
    for seed in range(400):
        generator = random.Random(seed)
        text = "".join(generator.choices(pieces, k=generator.randint(0, 40)))
        found = read_free_titles(text, 3, cut=bool(seed % 2))
        assert len(set(found.titles)) == len(found.titles) <= 3
        assert bool(found.titles) == (found.outcome in ("ok", "repaired", "truncated"))
        assert all(any(map(str.isalnum, title)) for title in found.titles)
