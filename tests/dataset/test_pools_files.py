"""The paper's and the fresh design, pool files, and the command that writes them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import pytest
from typer.testing import CliRunner

from musicrs_dataset.cli import app
from musicrs_dataset.pools import (
    DESIGNS,
    Design,
    balanced_pools,
    corpus_of,
    draw_pools,
    fresh_pools,
    paper_pools,
    read_corpus,
    read_pools,
    with_pools,
    write_pools,
)
from musicrs_dataset.pools.files import manifest_path
from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import fingerprint


def thread(name: str, right: Sequence[str], named: Sequence[str] = (), subreddit: str = "jazz") -> Thread:
    return Thread(
        thread_id=name, subreddit=subreddit, genre="Jazz", query="q", post="p", submission_entities=(), comments=(),
        candidates=(), ground_truth=tuple(right), all_entities=(*right, *named), links=(),
    )  # fmt: skip


@pytest.fixture
def threads() -> list[Thread]:
    return [thread(f"t{i}", [f"Right {i}"], named=[f"Named {i} {j}" for j in range(9)]) for i in range(6)]


def test_paper_pools_are_ground_truth_and_random_titles_of_the_subreddit(threads: list[Thread]) -> None:
    threads = [*threads, thread("m1", ["Riff"], named=["Solo"], subreddit="metal")]
    made = paper_pools(threads, distractors=20, seed=4)
    jazz = {name for row in threads[:-1] for name in row.all_entities}
    for row in threads[:-1]:
        pool = made.pools[row.thread_id]
        assert len(set(pool)) == 21
        assert set(row.ground_truth) <= set(pool) <= jazz
    assert sorted(made.pools["m1"]) == ["Riff", "Solo"]
    assert made.notes == ("r/metal: 2 titles are too few for 21 candidates per pool; its pools hold 2 to 2",)
    assert paper_pools(threads, distractors=20, seed=4) == made
    assert paper_pools(threads, distractors=20, seed=5).pools != made.pools


def test_answers_stand_anywhere_in_a_paper_pool(threads: list[Thread]) -> None:
    # One right answer at one of 6 places: over 60 pools each place is expected 10 times.
    places = Counter(
        paper_pools([row], distractors=5, seed=seed).pools[row.thread_id].index(row.ground_truth[0])
        for seed in range(10)
        for row in threads
    )
    assert set(places) == set(range(6))
    assert max(places.values()) < 22


def test_fresh_distractors_are_nobodys_answer_and_used_once(threads: list[Thread]) -> None:
    # "Named 0 1" is true in a thread, whatever its case; Outside 7 comes in two spellings.
    corpus = {"jazz": ["NAMED 0 1", "Outside 7", "“outside 7”", *(f"Outside {i}" for i in range(40))]}
    made = fresh_pools(threads, corpus, distractors=6, seed=0)
    drawn = [name for row in threads for name in made.pools[row.thread_id] if name not in row.ground_truth]
    assert len(drawn) == len(set(drawn)) == 36
    assert "NAMED 0 1" not in drawn
    assert fresh_pools(threads, corpus, distractors=6, seed=0) == made


def test_a_title_of_two_subreddits_is_used_in_one(threads: list[Thread]) -> None:
    both = [*threads, thread("m1", ["Riff"], subreddit="metal")]
    corpus = {name: [f"Outside {i}" for i in range(20)] for name in ("jazz", "metal")}
    made = fresh_pools(both, corpus, distractors=2, seed=0)
    drawn = [name for pool in made.pools.values() for name in pool if name.startswith("Outside")]
    assert len(drawn) == len(set(drawn)) == 14


def test_a_small_corpus_makes_all_pools_of_the_subreddit_smaller_and_says_so(threads: list[Thread]) -> None:
    made = fresh_pools(threads, {"jazz": [f"Outside {i}" for i in range(20)]}, distractors=6, seed=0)
    assert {len(pool) for pool in made.pools.values()} == {4}
    assert made.notes == ("r/jazz: 20 titles of the corpus are free, too few for 6 in each of 6 pools; each gets 3",)
    with pytest.raises(UserError, match="r/jazz: the corpus has 0 titles"):
        fresh_pools(threads, {"metal": ["Riff"]}, seed=0)


def test_a_corpus_comes_from_other_threads_or_from_a_file(threads: list[Thread], tmp_path: Path) -> None:
    assert corpus_of(threads[:1]) == {"jazz": list(threads[0].all_entities)}
    file = tmp_path / "corpus.jsonl"
    file.write_text('{"subreddit": "jazz", "entity": "Naima"}\n\n{"subreddit": "metal", "entity": "Riff"}\n')
    assert read_corpus(file) == {"jazz": ["Naima"], "metal": ["Riff"]}
    file.write_text('{"subreddit": "jazz"}\n')
    with pytest.raises(UserError, match="line 1: no field 'entity'"):
        read_corpus(file)


def test_written_pools_come_back_and_the_manifest_tells_what_they_are(threads: list[Thread], tmp_path: Path) -> None:
    made = balanced_pools(threads, distractors=10, seed=7)
    file = tmp_path / "pools.jsonl"
    write_pools(file, made, threads, source="the/dataset")
    assert read_pools(file) == made.pools
    assert [set(json.loads(line)) for line in file.read_text().splitlines()] == [{"thread_id", "candidates"}] * 6
    manifest = json.loads((tmp_path / "pools.manifest.json").read_text())
    assert (manifest["design"], manifest["seed"], manifest["source"]) == ("balanced", 7, "the/dataset")
    pooled = with_pools(threads, made.pools)
    assert manifest["fingerprint"] == fingerprint((t.thread_id, t.candidates, t.ground_truth) for t in pooled)


def test_the_same_seed_writes_the_same_bytes(threads: list[Thread], tmp_path: Path) -> None:
    files = [tmp_path / "a" / "p.jsonl", tmp_path / "b" / "p.jsonl"]
    for file in files:
        write_pools(file, balanced_pools(threads, distractors=10, seed=7), threads, source="d")
    assert files[0].read_bytes() == files[1].read_bytes()
    assert manifest_path(files[0]).read_bytes() == manifest_path(files[1]).read_bytes()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found no pools"),
        ("[1]\n", "line 1: found a list of 1, expected an object"),
        ('{"thread_id": "t0"}\n', "line 1: no field 'candidates'"),
        ('{"thread_id": 3, "candidates": ["A"]}\n', "line 1: thread_id is 3"),
        ('{"thread_id": "t0", "candidates": "A"}\n', "line 1: candidates is 'A', expected a list"),
        ('{"thread_id": "t0", "candidates": []}\n', "thread t0: candidates is an empty list"),
        ('{"thread_id": "t0", "candidates": ["A", null]}\n', r"candidates\[1\] is null"),
        ('{"thread_id": "t0", "candidates": ["A", "B", "A"]}\n', "'A' appears 2 times"),
        ('{"thread_id": "t0", "candidates": ["A", " "]}\n', "' ' is blank"),
        ('{"thread_id": "t0", "candidates": ["A"]}\n' * 2, "line 2, thread t0: appears twice"),
    ],
)
def test_a_pool_file_with_a_fault_is_refused_by_line_and_thread(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "pools.jsonl"
    file.write_text(text)
    with pytest.raises(UserError, match=told):
        read_pools(file)


def test_pools_of_another_dataset_are_refused(threads: list[Thread]) -> None:
    pools = {row.thread_id: row.ground_truth for row in threads}
    with pytest.raises(UserError, match=r"1 threads have no pool \(t5\) and 1 pools are for other threads \(x\)"):
        with_pools(threads, {**{name: pool for name, pool in pools.items() if name != "t5"}, "x": ("A",)})
    with pytest.raises(UserError, match="thread t2: its pool lacks 'Right 2'"):
        with_pools(threads, pools | {"t2": ("right 2",)})


def test_a_design_without_a_rule_is_refused(
    threads: list[Thread], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new name in the enumeration draws no pools of another design (case M19)."""
    assert set(DESIGNS) == set(Design)
    hard = StrEnum("hard", ["HARD"])
    with pytest.raises(UserError, match="pool design 'hard': no rule in DESIGNS"):
        draw_pools(threads, hard.HARD)  # type: ignore[arg-type]
    monkeypatch.delitem(DESIGNS, Design.PAPER)
    out = tmp_path / "pools.jsonl"
    outcome = CliRunner().invoke(app, ["pools", "mini", "--design", "paper", "--out", str(out)])
    assert isinstance(outcome.exception, UserError)
    assert "'paper'" in str(outcome.exception)
    assert not out.exists()


@pytest.mark.parametrize(("design", "corpus"), [(Design.FRESH, None), (Design.BALANCED, {"jazz": ["Solo"]})])
def test_a_corpus_is_given_where_the_design_needs_one(
    threads: list[Thread], design: Design, corpus: dict[str, list[str]] | None
) -> None:
    with pytest.raises(UserError, match=f"pool design '{design}'"):
        draw_pools(threads, design, corpus=corpus)


def test_draw_pools_gives_the_pools_of_the_design(threads: list[Thread]) -> None:
    assert draw_pools(threads, Design.PAPER, distractors=20, seed=4) == paper_pools(threads, distractors=20, seed=4)
    corpus = {"jazz": [f"Outside {i}" for i in range(60)]}
    fresh = fresh_pools(threads, corpus, distractors=5, seed=4)
    assert draw_pools(threads, Design.FRESH, corpus=corpus, distractors=5, seed=4) == fresh
