"""What holds of every reading, whatever a model wrote: on generated answers, on hostile ones, and on the real pools."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musicrs_metric.answers import complete_ranking, read_answer
from musicrs_metric.answers.markup import MOST_READ
from musicrs_metric.base.seeds import shuffled
from musicrs_metric.matching import Pool
from musicrs_metric.runs.prediction_line import Outcome, format_line

from .layouts import NUMBERED_FINALS, TITLED_FINALS, WALKS

TITLES = (
    "Iris",
    "Style - Live",
    "30. THOUSAND",
    "Canon [in D]",
    '"Ode"',
    "Me; You",
    "5:11",
    "7",
    "*thank u",
    "Iris Out",
)

_PIECES = st.sampled_from([
    *TITLES, "Wonderwall", "1. ", "[3]", "[0]", "7", "12", " > ", ", ", "\n", "\r\n", "- ", "**", '"', "'", "[", "]",
    "{", "}", ":", '{"title": "', "```", "```json\n", "<think>", "</think>", "|", "|---|---|\n", " - ", " by ",
    "Sorry, I cannot. ", "Here is the list:", "\\", "\ud83c", "\u2028", "é", "…",
])  # fmt: skip
ANSWERS = st.lists(_PIECES | st.text(max_size=6), max_size=40).map("".join)


@settings(max_examples=400, deadline=None)
@given(text=ANSWERS, numbered=st.booleans(), cut=st.booleans())
def test_any_text_becomes_a_permutation_with_a_true_account(text: str, numbered: bool, cut: bool) -> None:
    """Named and filled make up the pool; named, repeated and unknown the items; nothing named is never called ok."""
    pool = Pool(TITLES)
    reading = read_answer(text, pool, numbered=numbered, cut=cut)
    ledger = reading.ledger
    assert ledger.named + ledger.filled == len(TITLES)
    assert ledger.named + ledger.repeated + ledger.unknown == len(reading.items)
    assert list(dict.fromkeys(item.place for item in reading.items if item.place is not None)) == list(reading.places)
    assert reading.outcome in get_args(Outcome)
    assert (reading.outcome in ("empty", "refusal", "failed")) == (not reading.places)
    assert (reading.outcome == "ok") == (ledger[:4] == (len(TITLES), 0, 0, 0))
    prediction = complete_ranking(reading, pool, 3, "t3_a")
    assert sorted(prediction.ranking) == sorted(TITLES)
    assert prediction.n_answered == len(reading.places)
    kept = complete_ranking(reading, pool, 3, "t3_a", keep_unknown=True)
    assert sorted(title for title in kept.ranking if title in TITLES) == sorted(TITLES)
    assert kept.n_answered == len(kept.ranking) - ledger.filled
    format_line(prediction)
    format_line(kept)  # the validator takes both


@settings(max_examples=100, deadline=None)
@given(text=ANSWERS, other=ANSWERS, seed=st.integers(0, 2**32), thread=st.sampled_from(["t3_a", "t3_b"]))
def test_the_order_of_the_rest_depends_on_seed_and_thread_alone(text: str, other: str, seed: int, thread: str) -> None:
    """What two answers both leave out follows in the same order: that of one draw for the whole pool."""
    pool = Pool(TITLES)
    drawn = shuffled(TITLES, seed, thread, "fill")
    for answer in (text, other):
        reading = read_answer(answer, pool, numbered=False, cut=False)
        rest = complete_ranking(reading, pool, seed, thread).ranking[len(reading.places) :]
        assert list(rest) == [title for title in drawn if title in rest]


def test_the_order_of_the_rest_differs_by_seed_and_thread() -> None:
    """And is not the order of the pool."""
    pool = Pool(TITLES)
    empty = read_answer("", pool, numbered=False, cut=False)
    orders = {complete_ranking(empty, pool, seed, thread).ranking for seed in (0, 1) for thread in ("t3_a", "t3_b")}
    assert len(orders) == 4
    assert TITLES not in orders


# Each has two holes, one before the list and one in it.
_FRAMES = (
    "{0}\n\n1. Iris\n2. {1}\n3. Canon [in D]\n4. 5:11",
    "{0}\n- Iris\n- {1}\n- Canon [in D]\n- 5:11",
    "{0}\n\nIris, {1}, Canon [in D], 5:11",
    "{0}\n\nIris > {1} > Canon [in D] > 5:11",
    '{0} ["Iris", "{1}", "Canon [in D]", "5:11"] {1}',
    "<think>{1}</think>{0}\nIris\n{1}\nCanon [in D]\n5:11",
)
_OTHER_WORDS = st.lists(st.text("bcdfghjklmnpqrstvwxz", min_size=1, max_size=9), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(frame=st.sampled_from(_FRAMES), words=st.tuples(_OTHER_WORDS, _OTHER_WORDS))
def test_text_that_names_nothing_changes_no_rank(frame: str, words: tuple[str, str]) -> None:
    """Any text around the list and in place of an unknown title."""
    reading = read_answer(frame.format(*words), Pool(TITLES), numbered=False, cut=False)
    assert [TITLES[place] for place in reading.places] == ["Iris", "Canon [in D]", "5:11"]


_MEGABYTE = 1_000_000
_HOSTILE = [
    "[",
    "{",
    '["',
    "['a ",
    "a,",
    "1,",
    "\n",
    " ",
    "1. ",
    "[1] > ",
    "<think>",
    "|",
    "a|",
    "*",
    '{"title":',
    "x - y by ",
    "1. a\n",
    "1, a\n",
    "- id: 4\n",
    '{"id":1}',
    "Iris\n",
    "<li>a",
    "| a | b |\n",
]


@pytest.mark.figures
@pytest.mark.parametrize("piece", _HOSTILE)
def test_a_megabyte_of_anything_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    """Ten times the text takes no more than some twenty times as long, up to where reading stops."""
    pool = Pool([*TITLES, *(f"A fairly long title number {number}" for number in range(90))])

    def seconds(length: int) -> float:
        started = time.process_time()
        reading = read_answer(piece * (length // len(piece)), pool, numbered=True, cut=True)
        assert reading.ledger.filled >= len(pool) - 2
        return time.process_time() - started

    short = min(seconds(MOST_READ // 10) for _ in range(2))
    assert seconds(_MEGABYTE) < 25 * short + 1.0


# All pools in every style take some minutes, which `make test-figures` has.
EVERY = 24

Style = Callable[[Sequence[str], Sequence[int]], str]

_JUST_TITLES: dict[str, Style] = {
    "dots": lambda titles, _: "\n".join(f"{rank}. {title}" for rank, title in enumerate(titles, 1)),
    "brackets": lambda titles, _: "\r\n".join(f"{rank}) {title}" for rank, title in enumerate(titles, 1)),
    "bold": lambda titles, _: (
        "Sure! Here is my ranking:\n\n"
        + "\n".join(f"{rank}. **{title}**" for rank, title in enumerate(titles, 1))
        + "\n\nLet me know if you need more."
    ),
    "dashes": lambda titles, _: "\n".join(f"- {title}" for title in titles),
    "stars": lambda titles, _: "\n\n".join(f"* {title}" for title in titles),
    "bare": lambda titles, _: "\n".join(titles),
    "fenced": lambda titles, _: "```\n" + "\n".join(titles) + "\n```",
    "commas": lambda titles, _: "Here is the ranking: " + ", ".join(titles) + ".",
    "semicolons": lambda titles, _: "; ".join(titles),
    "arrows": lambda titles, _: " > ".join(titles),
    "one line": lambda titles, _: " ".join(f"{rank}. {title}" for rank, title in enumerate(titles, 1)),
    "json": lambda titles, _: json.dumps(titles, ensure_ascii=False),
    "json in a fence": lambda titles, _: "```json\n" + json.dumps({"ranking": titles}, indent=2) + "\n```\nEnjoy!",
    "objects": lambda titles, _: (
        f"<think>Maybe {titles[-1]}, then {titles[0]}.</think>"
        + json.dumps([{"rank": rank, "title": title} for rank, title in enumerate(titles, 1)])
    ),
    "python": lambda titles, _: repr(titles),
    "table": lambda titles, _: (
        "| Rank | Title | Artist |\n|---|---|---|\n"
        + "\n".join(f"| {rank} | {title} | Someone |" for rank, title in enumerate(titles, 1))
    ),
}
_NUMBERS: dict[str, Style] = {
    "identifiers": lambda _, numbers: " > ".join(f"[{number}]" for number in numbers),
    "identifiers in lines": lambda _, numbers: "\n".join(f"{rank}. [{n}]" for rank, n in enumerate(numbers, 1)),
    "numbers": lambda _, numbers: ", ".join(map(str, numbers)),
    "list of numbers": lambda _, numbers: json.dumps(numbers),
    "numbers with titles": lambda titles, numbers: "\n".join(
        f"[{number}] {title}" for number, title in zip(numbers, titles, strict=True)
    ),
    "ranks with titles": lambda titles, _: "\n".join(f"[{rank}] {title}" for rank, title in enumerate(titles, 1)),
}


@pytest.mark.figures
@pytest.mark.upstream
@pytest.mark.parametrize("style", [*_JUST_TITLES, *_NUMBERS])
def test_published_pools_are_read_back_in_order(upstream_rows: list[dict[str, Any]], style: str) -> None:
    """In a random order, whatever their titles look like: one pool in 24, others in each style."""
    number = [*_JUST_TITLES, *_NUMBERS].index(style)
    _are_read_back(upstream_rows[number::EVERY], style)


@pytest.mark.upstream
@pytest.mark.figures
@pytest.mark.parametrize("style", [*_JUST_TITLES, *_NUMBERS])
def test_every_published_pool_is_read_back_in_order(upstream_rows: list[dict[str, Any]], style: str) -> None:
    """All 477, in every style."""
    _are_read_back(upstream_rows, style)


def _are_read_back(rows: Sequence[dict[str, Any]], style: str) -> None:
    render = _JUST_TITLES.get(style) or _NUMBERS[style]
    for row in rows:
        titles = list(dict.fromkeys(row["final_candidates"]))
        order = list(range(len(titles)))
        random.Random(row["name"]).shuffle(order)
        text = render([titles[place] for place in order], [place + 1 for place in order])
        reading = read_answer(text, Pool(titles), numbered=style in _NUMBERS, cut=False)
        assert (list(reading.places), reading.outcome) == (order, "ok"), row["name"]


@pytest.mark.upstream
@pytest.mark.figures
def test_a_walk_through_a_published_pool_never_hides_the_ranking(upstream_rows: list[dict[str, Any]]) -> None:
    """All 477 pools, each with two walks and two final lists of its own: exact orders, titles of every kind."""
    draw = random.Random(7)
    for row in upstream_rows:
        titles = list(dict.fromkeys(row["final_candidates"]))
        for numbered in (True, False):
            entries = list(enumerate(titles, 1))
            order = draw.sample(entries, len(entries))
            walk = draw.choice([WALKS["echo with colon"], WALKS["table"]])
            final = NUMBERED_FINALS["chain"] if numbered else TITLED_FINALS["bare"]
            text = f"{walk(entries)}\n\nMy ranking:\n\n{final(order)}"
            reading = read_answer(text, Pool(titles), numbered=numbered, cut=False)
            assert ([place + 1 for place in reading.places], reading.outcome) == ([n for n, _ in order], "ok"), row[
                "name"
            ]


@pytest.mark.upstream
def test_titles_with_their_artist_are_read_back(upstream_rows: list[dict[str, Any]]) -> None:
    """Except titles that differ from another of the pool only by quotes, which a quoting model cannot distinguish."""
    wrong = total = 0
    for row in upstream_rows[::EVERY]:
        titles = list(dict.fromkeys(row["final_candidates"]))
        order = random.Random(row["name"]).sample(range(len(titles)), len(titles))
        text = "\n".join(f'{rank}. "{titles[place]}" - Some Artist' for rank, place in enumerate(order, 1))
        reading = read_answer(text, Pool(titles), numbered=False, cut=False)
        total += len(titles)
        wrong += sum(item.place != place for place, item in zip(order, reading.items, strict=True))
    assert wrong <= total / 1000
