"""Names that imitate others, and rows that disturb none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import score_predictions
from space.board.board import Board
from space.board.data import LeaderboardData, PoolDesign
from space.board.labels import labels
from space.intake import IntakeError, take
from space.look_alikes import why_refused
from space.settings import Limits
from space.store.local import LocalStore

from .toy import FORM, POOLS, jsonl, lines, ranked, submission, toy_data
from .toy import references as references_with

REFUSED = [
    "CLAP", "clap", "CLAP (reported)", "Anything (Reported)", "Qwen2.5-Omni-7B", "CL\u0410P", "F\u0435rry",
    "\uff23\uff2c\uff21\uff30", "\U0001d402\U0001d40b\U0001d400\U0001d40f", "C L A P", "CIAP",
    "\ua4da\ua4e1\ua4ee\ua4d1",
    "Ch\u0430nce", "popularity", "\u039aappa",
]  # fmt: skip
TAKEN = [
    "Ferry", "My CLAP", "\u041c\u0435\u043b\u043e\u0434\u0438\u044f", "\u97f3\u697d model", "\u03b2-VAE",
    "Dvo\u0159\xe1k", "unreported", "random",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_reserved_names_and_mixed_letters_are_refused(name: str) -> None:
    """Names of the paper in any script, the mark of its rows, and words of Latin and other letters (UTS 39)."""
    with pytest.raises(IntakeError, match="name"):
        take(jsonl(lines()), replace(FORM, name=name), toy_data(), Limits())


@pytest.mark.parametrize("name", TAKEN)
def test_other_names_are_taken(name: str) -> None:
    """Also in other scripts."""
    assert why_refused(name) is None


def test_a_name_in_letters_that_look_latin_states_its_script() -> None:
    """Labels are those of exports too."""
    names = ("copy", "\u0441\u043e\u0440\u0443", "\u041c\u0435\u043b\u043e\u0434\u0438\u044f")
    sent = [submission(ranked(at), at=at, name=name) for at, name in enumerate(names)]
    assert labels(sent) == ["copy", "\u0441\u043e\u0440\u0443 [Cyrillic]", "\u041c\u0435\u043b\u043e\u0434\u0438\u044f"]


def test_unranked_rows_are_outside_of_the_family(board: Board, store: LocalStore) -> None:
    """Copies, partial rows and control runs have a verdict and no rank, and change nothing for others."""
    for at in range(3):
        store.put(submission(ranked(at, skill=at / 3), at=at, name=f"System {at}"))
    before = {row.key: row.standings for row in board.refresh().rows}
    store.put(submission(ranked(2, skill=2 / 3), at=7, name="Copy"))
    store.put(replace(submission(ranked(5)[1:], at=8, name="Part"), partial=True))
    store.put(submission(ranked(6), at=9, name="Control", extra={"control": "shuffled-query"}))
    rows = {row.label: row for row in board.refresh().rows}
    assert {row.key: row.standings for row in rows.values() if row.key in before} == before
    reasons = {label: row.unranked for label, row in rows.items() if row.key not in before}
    assert reasons == {"Copy": "identical to System 2", "Part": "partial", "Control": "control run"}
    assert {row.peers for row in rows.values()} == {3}
    assert rows["Copy"].standings["mrr"].chance is not None
    assert [rows[name].is_ranked for name in ("System 2", "Copy")] == [True, False]


@pytest.mark.parametrize("n", [25, pytest.param(200, marks=pytest.mark.figures)])
def test_junk_rows_change_no_verdict(n: int, tmp_path: Path) -> None:
    """Up to 200 random files: verdicts of the others stay, and so do their groups if no junk row is better."""
    data = toy_data()
    store = LocalStore(tmp_path / "submissions")
    board = Board(data, store, None)
    for at in range(3):
        store.put(submission(ranked(at, skill=0.9), at=at, name=f"System {at}"))
    before = {row.key: row.standings for row in board.refresh().rows}
    for at in range(n):
        store.put(submission(ranked(1_000 + at), at=10 + at, name=f"Junk {at}"))
    after = {row.key: row.standings for row in board.refresh().rows}
    for key, standings in before.items():
        for metric, standing in standings.items():
            now = after[key][metric]
            assert now.chance == standing.chance
            better = sum(other[metric].mean > standing.mean for name, other in after.items() if name not in before)
            assert better or now.group == standing.group


def test_a_changed_dataset_keeps_the_rows(tmp_path: Path) -> None:
    """One label less, one thread gone: rows are scored again, state their data, and unscorable ones are set aside."""
    store = LocalStore(tmp_path / "submissions")
    for at in range(3):
        store.put(submission(ranked(at), at=at, name=f"System {at}"))
    store.put(submission([Prediction("t3_a", ("Nothing", "Nobody"))], at=4, name="Other pools"))
    assert len(Board(toy_data(), store, tmp_path).snapshot().rows) == 4
    genre, pool, right = POOLS["t3_e"]
    changed = POOLS | {"t3_e": (genre, pool, right.split()[0])}
    del changed["t3_f"]
    references = references_with(changed)
    data = LeaderboardData("toy", (PoolDesign("published", references, ("query_only",)),))
    snapshot = Board(data, store, tmp_path).snapshot()
    assert [row.label for row in snapshot.rows] == [f"System {at}" for at in range(3)]
    for at, row in enumerate(snapshot.rows):
        assert row.other_data is not None
        assert row.unranked is None
        assert row.scores.values == score_predictions(ranked(at)[:-1], references).scores.values
    assert "0 of 2" in snapshot.set_aside[0].reason
