"""The tasks of Inspect. `make test-inspect` runs these tests in an environment of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import load_references
from musicrs_metric.scoring import score
from tests.chat_stub import Reply, chat_server, prompt_of

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed; run make test-inspect")

FILE_ORDER = "file_order/musicrs/file-order"
# From a prototype that shares no code with the tasks: another prompt, another reader.
GOLDEN = {"recall@20": (0.206090, 0.007979), "ndcg@20": (0.142711, 0.005594), "mrr": (0.215283, 0.011991)}
CHANCE = {"recall@20": 0.204202, "ndcg@20": 0.142071, "mrr": 0.220818}
GENRES = {
    "Classical": 0.206152, "Electronic": 0.176524, "Hip-Hop": 0.176714, "Indie": 0.223569,
    "Jazz": 0.249031, "Metal": 0.242420, "Pop": 0.203704,
}  # fmt: skip


def build(source: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "musicrs_dataset", "build", "--from", source, "--out", str(folder), "--no-install"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("mini", tmp_path_factory.mktemp("data") / "data")


def evaluate(
    task: str, folder: Path, dataset: Path, *, model: Any = FILE_ORDER, limit: int | None = None, **arguments: Any
) -> Any:
    from musicrs_metric.inspect import _registry

    chosen = getattr(_registry, task)(dataset=str(dataset), **arguments)
    (log,) = inspect_ai.eval(
        chosen, model=model, log_dir=str(folder), log_realtime=False, display="none", limit=limit, log_images=False
    )
    assert log.status == "success", log.error
    return log


def means(log: Any) -> dict[str, float]:
    return {each.name: each.metrics["mean"].value for each in log.results.scores}


@pytest.mark.figures
def test_golden_numbers(upstream_file: Path, tmp_path: Path) -> None:
    """On the published file: scores, standard errors, chance levels and the values per genre of the file order."""
    log = evaluate("query_only", tmp_path / "logs", build(str(upstream_file), tmp_path / "data"))
    scores = {each.name: each.metrics for each in log.results.scores}
    for name, (value, error) in GOLDEN.items():
        assert scores[name]["mean"].value == pytest.approx(value, abs=5e-7)
        assert scores[name]["stderr"].value == pytest.approx(error, abs=5e-7)
        assert scores[f"chance {name}"]["mean"].value == pytest.approx(CHANCE[name], abs=5e-7)
    by_genre = {key.removeprefix("grouped_"): m.value for key, m in scores["recall@20"].items() if "grouped_" in key}
    assert by_genre == pytest.approx(GENRES, abs=5e-7)
    assert scores["answered"]["mean"].value == 1.0


@pytest.mark.parametrize("task", ["query_only", "audio_query", "audio_only"])
def test_mini_dataset(data: Path, tmp_path: Path, task: str) -> None:
    """With clips and two epochs: the scores of the metric itself on the order of the file, for every task."""
    log = evaluate(task, tmp_path, data, epochs=2)
    references = load_references(str(data), task)
    pools = [list(dict.fromkeys(pool)) for pool in references.candidates]
    expected = score(pools, references.ground_truth, references.candidates)
    assert means(log)["recall@20"] == pytest.approx(expected.values["recall@20"])
    assert means(log)["mrr"] == pytest.approx(expected.values["mrr"])
    assert expected.se is not None
    (error,) = (each.metrics["stderr"].value for each in log.results.scores if each.name == "recall@20")
    assert error == pytest.approx(expected.se["recall@20"])
    assert {sample.metadata["n_clips"] > 0 for sample in log.samples} == {task != "query_only"}


def test_titles(data: Path, tmp_path: Path) -> None:
    """The protocol `titles` lists the candidates in a random order that depends on the seed alone."""
    logs = [evaluate("query_only", tmp_path / str(n), data, protocol="titles", limit=5, seed=n // 2) for n in range(3)]
    inputs = [
        [sample.input if isinstance(sample.input, str) else sample.input[-1].text for sample in log.samples]
        for log in logs
    ]
    assert inputs[0] == inputs[1] != inputs[2]
    assert means(logs[0])["answered"] == pytest.approx(1.0)


def test_same_answers_same_rankings(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On partial, refused, cut and unreadable answers, `baselines run` gives the same rankings."""
    pytest.importorskip("openai")
    from inspect_ai.model import get_model

    from baselines.data import load_data
    from baselines.launch import build_system
    from baselines.run.processes import Processes
    from baselines.run.reporter import Reporter
    from baselines.run.runner import Plan, run
    from musicrs_metric.inspect.log import read
    from musicrs_metric.runs.predictions import read_predictions

    answers = [
        Reply("[3] > [1] > [2]"), Reply("I cannot help with that."), Reply("1. [5]\n2. [4]", finish="length"),
        Reply('{"ranking": [9, 8, 7, 300]}'), Reply("<think>[1] > [2]</think>[7] > [6]"),
    ]  # fmt: skip

    def answer(body: Mapping[str, Any], before: int) -> Reply:
        prompt = prompt_of(body)
        reply = Reply("yes") if prompt == "Say yes." else answers[sum(prompt.encode()) % len(answers)]
        usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
        return replace(reply, usage=usage, model="stub")

    with chat_server(answer) as stub:
        arguments = ["--base-url", stub.url, "--model-name", "stub", "--retries", "1", "--answer-format", "text"]
        system = build_system("baselines.systems.openai_api:OpenAIApi", "query_only", arguments)
        out = tmp_path / "run"
        run(
            Plan(system=system, system_name="openai_api", data=load_data(str(data), "query_only"), out=out),
            Processes(),
            Reporter(),
        )
        asked = sorted(stub.asked)
        model = get_model("openai/stub", base_url=stub.url, api_key="none", responses_api=False)
        log = evaluate("query_only", tmp_path / "logs", data, model=model)
        assert sorted(stub.asked) == sorted(asked * 2)
    theirs = {each.thread_id: each for each in read_predictions(out / "predictions.jsonl").predictions}
    ours = read(log.location, load_references(str(data), "query_only"))
    assert len(ours.predictions) == 28
    for prediction in ours.predictions:
        same = theirs[prediction.thread_id]
        assert (prediction.ranking, prediction.outcome, prediction.n_answered) == (
            same.ranking, same.outcome, same.n_answered,
        )  # fmt: skip
    assert len(ours.facts["outcomes"]) > 1


def test_log_to_run(data: Path, tmp_path: Path) -> None:
    """A log gives one prediction per thread and a run card that the reader takes; samples without a score are named."""
    from musicrs_metric.inspect.log import read
    from musicrs_metric.runs.run_card import RunCard, format_run_card

    log = evaluate("audio_query", tmp_path / "logs", data, limit=5)
    references = load_references(str(data), "audio_query")
    result = read(log.location, references)
    first = result.predictions[0]
    assert (len(result.predictions), first.ranking) == (5, tuple(references.candidates[0]))
    assert result.notes[0].startswith("Warning: 23 threads without a score in the log, which score 0")
    card = json.loads(format_run_card(RunCard(**result.facts)))
    assert (card["config"], card["reads"], card["name"]) == ("audio_query", "thread", FILE_ORDER)
    other = build("mini", tmp_path / "other")
    with pytest.raises(UserError, match="not a log of Inspect"):
        read(other / "missing.eval", references)
    (tmp_path / "text.json").write_text("{}")
    with pytest.raises(UserError, match="not a log of Inspect"):
        read(tmp_path / "text.json", references)


def test_convert_makes_a_run_folder(data: Path, tmp_path: Path) -> None:
    """The command finds kind and configuration in the log; a folder of one log is that log. Other data is refused."""
    from typer.testing import CliRunner

    from musicrs_metric.cli import app
    from musicrs_metric.inspect.log import read
    from musicrs_metric.runs.predictions import read_predictions
    from musicrs_metric.runs.read import card_of

    log = evaluate("audio_query", tmp_path / "logs", data)
    for number, source in enumerate((Path(log.location), tmp_path / "logs")):
        out = tmp_path / f"run{number}"
        arguments = ["convert", str(source), "--to", "run", "--dataset", str(data), "--out", str(out)]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        card = card_of(out)
        assert card is not None
        assert (card.config, card.model_id) == ("audio_query", FILE_ORDER)
        references = load_references(str(data), "audio_query")
        predictions = read_predictions(out / "predictions.jsonl").predictions
        assert [each.ranking for each in predictions] == [tuple(pool) for pool in references.candidates]
    with pytest.raises(UserError, match="made on data with the fingerprint"):
        read(log.location, load_references(str(data), "query_only").subset([references.thread_ids[0]]))


def test_audio_only_without_a_clip_scores_nothing(data: Path, tmp_path: Path) -> None:
    """A thread without a clip gets an empty ranking in audio_only, as in a run of `baselines`."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    from musicrs_metric.inspect.scorer import _prediction

    state = TaskState(
        FILE_ORDER,
        "t3_a",
        1,
        "x",
        [],
        target=Target(""),
        output=ModelOutput.from_content("m", "[2] > [1]"),
        metadata={"n_clips": 0},
    )
    assert _prediction(state, ["A", "B"], "audio_only", "listwise", 0).ranking == ()
    in_words = _prediction(state, ["A", "B"], "audio_query", "listwise", 0)
    assert (in_words.ranking, in_words.outcome) == (("B", "A"), "no_audio")
    state.output.choices[0].stop_reason = "content_filter"
    withheld = _prediction(state, ["A", "B"], "query_only", "listwise", 0)
    assert (sorted(withheld.ranking), withheld.outcome, withheld.n_answered) == (["A", "B"], "failed", 0)


def test_mistakes_are_one_line(data: Path) -> None:
    """A protocol that is unknown, and a dataset without clips."""
    from musicrs_metric.inspect import _registry

    with pytest.raises(UserError, match="expected one of listwise, titles"):
        _registry.query_only(dataset=str(data), protocol="pointwise")
    with pytest.raises(UserError, match="no such directory"):
        _registry.query_only(dataset="./nowhere")


TASK_FILE = Path(__file__).parents[2] / "musicrs_metric" / "inspect" / "tasks.py"


@pytest.mark.parametrize("task", ["musicrs_metric/query_only", f"{TASK_FILE}@query_only"])
def test_command_finds_the_tasks(task: str, data: Path, tmp_path: Path) -> None:
    """Through the entry point from any folder, and by the file, as the register of inspect_evals runs it."""
    command = [
        sys.executable, "-m", "inspect_ai", "eval", task, "--model", FILE_ORDER,
        "-T", f"dataset={data}", "--limit", "3", "--display", "plain", "--log-dir", "logs", "--no-log-realtime",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"query_only \(3 samples\)", done.stdout), done.stdout
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 1
