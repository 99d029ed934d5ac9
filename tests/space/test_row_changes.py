"""Receipts, edits, withdrawals and the status of a row: who may change what, and what readers then see."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction, format_line
from musicrs_metric.runs.run_card import write_run_card
from space.board.board import Board
from space.board.export import export
from space.board.status import marks
from space.board.table_rows import RowQuery, table_rows
from space.cli import app
from space.intake import IntakeError, SubmissionForm
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits, from_environment
from space.store.local import LocalStore
from space.views.address import Address
from space.views.form_controls import status_choice
from space.web.rate_limits import TryLaterError

from .toy import FORM, card, jsonl, lines, ranked, references, submission


@pytest.fixture
def service(board: Board, settings: LeaderboardSettings) -> LeaderboardService:
    return LeaderboardService(settings, board)


def send(service: LeaderboardService, seed: int = 0, caller: str = "address 1", **form: Any) -> tuple[str, str]:
    """Submit random rankings; return key and receipt."""
    sent = service.submit(jsonl(lines(ranked(seed))), replace(FORM, **form), caller=caller).to_dict()
    return sent["key"], sent["receipt"]


def test_the_answer_states_score_chance_rank_and_a_receipt(service: LeaderboardService, store: LocalStore) -> None:
    """The figures are those of the row; the store has the hash of the receipt and not the receipt."""
    send(service, 1, name="First")
    answer = service.submit(jsonl(lines(ranked(2))), replace(FORM, name="Second"), caller="a").to_dict()
    of = answer["result"]["mrr"]
    row = service.board.snapshot().by_key[answer["key"]]
    assert of["score"] == row.scores.values["mrr"]
    assert of["chance"] == (row.scores.chance or {})["mrr"]
    assert of["interval"] == list((row.scores.interval or {})["mrr"])
    assert of["rank"] in (1, 2)
    assert of["n_peers"] == 2
    assert "chance is" in answer["summary"]
    assert "of 2 that read the same" in answer["summary"]
    stored = (store.folder / f"{answer['key']}.jsonl").read_text()
    assert answer["receipt"] not in stored
    assert hashlib.sha256(answer["receipt"].encode()).hexdigest() in stored


def test_the_answer_states_why_there_is_no_rank(service: LeaderboardService) -> None:
    """A lone row, a copy, and a second sending, which gets no receipt for the row of the first sender."""
    first = service.submit(jsonl(lines(ranked(1))), FORM, caller="a").to_dict()
    assert first["summary"].endswith("no rank: no other ranked system reads the same")
    copy = service.submit(jsonl(lines(ranked(1))), replace(FORM, name="Other"), caller="b").to_dict()
    assert copy["summary"].endswith("no rank: identical to Toy system")
    again = service.submit(jsonl(lines(ranked(1))), FORM, caller="b").to_dict()
    assert (again["state"], again["receipt"]) == ("already", None)


def test_a_sender_edits_a_row(service: LeaderboardService) -> None:
    """All fields change, an empty text removes a link, an absent one stays, and the key remains."""
    key, receipt = send(service, link="https://example.org/a", description="Old.")
    change = {"name": "New name", "reads": "labels", "code_link": "https://example.org/code", "link": ""}
    answer = service.edit(key, receipt, change, caller="address 2")
    row = service.board.row(key)
    assert row is not None
    entry = row.entry
    assert (row.label, entry.card.reads, entry.link, entry.code_link, entry.description) == (
        "New name", "labels", None, "https://example.org/code", "Old.",
    )  # fmt: skip
    assert answer["row"]["status"] == "code"
    assert Board(service.board.data, LocalStore(service.settings.results / "submissions"), None).row(key) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"name": "CLAP (reported)"}, {"reads": "everything"}, {"link": "http://example.org"}, {"name": 5},
        {"description": "me@example.org"}, {"code_link": "javascript:alert(1)"}, {"name": "\ud800"},
    ],
)  # fmt: skip
def test_an_edit_obeys_the_rules_of_a_submission(change: dict[str, object], service: LeaderboardService) -> None:
    """Nothing is changed if one field is wrong."""
    key, receipt = send(service)
    with pytest.raises(IntakeError):
        service.edit(key, receipt, {"description": "Fine."} | change, caller="a")
    assert service.board.refresh().by_key[key].entry.description == change.get("nothing", "")


def test_only_the_sender_changes_a_row(board: Board, settings: LeaderboardSettings) -> None:
    """A wrong receipt, that of another row, none, a stranger's name; after ten wrong ones even the right one waits."""
    service = LeaderboardService(settings, board)
    key, receipt = send(service, 1)
    other, other_receipt = send(service, 2, name="Other", caller="user ann")
    for code in ("", "x", other_receipt, None, 5, receipt[:-1]):
        with pytest.raises(UserError, match="not the one of this row"):
            service.edit(key, code, {"name": "Mine"}, caller="address 2")
    with pytest.raises(UserError, match="not the one of this row"):
        service.withdraw(other, "", caller="user bob")
    for _ in range(4):
        with pytest.raises(UserError, match="not the one"):
            service.withdraw(key, "wrong", caller="address 2")
    with pytest.raises(TryLaterError):
        service.withdraw(key, receipt, caller="address 2")
    service.edit(other, "", {"name": "Renamed"}, caller="user ann")
    assert {row.label for row in board.refresh().rows} == {"Toy system", "Renamed"}
    assert [event.event for event in service.events.latest(3)] == ["edit", "limit", "wrong receipt"]


def test_edits_count_against_the_limit_of_calls(board: Board, settings: LeaderboardSettings) -> None:
    """Two calls per hour."""
    service = LeaderboardService(replace(settings, limits=Limits(calls=2)), board)
    key, receipt = send(service)
    for _ in range(2):
        service.edit(key, receipt, {}, caller="a")
    with pytest.raises(TryLaterError):
        service.edit(key, receipt, {}, caller="a")


def test_a_withdrawn_row_is_gone_and_its_url_states_it(service: LeaderboardService, store: LocalStore) -> None:
    """Also for another process; the owner sees the reason; the same file may be sent again, with a new receipt."""
    key, receipt = send(service)
    assert service.withdraw(key, receipt, caller="a") == {"state": "withdrawn", "key": key}
    assert service.board.snapshot().rows == ()
    assert LocalStore(store.folder).get(key) is None
    with pytest.raises(UserError, match="was withdrawn"):
        service.predictions(key)
    with pytest.raises(UserError, match="was withdrawn"):
        service.edit(key, receipt, {}, caller="a")
    place = ("--results", str(service.settings.results))
    assert "removed: withdrawn by its sender" in CliRunner().invoke(app, ["list", *place]).output
    again, new_receipt = send(service)
    assert (again, new_receipt != receipt) == (key, True)
    assert CliRunner().invoke(app, ["list", *place]).output.count(key[:12]) == 1
    with pytest.raises(UserError, match="not the one"):
        service.withdraw(key, receipt, caller="a")


def test_killed_in_the_middle_of_a_withdrawal(service: LeaderboardService, store: LocalStore) -> None:
    """The row is gone at once, and the owner finds and restores it."""
    key, _ = send(service)
    store.notes.change(key, withdrawn_at="2026-01-01T00:00:00+00:00")
    assert service.board.refresh().rows == ()
    place = ("--results", str(service.settings.results))
    assert "removed: withdrawn by its sender" in CliRunner().invoke(app, ["list", *place]).output
    assert CliRunner().invoke(app, ["restore", key[:8], *place]).exit_code == 0
    assert set(service.board.refresh().by_key) == {key}


def test_edits_of_two_processes_add_up(service: LeaderboardService, store: LocalStore) -> None:
    """No edit undoes another one."""
    key, receipt = send(service)
    service.edit(key, receipt, {"description": "One."}, caller="a")
    LocalStore(store.folder).notes.change(key, edits={"link": "https://example.org/a"})
    service.edit(key, receipt, {"reads": "pools"}, caller="a")
    entry = service.board.refresh().by_key[key].entry
    assert (entry.description, entry.link, entry.card.reads) == ("One.", "https://example.org/a", "pools")


def test_another_meaning_of_parameters_in_a_run_card(service: LeaderboardService) -> None:
    """The card keeps it, and the number of parameters is unknown."""
    content = json.dumps({"parameters": {"lr": 0.1}}).encode()
    sent = service.submit(jsonl(lines()), FORM, caller="a", card=content)
    assert sent.row is not None
    assert sent.row.entry.card.extra == {"parameters": {"lr": 0.1}}
    rows = service.leaderboard(RowQuery(), details=True)
    assert [row["parameters"] for row in rows if row["key"]] == [None]


def test_a_row_that_the_owner_removed_stays_away(service: LeaderboardService) -> None:
    """The sender is sent to the owner, who restores it with its edits."""
    key, receipt = send(service)
    service.edit(key, receipt, {"name": "Renamed"}, caller="a")
    place = ("--results", str(service.settings.results))
    assert CliRunner().invoke(app, ["remove", key[:8], "--reason", "spam", *place]).exit_code == 0
    service.board.refresh()
    with pytest.raises(IntakeError, match="removed by the leaderboard owner"):
        send(service)
    assert CliRunner().invoke(app, ["restore", key[:8], *place]).exit_code == 0
    assert service.board.refresh().by_key[key].label == "Renamed"


def test_a_user_name_is_shown_by_consent_only(service: LeaderboardService) -> None:
    """The name is kept for the sender and the owner."""
    key, _ = send(service, caller="user ann")
    shown = [row["sender"] for row in service.leaderboard(RowQuery(reported=False), details=True) if row["key"]]
    assert shown == [None]
    service.edit(key, "", {}, show_sender=True, caller="user ann")
    shown = [row["sender"] for row in service.leaderboard(RowQuery(reported=False), details=True) if row["key"]]
    assert shown == ["ann"]
    key, receipt = send(service, 5, name="Unknown sender")
    service.edit(key, receipt, {}, show_sender=True, caller="a")
    shown = [row["sender"] for row in service.leaderboard(RowQuery(reported=False), details=True) if row["key"] == key]
    assert shown == [None]


def run_folder(folder: Path, predictions: list[Prediction], **changes: Any) -> str:
    folder.mkdir()
    (folder / "predictions.jsonl").write_text("".join(map(format_line, predictions)))
    write_run_card(folder / "run.json", card(**changes))
    return str(folder)


def test_the_owner_reproduces_a_row(service: LeaderboardService, tmp_path: Path) -> None:
    """Equal rankings set the status; a renamed row or an unequal run lose it; the filters follow."""
    key, receipt = send(service)
    other, _ = send(service, 3, name="With code", code_link="https://example.org/code")
    send(service, 4, name="Third")
    place = ("--results", str(service.settings.results))
    equal = run_folder(tmp_path / "equal", list(reversed(ranked(0))), name="My run")
    done = CliRunner().invoke(app, ["reproduce", key[:8], "--run", equal, *place])
    assert (done.exit_code, done.output.startswith("reproduced: Toy system")) == (0, True)
    service.board.refresh()

    def names(status: str) -> list[str]:
        rows = service.leaderboard(RowQuery(status=status, sort="name", ascending=True))  # type: ignore[arg-type]
        return [row["name"] for row in rows if row["kind"] != "chance"]

    assert names("reproduced") == ["Toy system"]
    assert names("code") == ["Toy system", "With code"]
    answer = service.edit(key, receipt, {"name": "GPT 9"}, caller="a")
    assert "no longer marked as reproduced" in answer["warnings"][0]
    assert names("reproduced") == []
    assert CliRunner().invoke(app, ["reproduce", key[:8], "--run", equal, *place]).exit_code == 0
    changed = ranked(0)
    changed[1] = Prediction(changed[1].thread_id, changed[1].ranking[::-1])
    unequal = run_folder(tmp_path / "unequal", changed[:-1], reads="labels")
    done = CliRunner().invoke(app, ["reproduce", key[:8], "--run", unequal, *place])
    assert done.exit_code == 1
    assert "reads: the row states thread" in done.output
    assert "no prediction of the run" in done.output
    assert "4 of 6 threads have the same ranking" in done.output
    service.board.refresh()
    assert names("reproduced") == []
    assert other in {row["key"] for row in service.leaderboard(RowQuery())}


def test_a_run_without_a_card_is_compared_by_its_rankings(service: LeaderboardService, tmp_path: Path) -> None:
    """The command states what it did not compare; threads that only one of both has are differences."""
    key, _ = send(service)
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(map(format_line, ranked(0))))
    command = ["reproduce", key[:8], "--results", str(service.settings.results), "--run", str(file)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert "found no run.json" in done.stderr
    file.write_text("".join(map(format_line, [*ranked(0), Prediction("t3_z", ("Ash",))])))
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, "thread t3_z: no prediction of the row" in done.output) == (1, True)
    assert service.board.refresh().by_key[key].entry.note.reproduced_at == ""


def test_a_run_on_other_data_reproduces_nothing(service: LeaderboardService, tmp_path: Path) -> None:
    """One line, and no status."""
    key, _ = send(service)
    run = run_folder(tmp_path / "run", ranked(0), fingerprint="f" * 64)
    done = CliRunner().invoke(app, ["reproduce", key[:8], "--run", run, "--results", str(service.settings.results)])
    assert isinstance(done.exception, UserError)
    assert "states the data" in str(done.exception)
    assert service.board.refresh().by_key[key].entry.note.reproduced_at == ""


def test_marks_of_doubtful_rows(board: Board, store: LocalStore) -> None:
    """A file of the labels, a copy, and audio without a stated coverage; the marks are in JSON and CSV too."""
    best = [
        Prediction(thread, tuple(sorted(pool, key=lambda title: title not in relevant)))
        for thread, pool, relevant in zip(
            references().thread_ids, references().candidates, references().ground_truth, strict=True
        )
    ]
    store.put(submission(best, at=1, name="Labels"))
    store.put(submission(ranked(2), at=2, name="Honest"))
    store.put(submission(ranked(2), at=3, name="Copy", modality="audio_only", config="audio_only"))
    store.put(submission(ranked(3), at=4, name="Audio", modality="audio_only", audio_coverage={"threads": 0.5}))
    rows = {row.label: marks(row) for row in board.snapshot().rows}
    assert rows == {
        "Labels": ("at the ceiling",),
        "Honest": ("identical to Copy",),
        "Copy": ("identical to Honest", "audio modality without audio coverage"),
        "Audio": (),
    }
    lines_of = export(table_rows(board, RowQuery(reported=False)), "csv").splitlines()
    assert ",verdict rule,status,marks,code_link,parameters," in lines_of[0]
    assert [",declared,at the ceiling," in line for line in lines_of].count(True) == 1
    assert "declared, at the ceiling" in export(table_rows(board, RowQuery(reported=False)), "markdown")


def test_the_owner_limits_the_default_view() -> None:
    """The URL states the limit, all rows have a value of their own, and tabs without rows stay as they are."""
    shown = Address().with_status("reproduced")
    assert (shown.status, shown.to()) == ("reproduced", "?status=reproduced")
    assert Address(status="code").with_status("reproduced").status == "code"
    every = Address(status="all")
    assert (every.with_status("reproduced").status, every.query.status) == ("all", "")
    assert every.with_status("") == Address()
    assert Address(tab="about").with_status("code") == Address(tab="about")
    assert 'value="all" selected' in status_choice(every)
    assert from_environment({"BOARD_STATUS": "code"}).default_status == "code"
    with pytest.raises(UserError, match="expected code or reproduced"):
        from_environment({"BOARD_STATUS": "x"})


def test_an_unknown_status_is_refused(board: Board) -> None:
    """The message lists the choices."""
    with pytest.raises(UserError, match="expected code or reproduced"):
        table_rows(board, RowQuery(status="x"))  # type: ignore[arg-type]


def test_a_damaged_note_is_reported(service: LeaderboardService, store: LocalStore) -> None:
    """The row stays as it was sent."""
    key, receipt = send(service)
    service.edit(key, receipt, {"name": "Renamed"}, caller="a")
    file = store.folder / ".notes" / f"{key}.json"
    for text in ("{", "[]", json.dumps({"edits": {"reads": "x"}}), json.dumps({"edits": {"key": "x"}})):
        file.write_text(text)
        snapshot = service.board.refresh()
        assert [row.label for row in snapshot.rows] == ["Toy system"]
        assert "is no note" in snapshot.set_aside[0].reason


@pytest.mark.parametrize(
    ("value", "number"), [("7B", 7_000_000_000), ("1.5m", 1_500_000), ("600,000", 600_000), (3, 3), ("2e3", 2000)]
)
def test_numbers_of_parameters(value: object, number: int, service: LeaderboardService) -> None:
    """Text with a unit, and plain numbers."""
    key, _ = send(service, parameters=value, licence="mit", trained=False, wall_time_s=60)
    row = service.board.row(key)
    assert row is not None
    assert row.entry.card.extra["parameters"] == number
    assert (row.entry.card.licence, row.entry.card.trained, row.entry.card.wall_time_s) == ("mit", False, 60)


@pytest.mark.parametrize("form", [{"parameters": "many"}, {"parameters": True}, {"wall_time_s": -1}, {"trained": "no"}])
def test_fields_of_the_model_are_checked(form: dict[str, Any], service: LeaderboardService) -> None:
    """The fault names the field."""
    with pytest.raises(IntakeError) as refused:
        send(service, **form)
    assert refused.value.faults[0].field == next(iter(form))
    assert SubmissionForm().parameters == ""
