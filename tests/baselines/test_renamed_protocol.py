"""The protocol `titles` was called `paper`: its old name, old run folders, and old part files go on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baselines.commands.catalogue import system_lines
from baselines.launch import build_system
from baselines.run.card import identity_hash
from baselines.run.runner import RunResult
from baselines.system import System
from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import RunCard, read_run_card
from tests.baselines.test_generative_protocols import Asker, Scripted
from tests.baselines.toys import run_toy, toy_data

CARD = RunCard(
    name="x", paradigm="generative", modality="query_only", dataset="toy", config="query_only", fingerprint="0" * 64,
    reads="thread", protocol="paper", prompt_hash="1" * 64, seed=0, settings={"protocol": "paper", "seconds": None},
    extra={"system": "x", "texts": "2" * 64},
)  # fmt: skip


def run(out: Path, protocol: str = "titles", **arguments: Any) -> RunResult:
    system: System = Asker(Scripted("A0, B0"), protocol)
    return run_toy(system, toy_data(5), out, **arguments)


def with_old_words(out: Path) -> None:
    """Make the card of a run as the earlier version wrote it."""
    values = json.loads((out / "run.json").read_text())
    values |= {"protocol": "paper", "name": values["name"].replace("titles", "paper")}
    values["settings"]["protocol"] = "paper"
    del values["unlike_published"]
    (out / "run.json").write_text(json.dumps(values))


def test_the_old_name_is_understood_and_not_shown() -> None:
    """On the command line; the options and the card have the name of today."""
    arguments = ["--model-name", "m", "--protocol", "paper"]
    assert build_system("openai_api", "query_only", arguments).options.protocol == "titles"
    assert not any("paper" in line for line in system_lines("openai_api") if line.startswith("option"))
    with pytest.raises(UserError, match="invalid choice: 'papers'"):
        build_system("openai_api", "query_only", ["--model-name", "m", "--protocol", "papers"])


def test_an_old_folder_is_read_and_resumed(tmp_path: Path) -> None:
    """Its three threads are kept, its card gets the name of today; another protocol is still another run."""
    whole = run(tmp_path / "whole")
    run(tmp_path / "old", limit=3)
    with_old_words(tmp_path / "old")
    assert read_run_card(tmp_path / "old").protocol == "paper"
    with pytest.raises(UserError, match="protocol was 'titles' and is now 'listwise'"):
        run(tmp_path / "old", "listwise")
    result = run(tmp_path / "old")
    assert (result.reused, result.card.protocol, result.card.settings["protocol"]) == (3, "titles", "titles")
    assert result.predictions == whole.predictions


def test_an_old_folder_that_is_finished_is_left_as_it_is(tmp_path: Path) -> None:
    """Nothing is ranked again, and nothing is written."""
    run(tmp_path / "old")
    with_old_words(tmp_path / "old")
    before = {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()}
    assert run(tmp_path / "old").reused == 5
    assert {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()} == before


def test_part_files_of_an_old_run_belong_to_the_new_one() -> None:
    """Their lines carry this hash, as the version that called it `paper` computed it."""
    assert identity_hash(CARD) == "34a324b23869796a"
    titles = replace(CARD, protocol="titles", settings=CARD.settings | {"protocol": "titles"})
    assert identity_hash(titles) == identity_hash(CARD)
    assert identity_hash(replace(CARD, protocol="listwise")) != identity_hash(CARD)
