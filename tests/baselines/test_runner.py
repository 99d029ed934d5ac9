from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import pytest
from filelock import FileLock
from rich.console import Console

from baselines.data import Data, as_references
from baselines.launch import build_system
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan, run
from baselines.system import Context, RunFacts
from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import read_run_card
from tests.baselines.toys import Toy, ToyOptions, run_toy, toy_data


def ids(out: Path) -> list[str]:
    return [p.thread_id for p in read_predictions(out / "predictions.jsonl").predictions]


def test_a_run_leaves_two_files_in_dataset_order(tmp_path: Path) -> None:
    """One line per thread, a card that says what ran, and nothing else."""
    data = toy_data(7)
    system = Toy()
    run_toy(system, data, tmp_path / "run")
    assert ids(tmp_path / "run") == [f"t{i}" for i in range(7)]
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["predictions.jsonl", "run.json"]
    card = read_run_card(tmp_path / "run")
    assert (card.name, card.modality, card.reads, card.seed) == ("toy", "query_only", "thread", 0)
    assert (card.fingerprint, card.outcomes) == (data.references.fingerprint, {"ok": 7})
    assert card.settings == {"delay": 0.0, "fail": None}
    assert card.created_at is not None
    assert card.created_at.endswith("+00:00")
    assert system.closed


@pytest.mark.parametrize("n", [1, 5, 7])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_batch_size_changes_nothing(tmp_path: Path, n: int, size: int) -> None:
    """The last batch may be short; it is neither padded nor dropped."""
    run_toy(Toy(), toy_data(n), tmp_path / "one", batch_size=1)
    run_toy(Toy(), toy_data(n), tmp_path / "many", batch_size=size)
    assert (tmp_path / "one/predictions.jsonl").read_bytes() == (tmp_path / "many/predictions.jsonl").read_bytes()


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    """The second session asks the system nothing and leaves the files alone."""
    run_toy(Toy(), toy_data(), tmp_path / "run")
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    again = Toy()
    assert run_toy(again, toy_data(), tmp_path / "run").reused == 7
    assert again.asked == []
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


def test_a_limited_run_is_a_part_of_the_whole_one(tmp_path: Path) -> None:
    """--limit 3 ranks the first three; without it the rest follows, and the file is that of one session."""
    run_toy(Toy(), toy_data(), tmp_path / "whole")
    assert run_toy(Toy(), toy_data(), tmp_path / "run", limit=3).card.outcomes == {"ok": 3}
    assert ids(tmp_path / "run") == ["t0", "t1", "t2"]
    rest = Toy()
    result = run_toy(rest, toy_data(), tmp_path / "run")
    assert (rest.asked, result.reused, result.card.wall_time_s) == (["t3", "t4", "t5", "t6"], 3, None)
    assert (tmp_path / "run/predictions.jsonl").read_bytes() == (tmp_path / "whole/predictions.jsonl").read_bytes()
    run_toy(Toy(), toy_data(), tmp_path / "run", limit=2)  # a smaller limit takes nothing away
    assert len(ids(tmp_path / "run")) == 7


def changed(data: Data, **fields: object) -> Data:
    threads: list[Thread] = [replace(data.threads[0], **fields), *data.threads[1:]]  # type: ignore[arg-type]
    return Data(threads, as_references(threads, "toy", "query_only"))


@pytest.mark.parametrize("under_way", [False, True])
@pytest.mark.parametrize(
    ("system", "data", "difference"),
    [
        (Toy(context=Context(modality="query_only", seed=1)), toy_data(), "seed was 0 and is now 1"),
        (Toy(ToyOptions(delay=0.001)), toy_data(), "option delay was 0.0 and is now 0.001"),
        (Toy(), toy_data(6), "the pools or labels of toy are not those that the run ranked"),
        (
            Toy(),
            changed(toy_data(), query="another one"),
            "the queries, posts or clips of toy are not those that the run ranked",
        ),
        (Toy(), toy_data()._replace(references=as_references(toy_data().threads, "toy", "other")), "config was"),
    ],
    ids=["seed", "option", "pools", "query", "configuration"],
)
def test_other_settings_in_the_same_folder_are_refused(
    tmp_path: Path, system: Toy, data: Data, difference: str, under_way: bool
) -> None:
    """The difference is named, the system is not called, and the files stay, finished or not."""
    out = tmp_path / "run"
    run_toy(Toy(), toy_data(), out)
    if under_way:
        (out / "parts").mkdir()
        (out / "run.json").rename(out / "parts/run.json")
        (out / "predictions.jsonl").rename(out / "parts/rank0.jsonl")
    before = {file: file.read_bytes() for file in out.rglob("*.json*")}
    with pytest.raises(UserError, match=f"holds another run: .*{difference}"):
        run_toy(system, data, out)
    assert system.asked == []
    assert {file: file.read_bytes() for file in out.rglob("*.json*")} == before


def test_a_run_that_never_began_leaves_the_folder_free(tmp_path: Path) -> None:
    """A stop before the first answer, such as missing weights, can be fixed by another option."""

    class Unready(Toy):
        def prepare(self, threads: Sequence[Thread]) -> None:
            raise UserError("no weights")

    with pytest.raises(UserError, match="no weights"):
        run_toy(Unready(), toy_data(), tmp_path / "run")
    run_toy(Toy(ToyOptions(delay=0.001)), toy_data(), tmp_path / "run")
    assert len(ids(tmp_path / "run")) == 7


def test_another_system_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    """Two systems with equal settings are still two."""
    run_toy(Toy(), toy_data(), tmp_path / "run")
    with pytest.raises(UserError, match="system was 'toy' and is now 'other'"):
        run_toy(Toy(), toy_data(), tmp_path / "run", system_name="other")


def test_predictions_without_a_card_are_not_touched(tmp_path: Path) -> None:
    """Nobody can say which run they belong to."""
    (tmp_path / "predictions.jsonl").write_text('{"thread_id": "t0", "ranking": ["A0"]}\n')
    with pytest.raises(UserError, match=r"holds predictions.jsonl but no run.json; name another folder"):
        run_toy(Toy(), toy_data(), tmp_path)


def test_lines_of_another_configuration_are_computed_again(tmp_path: Path) -> None:
    """A part file that got into the folder from elsewhere adds nothing; one made here would be reused."""
    out = tmp_path / "run"
    line = {"thread_id": "t0", "ranking": ["E0"], "config": "elsewhere"}
    (out / "parts").mkdir(parents=True)
    (out / "parts/rank0.jsonl").write_text(json.dumps(line) + "\n")
    (out / "parts/lock").touch()
    system, output = Toy(), StringIO()
    plan = Plan(system=system, system_name="toy", data=toy_data(), out=out)
    run(plan, Processes(), Reporter(Console(file=output)))
    assert "t0" in system.asked
    assert f"{out / 'parts'}: 1 line set aside: 1 of another configuration" in output.getvalue()


@pytest.mark.parametrize("limit", [None, 7])
def test_a_finished_run_that_was_changed_by_hand_says_what_is_wrong(tmp_path: Path, limit: int | None) -> None:
    """The foreign thread and the one that it displaced are named, and what the message advises works."""
    run_toy(Toy(), toy_data(), tmp_path)
    file = tmp_path / "predictions.jsonl"
    whole = file.read_text()
    file.write_text(whole.replace('"t3"', '"t3_odd"'))
    with pytest.raises(UserError, match=r"holds t3_odd, which the dataset does not have and lacks t3; remove"):
        run_toy(Toy(), toy_data(), tmp_path, limit=limit)
    file.write_text("".join(line for line in whole.splitlines(keepends=True) if '"t3"' not in line))
    run_toy(Toy(), toy_data(), tmp_path)
    assert file.read_text() == whole


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    """The second stops at once with a message."""
    (tmp_path / "run/parts").mkdir(parents=True)
    with FileLock(tmp_path / "run/parts/lock"), pytest.raises(UserError, match="another run is writing to it"):
        run_toy(Toy(), toy_data(), tmp_path / "run")


@pytest.mark.parametrize("name", ["notes.txt", "rank0.jsonl", "run.json"])
def test_a_folder_called_parts_that_no_run_made_is_left_alone(tmp_path: Path, name: str) -> None:
    """Somebody's own files are neither read as parts nor removed, whatever they are called."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / name).write_text("{}")
    with pytest.raises(UserError, match=r"parts.*run\.json"):
        run_toy(Toy(), toy_data(), tmp_path)
    assert [(file.name, file.read_text()) for file in (tmp_path / "parts").iterdir()] == [(name, "{}")]


def test_the_end_removes_only_what_a_run_made(tmp_path: Path) -> None:
    """Files laid among the parts of a stopped run survive its end; what the run wrote there is gone."""
    (tmp_path / "parts").mkdir()
    for name in ("lock", "notes.txt", "other.jsonl", ".run.json.x1.part"):
        (tmp_path / "parts" / name).touch()
    run_toy(Toy(), toy_data(), tmp_path)
    assert sorted(file.name for file in (tmp_path / "parts").iterdir()) == ["notes.txt", "other.jsonl"]
    assert len(ids(tmp_path)) == 7


def test_an_empty_dataset_is_refused(tmp_path: Path) -> None:
    """There is nothing to rank and nothing to average."""
    with pytest.raises(UserError, match="holds no threads"):
        run_toy(Toy(), toy_data(0), tmp_path / "run")


def boom(*_: object) -> None:
    raise KeyError("boom")


@pytest.mark.parametrize("call", ["run_facts", "prepare"])
def test_an_error_of_a_system_before_the_first_thread_is_told_in_one_line(tmp_path: Path, call: str) -> None:
    """The line names the system, the call and the error; the folder stays free for the fixed system."""
    broken = type("Broken", (Toy,), {call: boom})()
    with pytest.raises(UserError, match=f"^system toy, in {call}: KeyError: 'boom'; .*$"):
        run_toy(broken, toy_data(), tmp_path)
    run_toy(Toy(), toy_data(), tmp_path)
    assert len(ids(tmp_path)) == 7


@pytest.mark.parametrize("call", ["Options", "__init__"])
def test_an_error_while_a_system_is_made_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """There is no folder yet for a traceback; the line says where in the code it happened."""
    made: object = dataclass(type("Bad", (), {"__post_init__": boom})) if call == "Options" else boom
    monkeypatch.setattr("baselines.launch.system_class", lambda _name: type("Broken", (Toy,), {call: made}))
    with pytest.raises(UserError, match=f"^system toy, in {call}: KeyError: 'boom'; .*test_runner.py, line [0-9]+$"):
        build_system("any", None)


def test_an_error_in_close_costs_nothing(tmp_path: Path) -> None:
    """The predictions are merged first; then the line, with its traceback in the log; then the scores can be had."""
    broken = type("Broken", (Toy,), {"close": boom})
    with pytest.raises(UserError, match=r"system toy, in close: KeyError: 'boom'; .*the run is finished, and"):
        run_toy(broken(), toy_data(), tmp_path)
    assert len(ids(tmp_path)) == 7
    assert "in boom" in (tmp_path / "failures.log").read_text()
    assert run_toy(broken(), toy_data(), tmp_path).reused == 7


def test_an_error_in_close_does_not_hide_what_stopped_the_run(tmp_path: Path) -> None:
    """Two errors occur, and the first is the one to fix."""
    broken = type("Broken", (Toy,), {"close": boom})
    with pytest.raises(UserError, match="failed on each of its first"):
        run_toy(broken(ToyOptions(fail="all")), toy_data(), tmp_path)


@pytest.mark.parametrize(
    ("field", "system", "context"),
    [
        ("reads", type("Odd", (Toy,), {"reads": "everything"}), None),
        ("paradigm", type("Odd", (Toy,), {"declaration": replace(Toy.declaration, paradigm="odd")}), None),  # type: ignore[arg-type]
        ("modality", Toy, Context(modality="smell")),  # type: ignore[arg-type]
        ("model_revision", type("Odd", (Toy,), {"run_facts": lambda _self: RunFacts(model_revision=3)}), None),  # type: ignore[arg-type]
    ],
)
def test_what_no_card_may_say_is_refused_before_ranking(
    tmp_path: Path, field: str, system: type[Toy], context: Context | None
) -> None:
    """A run with an unreadable card does not start."""
    made = system(context=context)
    with pytest.raises(UserError, match=f"^system toy: field '{field}' is .*, expected "):
        run_toy(made, toy_data(), tmp_path / "run")
    assert made.asked == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("old", "new"), [("hears", "uses_audio"), ("facts", "run_facts")])
def test_a_system_with_a_former_name_of_the_contract_is_refused(old: str, new: str) -> None:
    """It would otherwise run with the defaults, for example without audio."""
    with pytest.raises(UserError, match=f"system Former: defines {old}, which is now called {new}; rename it"):
        type("Former", (Toy,), {old: True})


def test_a_card_names_no_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path stays usable: every command expands `~`. Another folder that begins alike keeps its path."""
    monkeypatch.setenv("HOME", "/home/ann")
    for name, shown in (("/home/ann/data", "~/data"), ("/home/anna/data", "/home/anna/data"), ("musicrs", "musicrs")):
        data = toy_data()
        data = data._replace(references=replace(data.references, name=name))
        result = run_toy(Toy(), data, tmp_path / str(len(name)))
        assert result.card.dataset == shown
