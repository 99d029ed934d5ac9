"""Predictions that no runner of this project made, and runs that are not finished."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from musicrs_metric.runs.run_card import read_run_card

from .report_toy import Toy, write_toy
from .support import Outcome, run_cli

Cli = Callable[..., Outcome]
SAID = ("--name", "Mine", "--modality", "query_only", "--paradigm", "retrieval", "--reads", "thread")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return lambda *arguments: run_cli(capsys, monkeypatch, *arguments)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return write_toy(tmp_path)


@pytest.fixture
def mine(toy: Toy, tmp_path: Path) -> Path:
    """A folder with predictions and nothing else."""
    (tmp_path / "mine").mkdir()
    shutil.copy(toy.query / "predictions.jsonl", tmp_path / "mine")
    return tmp_path / "mine"


def test_a_card_makes_a_run_of_predictions(cli: Cli, toy: Toy, mine: Path) -> None:
    """It has the dataset's fingerprint, and `compare` and `report` take the folder."""
    assert cli("card", mine, *SAID, "--dataset", toy.dataset).code == 0
    card = read_run_card(mine)
    assert (card.name, card.reads, card.config) == ("Mine", "thread", "query_only")
    assert card.fingerprint == read_run_card(toy.query).fingerprint
    assert cli("compare", mine, toy.counts, "--dataset", toy.dataset, "--resamples", 50).code == 0
    again = cli("card", mine, *SAID, "--dataset", toy.dataset)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "exists already" in again.err


def test_a_card_is_refused_to_predictions_of_other_data(cli: Cli, toy: Toy, mine: Path) -> None:
    """It would say what is not so."""
    with (mine / "predictions.jsonl").open("a") as file:
        file.write('{"thread_id": "t3_elsewhere", "ranking": ["A"]}\n')
    done = cli("card", mine, *SAID, "--dataset", toy.dataset)
    assert done.code == 2
    assert "t3_elsewhere" in done.err
    assert not (mine / "run.json").exists()


def test_a_shortened_fingerprint_is_not_taken_for_another(cli: Cli, toy: Toy) -> None:
    """As whoever copies it from a page would write it."""
    card = json.loads((toy.query / "run.json").read_text())
    (toy.query / "run.json").write_text(json.dumps(card | {"fingerprint": card["fingerprint"][:8] + "..."}))
    done = cli("score", "-p", toy.query, "-d", toy.dataset)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "expected the 64 hexadecimal digits" in done.err


@pytest.mark.parametrize("command", ["score", "compare", "report"])
def test_a_run_under_way_is_told_from_a_missing_one(cli: Cli, toy: Toy, tmp_path: Path, command: str) -> None:
    """Whoever stopped a run learns how to finish it."""
    stopped = tmp_path / "stopped"
    (stopped / "parts").mkdir(parents=True)
    arguments: dict[str, list[str | Path]] = {
        "score": ["-p", stopped],
        "compare": [toy.counts, stopped],
        "report": [toy.counts, stopped, "--out", tmp_path / "report"],
    }
    done = cli(command, *arguments[command], "--dataset", toy.dataset)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{stopped}: the run is not finished" in done.err


def test_a_report_takes_half_a_run_only_where_it_is_told_to(cli: Cli, toy: Toy, tmp_path: Path) -> None:
    """Threads that were not ranked count as 0, and averages over systems would carry that on."""
    file = toy.query / "predictions.jsonl"
    file.write_text("".join(line + "\n" for line in file.read_text().splitlines()[:3]))
    arguments = ("report", *toy.runs, "--dataset", toy.dataset, "--out", tmp_path / "report", "--resamples", 50)
    done = cli(*arguments)
    assert done.code == 2
    assert "no prediction for 3 of 6 threads" in done.err
    assert not (tmp_path / "report").exists()
    assert cli(*arguments, "--partial").code == 0
