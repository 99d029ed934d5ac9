"""The event log: what it holds, that it stays small, and that no call fails because of it."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import PredictionError
from space import events as module
from space.board.board import Board
from space.cli import app
from space.events import Event, EventLog
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits
from space.store.local import LocalStore
from space.views.event_list import event_list
from space.web.rate_limits import TryLaterError

from .toy import FORM, jsonl, lines, ranked, submission


def test_events_name_no_caller(tmp_path: Path) -> None:
    """Two processes hash a caller alike, another leaderboard does not, and no file holds the caller."""
    EventLog(tmp_path / "a").add("submission", key="k", caller="address 10.1.2.3")
    EventLog(tmp_path / "a").add("edit", caller="address 10.1.2.3")
    EventLog(tmp_path / "b").add("edit", caller="address 10.1.2.3")
    first, second = (event.caller for event in EventLog(tmp_path / "a").latest(9))
    assert first == second != EventLog(tmp_path / "b").latest(1)[0].caller
    for file in (tmp_path / "a").iterdir():
        assert b"10.1.2.3" not in file.read_bytes()
    assert (tmp_path / "a" / ".caller-hash-key").stat().st_mode & 0o077 == 0


def test_the_log_is_bounded_and_survives_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of limited size; torn and foreign lines are skipped; the newest event is first."""
    monkeypatch.setattr(module, "_LARGEST", 2_000)
    log = EventLog(tmp_path)
    for number in range(100):
        log.add("refusal", caller=f"address {number}", note="x" * 1_000)
    assert sum(file.stat().st_size for file in tmp_path.glob("events*")) < 2 * (2_000 + 1_000)
    log.path.open("a").write('[1]\n{"time": 5}\n{"time": "t", "event": "e", "other": 1}\n\xff{"ti')  # type: ignore[union-attr]
    fresh = EventLog(tmp_path)
    fresh.add("edit")
    assert [event.event for event in fresh.latest(2)] == ["edit", "refusal"]


def test_a_caller_at_the_limit_fills_no_log(tmp_path: Path) -> None:
    """One line per caller and minute."""
    log = EventLog(tmp_path)
    for number in range(50):
        log.add("limit", caller=f"address {number % 2}")
    assert len(log.latest(99)) == 2


def test_a_log_that_cannot_be_written_stays_in_memory(tmp_path: Path) -> None:
    """A file in place of the folder."""
    (tmp_path / "file").write_text("")
    log = EventLog(tmp_path / "file")
    log.add("disk full", note="no\nspace")
    assert [(event.event, event.note) for event in log.latest(5)] == [("disk full", "no space")]


def test_half_a_surrogate_pair_breaks_no_call(board: Board, settings: LeaderboardSettings) -> None:
    """Callers choose the text of a refusal, and behind a proxy the text of their IP address."""
    service = LeaderboardService(settings, board, EventLog(settings.results))
    with pytest.raises(PredictionError):
        service.submit(b"x", replace(FORM, name="\ud800", modality="\ud800"), caller="address \ud800")
    service.events.add("hub trouble", note="\ud800")
    assert [event.event for event in EventLog(settings.results).latest(2)] == ["hub trouble", "refusal"]


def test_a_wrong_folder_is_no_quiet_leaderboard(tmp_path: Path) -> None:
    """`log` asks for the folder of a leaderboard."""
    assert isinstance(CliRunner().invoke(app, ["log", "--results", str(tmp_path)]).exception, UserError)


def test_calls_leave_events(board: Board, settings: LeaderboardSettings) -> None:
    """A submission, a refusal, a limit and a withdrawal, as `log` prints them."""
    log = EventLog(settings.results)
    service = LeaderboardService(replace(settings, limits=Limits(submissions=1)), board, log)
    sent = service.submit(jsonl(lines()), FORM, caller="a").to_dict()
    with pytest.raises(PredictionError):
        service.submit(b"x", FORM, caller="b")
    with pytest.raises(TryLaterError):
        service.submit(jsonl(lines(ranked(5))), FORM, caller="a")
    service.withdraw(sent["key"], sent["receipt"], caller="a")
    printed = CliRunner().invoke(app, ["log", "--results", str(settings.results)]).output.splitlines()
    assert [line.split("  ")[1] for line in printed] == ["submission", "refusal", "limit", "withdrawal"]
    assert [line.split("  ")[2] == sent["key"][:12] for line in printed] == [True, False, False, True]


def test_a_full_disk_is_an_event_and_an_error_in_words(
    board: Board, settings: LeaderboardSettings, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored, and the caller may try again."""
    service = LeaderboardService(settings, board)

    def full(_submission: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "put", full)
    with pytest.raises(UserError, match="the disk of the leaderboard is full"):
        service.submit(jsonl(lines()), FORM, caller="a")
    assert service.events.latest(1)[0].event == "disk full"
    assert not store.entries()


def test_the_owner_commands_are_events(store: LocalStore, settings: LeaderboardSettings) -> None:
    """Removal with its reason, and restoration."""
    made = submission()
    store.put(made)
    place = ("--results", str(settings.results))
    CliRunner().invoke(app, ["remove", made.key[:8], "--reason", "spam", *place], catch_exceptions=False)
    CliRunner().invoke(app, ["restore", made.key[:8], *place], catch_exceptions=False)
    assert [event.event for event in EventLog(settings.results).latest(9)] == ["restoration", "removal"]
    assert json.loads((settings.results / "events.jsonl").read_text().splitlines()[0])["note"] == "spam"


def test_the_list_of_events_is_escaped() -> None:
    """Notes hold texts of callers."""
    shown = event_list([Event("2026-01-01T00:00:00", "refusal", "k", "h", "<script>x</script>")])
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert event_list([]) == ""
