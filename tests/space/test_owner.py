"""Commands of the leaderboard owner, and the state of the server."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from musicrs_metric.errors import UserError
from space.board.board import Board
from space.cli import app
from space.owner import Submissions
from space.service import LeaderboardService
from space.settings import LeaderboardSettings
from space.store.local import LocalStore
from space.web.public import PublicRoutes

from .toy import ranked, submission


def run(*words: str) -> str:
    outcome = CliRunner().invoke(app, words, catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.output


def test_a_row_is_removed_and_comes_back(board: Board, store: LocalStore, settings: LeaderboardSettings) -> None:
    """The page follows the commands, and the file and its reason are kept."""
    for at in range(2):
        store.put(submission(ranked(at), at=at, name=f"System {at}"))
    first, second = (row.key for row in board.refresh().rows)
    place = ("--results", str(settings.results))
    assert "removed: System 0" in run("remove", first[:8], "--reason", "asked by its sender", *place)
    assert [row.key for row in board.refresh().rows] == [second]
    assert not board.refresh().set_aside
    listed = run("list", *place).splitlines()
    assert [line.endswith("removed: asked by its sender") for line in listed] == [True, False]
    assert json.loads(run("show", first, *place))["removed"] == "asked by its sender"
    assert "restored: System 0" in run("restore", first, *place)
    assert [row.key for row in board.refresh().rows] == [first, second]
    assert "removed" not in run("list", *place)
    assert store.get(first) is not None


def test_what_cannot_be_done_is_told(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown and short keys, a second removal, and a results repository."""
    made = submission()
    store.put(made)
    submissions = Submissions(store)
    for key in ("", made.key[:5], "0" * 64, "../x"):
        with pytest.raises(UserError, match="no submission"):
            submissions.remove(key, "x")
    with pytest.raises(UserError, match="is on the leaderboard"):
        submissions.restore(made.key)
    submissions.remove(made.key, "x")
    with pytest.raises(UserError, match="was removed before"):
        submissions.remove(made.key, "y")
    monkeypatch.setenv("RESULTS_REPO", "org/results")
    with pytest.raises(UserError, match="in that repository"):
        CliRunner().invoke(app, ["restore", made.key, "--results", str(store.folder.parent)], catch_exceptions=False)


def test_a_row_that_is_sent_again_after_its_removal(store: LocalStore) -> None:
    """It is listed once as present, and can be removed again."""
    made = submission()
    store.put(made)
    Submissions(store).remove(made.key, "x")
    assert store.put(made).state == "stored"
    Submissions(store).remove(made.key, "y")
    assert [removed for _, removed in Submissions(store).listed()] == ["y"]


def test_health(
    board: Board, store: LocalStore, settings: LeaderboardSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 with the number of rows; 503 if the disk is full or the Hub does not take commits."""
    store.put(submission())
    board.refresh()
    routes = PublicRoutes(LeaderboardService(settings, board))

    def state() -> tuple[int, dict[str, object]]:
        answer = routes.health(None)  # type: ignore[arg-type]
        return answer.status_code, json.loads(bytes(answer.body))

    assert state() == (200, {"ok": True, "rows": 1, "pending": 0, "set_aside": 0})
    with monkeypatch.context() as patch:
        patch.setattr(store, "problem", lambda: "the token of org/secret is refused")
        assert state() == (503, {"ok": False, "rows": 1, "pending": 0, "set_aside": 0})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    assert state()[0] == 503


def test_no_folder(tmp_path: Path) -> None:
    """The option is named."""
    with pytest.raises(UserError, match="--results"):
        CliRunner().invoke(app, ["list", "--results", str(tmp_path / "none")], catch_exceptions=False)
