"""Every score again: nothing differs on an honest board, and what was tampered with is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from space import cli
from space.board.board import Board
from space.board.cache import Cache
from space.board.data import LeaderboardData
from space.recompute import differing, recompute
from space.store.files import file_name
from space.store.local import LocalStore
from tests.metric.support import columns_of, write_repo

from .toy import ranked, references, submission


@pytest.fixture
def filled(board: Board, store: LocalStore) -> Board:
    """A board of three rows, computed and kept."""
    for i in range(3):
        store.put(submission(ranked(i, skill=i / 4), at=i, name=f"System {i}"))
    board.snapshot()
    return board


def test_an_honest_board(filled: Board, data: LeaderboardData) -> None:
    """All are scored, none differs; where nothing was kept, that is told."""
    done = recompute(data, filled.store, filled._cache)
    assert (done.n, done.n_new, done.differences, done.set_aside) == (3, 0, (), ())
    done = recompute(data, filled.store, Cache(None))
    assert (done.n, done.n_new, done.differences) == (3, 3, ())


def test_a_score_that_was_raised(filled: Board, data: LeaderboardData) -> None:
    """It is named with both values, and afterwards the board shows the right one."""
    row, design = filled.snapshot().rows[1], data.design()
    honest = row.scores.values["mrr"]
    boasted = replace(row.judged, scores=replace(row.scores, values=row.scores.values | {"mrr": 1.0}))
    filled._cache.save(row.key, design, boasted)
    assert Board(data, filled.store, filled._cache.folder).snapshot().rows[1].scores.values["mrr"] == 1.0
    done = recompute(data, filled.store, filled._cache)
    assert [(one.entry.card.name, one.what, one.before, one.now) for one in done.differences] == [
        ("System 1", "mrr", 1.0, honest)
    ]
    assert Board(data, filled.store, filled._cache.folder).snapshot().rows[1].scores.values["mrr"] == honest


def test_scores_of_other_code_are_compared_too(
    filled: Board, data: LeaderboardData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change of the metric the board starts anew, and the old digits are what it is compared with."""
    row = filled.snapshot().rows[0]
    wrong = replace(row.judged, scores=replace(row.scores, n_unknown=99))
    monkeypatch.setattr("space.board.cache.code_version", lambda: "older")
    filled._cache.save(row.key, data.design(), wrong)
    monkeypatch.undo()
    assert filled._cache.folder is not None
    (now, before) = sorted(filled._cache.folder.glob(f"{row.key}-*"), key=lambda path: "older" in path.name)
    now.unlink()
    assert "older" in before.name
    (difference,) = recompute(data, filled.store, filled._cache).differences
    assert (difference.what, difference.before, difference.now) == ("n_unknown", 99, 0)
    assert [path.name for path in filled._cache.folder.glob(f"{row.key}-*")] == [now.name]


def test_rounding_is_no_difference(filled: Board) -> None:
    """Digits beyond the twelfth depend on the machine."""
    scores = filled.snapshot().rows[0].scores
    value = scores.values["recall@20"] or 0.0
    assert not list(differing(scores, replace(scores, values=scores.values | {"recall@20": value + 1e-14})))
    assert list(differing(scores, replace(scores, values=scores.values | {"recall@20": value + 1e-9})))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0 where nothing changed, 1 where a number or a file is not what it was."""
    folder = write_repo(tmp_path / "data", columns_of(references()))
    store = LocalStore(tmp_path / "results" / "submissions")
    one = submission(ranked(1))
    store.put(one)

    def run(results: str = "results") -> tuple[int, str]:
        arguments = ["space", "recompute", "--results", str(tmp_path / results), "--dataset", str(folder)]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out or told.err

    code, text = run()
    assert code == 0
    assert "1 submission scored; 0 differences from 0 cached scores, 0 files set aside" in text
    code, text = run()
    assert code == 0
    assert "from 1 cached scores," in text
    path = store.folder / file_name(one.key)
    path.write_bytes(path.read_bytes().replace(b"Ash", b"Asp"))
    code, text = run()
    assert code == 1
    assert f"set aside: {file_name(one.key)}: is damaged" in text
    code, text = run("misspelt")
    assert (code, "found no folder submissions" in text) == (2, True)
    assert not (tmp_path / "misspelt").exists()
