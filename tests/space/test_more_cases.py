"""Bad files: nothing is stored or written. Two submissions in the same moment are two rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from musicrs_metric.runs.predictions import PredictionError
from space.board.board import Board
from space.board.table_rows import RowQuery
from space.service import LeaderboardService
from space.settings import LeaderboardSettings
from space.store.local import LocalStore

from .toy import FORM, gzipped, jsonl, lines, ranked, submission, zipped

GOOD = jsonl(lines())
FIRST, SECOND, *_ = lines()
BAD = {
    "a word for the field": jsonl([{"thread": "t3_a", "items": ["Ash"]}]),
    "a ranking as one string": jsonl([FIRST | {"ranking": "Ash, Birch"}]),
    "a line without ranking": jsonl([FIRST, {"id": "t3_b"}]),
    "a broken line": jsonl([FIRST, '{"id": "t3_b", "ranking": ["a"', SECOND]),
    "an array": jsonl([lines()]),
    "nothing": b"",
    "blank lines": b"\n\n \n",
    "an archive that climbs": zipped({"../../evil.jsonl": GOOD}),
    "two files": zipped({"a.jsonl": GOOD, "b.jsonl": GOOD}),
    "a file cut short": gzipped(GOOD)[:-20],
}


@pytest.fixture
def service(board: Board, settings: LeaderboardSettings) -> LeaderboardService:
    return LeaderboardService(settings, board)


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_leaves_nothing_behind(
    what: str, service: LeaderboardService, store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row, no file anywhere near, and the board goes on with the next submission."""
    work = tmp_path / "some" / "where"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(PredictionError):
        service.submit(BAD[what], FORM, caller="somebody")
    assert {path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"} == before
    assert not store.entries()
    assert [line["kind"] for line in service.leaderboard(RowQuery(reported=False))] == ["chance"]
    assert service.submit(GOOD, FORM, caller="somebody").receipt.state == "stored"


def test_one_team_twice_in_one_moment(board: Board, store: LocalStore) -> None:
    """Two files of one name that came in together are two rows with two names; the same file again is none."""
    for seed in (1, 2, 2):
        store.put(submission(ranked(seed), at=5))
    rows = board.snapshot().rows
    assert len({row.entry.received_at for row in rows}) == 1
    assert len({row.key for row in rows}) == len({row.label for row in rows}) == 2
