"""Answers as models of many families write them, each with the ranking that a reader sees in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.answers import read_answer
from musicrs_metric.matching import Pool

NUMBERED = (
    "Harbour Lights",
    "Slow Train",
    "Copper Sky",
    "Winter Birds",
    "Paper Moon",
    "Glass River",
    "Night Ferry",
    "Violet Hours",
    "Ash and Ember",
    "Tin Soldiers",
    "Long Road",
    "Blue Window",
)
TITLED = (
    "Harbour Lights",
    "Slow Train",
    "Copper Sky",
    "Winter Birds",
    "Stay, Stranger",
    "7",
    "Queen",
    "Prelude in C minor",
    "Night Tapes Vol. 10",
    "Lanterns",
    "Op. 9 No. 2",
    "Déjà Vu",
)
_CASES = ("l08", "l10", "l12", "l14", "l16", "l18", "l20", "l22")


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


ANSWERS = _lines(Path(__file__).with_name("answers.jsonl"))


@pytest.mark.parametrize("answer", ANSWERS, ids=[f"{place}: {row['text'][:30]!r}" for place, row in enumerate(ANSWERS)])
def test_answers_of_models(answer: dict[str, Any]) -> None:
    """Rankings by number and by title, drafts, corrections, remarks, summaries, calls, tables and maps."""
    numbered = answer["asked"] == "numbers"
    titles = NUMBERED if numbered else TITLED
    reading = read_answer(answer["text"], Pool(titles), numbered=numbered, cut=False)
    assert [place + 1 if numbered else titles[place] for place in reading.places] == answer["ranking"]


@pytest.mark.parametrize("case", _CASES)
def test_reported_failures(cases: Path, case: str) -> None:
    """L08 to L22: small inputs of publicly reported failures."""
    (file,) = cases.glob(f"{case}_*.jsonl")
    for row in _lines(file):
        titles = row["pool"]
        reading = read_answer(row["text"], Pool(titles), numbered=row["numbered"], cut=row["cut"])
        assert [titles[place] for place in reading.places] == row["want"], row["case"]
        assert reading.ledger.unknown == row.get("unknown", reading.ledger.unknown), row["case"]


@pytest.mark.parametrize(
    ("text", "n_named", "unknown"),
    [
        ("1. Wonderwall\n2. Slow Train\n3. Yesterday", 1, 2),
        ("Wonderwall > Slow Train > Yesterday", 1, 2),
        ('["Wonderwall", "Slow Train", "Lanterns"]', 2, 1),
        ('{"Wonderwall": 0.9, "Slow Train": 0.1}', 1, 1),
        ("| Rank | Title |\n|---|---|\n| 1 | Wonderwall |\n| 2 | Slow Train |", 1, 1),
        ("1. Lanterns (Nightferry Remix)\n2. Slow Train", 1, 1),
        ("Wonderwall, Yesterday", 0, 2),
        ("- Wonderwall\n- Yesterday", 0, 2),
        ("Title: Wonderwall\nScore: 3\n\nTitle: Lanterns\nScore: 8", 1, 1),
    ],
)
def test_invented_titles_and_other_works_are_counted(text: str, n_named: int, unknown: int) -> None:
    """In every layout, whether or not a candidate is named."""
    reading = read_answer(text, Pool(TITLED), numbered=False, cut=False)
    assert (reading.ledger.named, reading.ledger.unknown) == (n_named, unknown)


def test_an_answer_cut_in_its_walk_gives_nothing() -> None:
    """The ranking never came, and the order of the prompt is not taken for one."""
    text = (
        "I go through them first.\n\n[1] Harbour Lights: bright\n[2] Slow Train: calm\n[3] Copper Sky: dark\n[4] Wint"
    )
    reading = read_answer(text, Pool(NUMBERED), numbered=True, cut=True)
    assert (reading.places, reading.outcome, reading.ledger.truncated) == ((), "failed", True)


def test_an_answer_cut_in_its_final_list_gives_what_was_finished() -> None:
    """The walk before it is not read instead."""
    text = "[1] Harbour Lights: bright\n[2] Slow Train: calm\n[3] Copper Sky: dark\n\nRanking: [3] > [1] > [1"
    reading = read_answer(text, Pool(NUMBERED), numbered=True, cut=True)
    assert (reading.places[:2], reading.outcome) == ((2, 0), "truncated")


@pytest.mark.parametrize("tail", ["[5]", "[1]", "[5] > [7] > [100]", "[101]", " > ".join(["[100]"] * 50)])
@pytest.mark.parametrize("before", ["", "Sure! Here it is:\n", "My ranking:\n"])
def test_a_chain_in_pool_order_with_a_repeat_is_a_ranking(before: str, tail: str) -> None:
    """The form `>` states an order. Identifiers that rise from 1 are no counts such as "1. This 2. That"."""
    pool = Pool([f"Song {index}x" for index in range(100)])
    chain = " > ".join(f"[{number}]" for number in range(1, 101))
    reading = read_answer(f"{before}{chain} > {tail}", pool, numbered=True, cut=False)
    assert reading.places == tuple(range(100))
    assert reading.outcome == "repaired"
    assert reading.ledger.repeated + reading.ledger.unknown == tail.count("[")
