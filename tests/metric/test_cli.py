"""The command line: the reference values, the files it writes, and one line for every mistake."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.runs.predictions import Prediction, write_predictions
from musicrs_metric.runs.references import load_references
from musicrs_metric.runs.run_card import RunCard, write_run_card

from .support import (
    CONVENTIONS,
    SYSTEMS,
    TINY,
    Outcome,
    check_reference,
    columns_of,
    file_order,
    references_of,
    run_cli,
    write_lines,
    write_repo,
)

HEAVY = [
    "torch",
    "transformers",
    "datasets",
    "evaluate",
    "pandas",
    "pyarrow",
    "librosa",
    "gradio",
    "duckdb",
    "matplotlib",
    "scipy",
]

Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return lambda *arguments: run_cli(capsys, monkeypatch, *arguments)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The directory of a dataset of three threads."""
    return write_repo(tmp_path / "data", columns_of(references_of(TINY)))


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    """A file with a right answer, a thread left out, an unknown title and a repeated one."""
    lines = [
        {"thread_id": "t3_c", "ranking": ["Elm", "Elm", "Oak"]},
        {"thread_id": "t3_a", "ranking": ["Ade", "bop", "Cool", "Dig"]},
    ]
    return write_lines(tmp_path / "predictions.jsonl", lines)


def test_help_is_light() -> None:
    """No front page of a command loads a heavy library, and each ends well."""
    code = """
import sys
from musicrs_metric import cli
for page in ("", "score", "validate", "install", "export", "submit", "hub results", "hub benchmark"):
    sys.argv = ["musicrs-metric", *page.split(), "--help"]
    try:
        cli.main()
    except SystemExit as stop:
        assert stop.code == 0, page
print("heavy:", *set(%r) & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code % HEAVY], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy:"
    assert "Usage" in done.stdout


def test_as_a_module(data: Path, predictions: Path, tmp_path: Path) -> None:
    """`python -m musicrs_metric` is the same command; a mistake ends in one line and code 2, with no traceback."""
    command = [sys.executable, "-m", "musicrs_metric", "score", "--dataset", str(data), "--predictions"]
    done = subprocess.run(
        [*command, str(predictions), "--json"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout)["n"] == 3
    done = subprocess.run([*command, "nothing.jsonl"], capture_output=True, text=True, check=False, cwd=tmp_path)
    expected = "no such file; expected a prediction file, or a folder with predictions.jsonl"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: nothing.jsonl: {expected}\n")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, upstream_rows: list[dict[str, Any]]) -> Path:
    """The authors' threads as a dataset on disk, with the prediction files of two systems beside it."""
    folder = tmp_path_factory.mktemp("published")
    write_repo(folder, columns_of(references_of(upstream_rows)))
    for name, system in SYSTEMS.items():
        write_predictions(
            folder / f"{name}.jsonl",
            (Prediction(row["name"], tuple(r)) for row, r in zip(upstream_rows, system(upstream_rows), strict=True)),
        )
    return folder


@pytest.mark.upstream
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_reference_values(
    cli: Cli, published: Path, reference_metrics: dict[str, Any], system: str, convention: str
) -> None:
    """Every score and chance level of independent libraries, overall and by genre, to 1e-9."""
    options = ["--by", "genre", "--empty", CONVENTIONS[convention], "--confidence", "0", "--json"]
    done = cli("score", "--dataset", published, "--predictions", published / f"{system}.jsonl", *options)
    assert (done.code, done.err) == (0, "")
    check_reference(json.loads(done.out), reference_metrics, system, convention)


@pytest.mark.upstream
def test_intervals_of_the_published_data(cli: Cli, published: Path, reference_metrics: dict[str, Any]) -> None:
    """Another bootstrap with another seed agrees within 0.002, the standard errors to 1e-9."""
    extra = reference_metrics["extra"]
    system = "subreddit_popularity"
    done = cli("score", "-d", published, "-p", published / f"{system}.jsonl", "--json")
    result = json.loads(done.out)
    for name, pair in extra["bootstrap_percentile95_P_20000_seed0"][system].items():
        assert result["interval"][name] == pytest.approx(pair, abs=0.002)
    for name, values in extra["standard_errors_ddof1"][system]["P"].items():
        assert result["se"][name] == pytest.approx(values["se"], abs=1e-9)


@pytest.mark.upstream
def test_popularity_in_words(cli: Cli, published: Path) -> None:
    """The table shows the paper's figures, and the sentence says that they lie below chance."""
    done = cli("score", "-d", published, "-p", published / "subreddit_popularity.jsonl", "--by", "macro")
    assert "16.51" in done.out
    assert "recall@20: below chance (16.51 %, chance 20.42 %)." in done.out
    assert VERDICT_RULE in done.out
    assert "5 with an empty ground truth, counted as 0" in done.out


def test_json_of_a_small_run(cli: Cli, data: Path, predictions: Path) -> None:
    """Scores by hand: only t3_a finds its item, at rank 2; the counts and names of the rest are told."""
    done = cli(
        "score", "-d", data, "-p", predictions, "--json", "--by", "subreddit", "--by", "macro", "--k", "1", "--k", "2"
    )
    result = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (result["recall@1"], result["recall@2"]) == (0.0, pytest.approx(1 / 3))
    assert result["mrr"] == pytest.approx(1 / 6)
    assert result["ndcg@2"] == pytest.approx((1 / 1.584962500721156) / 3)
    counts = {"n": 3, "n_empty": 1, "n_missing": 1, "n_unknown": 1, "n_duplicate": 1, "n_unreachable": 0}
    assert {name: result[name] for name in counts} == counts
    assert (result["missing"], result["empty_threads"]) == (["t3_b"], ["t3_c"])
    # A random order puts the one item of four on rank 1 with 1/4, the two of three with 2/3; recall is half of that.
    assert result["chance"]["recall@1"] == pytest.approx((1 / 4 + 2 / 3 / 2) / 3)
    assert result["ceiling"]["recall@1"] == pytest.approx((1 + 1 / 2) / 3)
    assert set(result["chance"]) == set(result["ceiling"]) == set(result["se"]) == set(result["verdict"])
    assert (result["interval"], result["interval_reason"]) == (None, "3 threads, an interval needs at least 5")
    assert (result["verdict"]["recall@2"], result["verdict_n"], result["verdict_rule"]) == ("at", 2, VERDICT_RULE)
    assert result["by_subreddit"]["jazz"]["mrr"] == pytest.approx(1 / 4)
    assert (result["by_macro"]["AE"]["n"], result["by_macro"]["AE"]["interval"]) == (1, None)
    assert result["fingerprint"] == load_references(data).fingerprint


def test_skip_leaves_empty_threads_out(cli: Cli, data: Path, predictions: Path) -> None:
    """The other convention: two threads averaged, one told as empty."""
    result = json.loads(cli("score", "-d", data, "-p", predictions, "--json", "--empty", "skip").out)
    assert (result["n"], result["n_empty"], result["mrr"]) == (2, 1, pytest.approx(1 / 4))


def test_table_of_a_small_run(cli: Cli, data: Path, predictions: Path) -> None:
    """What a person reads: names of silent threads, counts, and a verdict."""
    done = cli("score", "-d", data, "-p", predictions, "--by", "genre")
    assert done.code == 0
    for words in ("recall@20", "ceiling %", "Metal", "Without a prediction: t3_b", "1 title unknown", "1 repeated"):
        assert words in done.out
    assert "mrr: at chance on the 2 threads with a prediction" in done.out
    assert "No interval: 3 threads, an interval needs at least 5." in done.out
    assert "recall@20" not in cli("score", "-d", data, "-p", predictions, "--k", "5").out


def test_a_perfect_run_is_better_than_chance(cli: Cli, tmp_path: Path) -> None:
    """Three threads answered rightly, which random orders of four candidates do with (1/4) ** 3 = 1.6 %."""
    rows = [TINY[0] | {"name": f"t3_{i}"} for i in range(3)]
    path = write_lines(tmp_path / "p.jsonl", [{"thread_id": row["name"], "ranking": row["limited_gt"]} for row in rows])
    done = cli("score", "-d", write_repo(tmp_path, columns_of(references_of(rows))), "-p", path, "--k", "1")
    assert "recall@1: above chance (100.00 %, chance 25.00 %)." in done.out


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_scores_of_every_thread(cli: Cli, data: Path, predictions: Path, tmp_path: Path, suffix: str) -> None:
    """One row per thread in dataset order, with counts and chance, in either format."""
    path = tmp_path / f"threads.{suffix}"
    assert cli("score", "-d", data, "-p", predictions, "--threads", path).code == 0
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file)) if suffix == "csv" else [json.loads(row) for row in file]
    assert [row["thread_id"] for row in rows] == ["t3_a", "t3_b", "t3_c"]
    assert [float(row["mrr"]) for row in rows] == [0.5, 0.0, 0.0]
    assert [str(row["missing"]) for row in rows] == ["False", "True", "False"]
    assert [int(row["n_unknown"]) for row in rows] == [0, 0, 1]
    assert [int(row["n_candidates"]) for row in rows] == [4, 3, 2]
    assert float(rows[0]["chance recall@1"]) == 0.25


def card(fingerprint: str) -> RunCard:
    return RunCard(
        name="file order",
        paradigm="traditional",
        modality="query_only",
        dataset="elsewhere",
        config="query_only",
        fingerprint=fingerprint,
        reads="thread",
    )


@pytest.mark.parametrize("command", ["score", "validate"])
def test_a_run_folder_and_its_data(cli: Cli, data: Path, tmp_path: Path, command: str) -> None:
    """A run folder is scored like its file; a card that tells of other data is a mistake that is named."""
    run = tmp_path / "run"
    write_predictions(
        run / "predictions.jsonl",
        (Prediction(row["name"], tuple(r)) for row, r in zip(TINY, file_order(TINY), strict=True)),
    )
    write_run_card(run / "run.json", card(load_references(data).fingerprint))
    assert cli(command, "-d", data, "-p", run).code == 0
    write_run_card(run / "run.json", card("0" * 64))
    for path in (run, run / "predictions.jsonl"):
        done = cli(command, "-d", data, "-p", path)
        assert (done.code, done.out) == (2, "")
        assert "the run was made on query_only of elsewhere (fingerprint 000000000000)" in done.err
    write_run_card(run / "run.json", card("a\nb\x1b[2J"))
    done = cli(command, "-d", data, "-p", run)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "\x1b" not in done.err


def test_validate_shows_every_fault(cli: Cli, tmp_path: Path, data: Path) -> None:
    """All faults, one a line, then how many; exit code 2."""
    path = write_lines(tmp_path / "p.jsonl", ['{"thread_id": "t3_a", "ranking": [1], "outcome": "fine"}', "x"])
    done = cli("validate", "-p", path)
    lines = done.err.splitlines()
    assert (done.code, done.out, len(lines)) == (2, "", 4)
    assert lines[0] == f"{path}, line 1: thread t3_a, field 'ranking': item 1 is 1, expected text"
    assert lines[3] == "refused: 3 faults"
    path = write_lines(tmp_path / "q.jsonl", [{"thread_id": "t3_x", "ranking": []}])
    assert cli("validate", "-p", path).code == 0
    assert "not in dataset" in cli("validate", "-p", path, "-d", data).err


def test_validate_tells_what_a_good_file_holds(cli: Cli, data: Path, predictions: Path) -> None:
    """Counts and names, with and without the dataset."""
    assert "2 predictions, no fault" in cli("validate", "-p", predictions).out
    out = cli("validate", "-p", predictions, "-d", data).out
    assert "1 title unknown to the pool, 1 repeated" in out
    assert "1 of 3 threads without a prediction: t3_b" in out


MISTAKES: dict[str, tuple[list[str], str]] = {
    "no such file": (["-d", "{data}", "-p", "nothing.jsonl"], "nothing.jsonl: no such file"),
    "a folder without predictions": (["-d", "{data}", "-p", "empty"], "empty/predictions.jsonl: no such file"),
    "no such dataset": (["-d", "./nothing", "-p", "{predictions}"], "nothing: no such directory"),
    "no dataset in it": (["-d", "empty", "-p", "{predictions}"], "empty: no dataset found in it"),
    "no such name": (
        ["-d", "nothing", "-p", "{predictions}"],
        "dataset 'nothing', configuration 'query_only': not found",
    ),
    "no such configuration": (["-d", "{data}", "-p", "{predictions}", "--config", "x"], "no configuration 'x'; it has"),
    "a configuration without a name": (["-d", "{data}", "-p", "{predictions}", "--config", ""], "no configuration ''"),
    "a cut dataset": (["-d", "cut", "-p", "{predictions}"], "cannot be read as a MusiCRS dataset"),
    "wrong columns": (["-d", "columns", "-p", "{predictions}"], "cannot be read as a MusiCRS dataset"),
    "a cut file": (["-d", "{data}", "-p", "cut.jsonl"], "cut.jsonl, line 1: not JSON"),
    "an empty file": (["-d", "{data}", "-p", "empty.jsonl"], "empty.jsonl: found no prediction in it"),
    "wrong keys": (
        ["-d", "{data}", "-p", "keys.jsonl"],
        "field 'ranking': missing or null, found the keys 'thread_id', 'items'",
    ),
    "threads of other data": (["-d", "{data}", "-p", "other.jsonl"], "thread t3_x, field 'thread_id': not in dataset"),
    "a run card that is none": (["-d", "{data}", "-p", "run"], "run.json: not a run card"),
    "a confidence of 1": (
        ["-d", "{data}", "-p", "{predictions}", "--confidence", "1"],
        "--confidence is 1.0, expected",
    ),
    "a table of no kind": (["-d", "{data}", "-p", "{predictions}", "--threads", "t.xls"], "found the ending '.xls'"),
    "a table in a file": (["-d", "{data}", "-p", "{predictions}", "--threads", "cut.jsonl/t.csv"], "cut.jsonl"),
    "a table over a folder": (["-d", "{data}", "-p", "{predictions}", "--threads", "t.csv"], "t.csv: Is a directory"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(
    cli: Cli, data: Path, predictions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    """Wrong paths, names, files and columns: one line that tells which, code 2, nothing on the standard output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "t.csv").mkdir()
    (tmp_path / "empty.jsonl").touch()
    write_lines(tmp_path / "keys.jsonl", [{"thread_id": "t3_a", "items": ["Bop"]}])
    write_lines(tmp_path / "other.jsonl", [{"thread_id": "t3_x", "ranking": ["Bop"]}])
    (tmp_path / "cut.jsonl").write_text('{"thread_id": "t3_a", "rank', encoding="utf-8")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{", encoding="utf-8")
    write_lines(tmp_path / "run" / "predictions.jsonl", [{"thread_id": "t3_a", "ranking": ["Bop"]}])
    write_repo(tmp_path / "columns", {"id": ["t3_a"], "pool": [["Bop"]]})
    write_repo(tmp_path / "cut", {"id": ["t3_a"]})
    shard = next(tmp_path.glob("cut/musicrs/query_only/*"))
    shard.write_bytes(shard.read_bytes()[:50])
    arguments, said = MISTAKES[mistake]
    done = cli("score", *(argument.format(data=data, predictions=predictions) for argument in arguments))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["score"],
        ["score", "-p", "x", "--k", "0"],
        ["score", "-p", "x", "--k", "9" * 20],
        ["score", "-p", "x", "--by", "mood"],
        ["scores"],
    ],
)
def test_wrong_options(cli: Cli, arguments: list[str]) -> None:
    """What the command line itself refuses: code 2 and no traceback."""
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_export_and_install(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both write what they say; a second install changes nothing and an older one is removed."""
    done = cli("export", tmp_path / "space")
    assert {"README.md", "app.py", "musicrs.py", "scoring.py"} <= {Path(name).name for name in done.out.split()}
    assert all(Path(name).is_file() for name in done.out.split())
    monkeypatch.setitem(sys.modules, "evaluate", None)  # its cache must be found without loading it
    monkeypatch.delitem(sys.modules, "evaluate")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    older = tmp_path / "modules" / "evaluate_modules" / "metrics" / "evaluate-metric--musicrs" / ("0" * 64)
    older.mkdir(parents=True)
    (older / "musicrs.py").touch()
    installed = Path(cli("install").out.strip())
    assert installed == Path(cli("install").out.strip())
    assert [folder.name for folder in older.parent.iterdir()] == [installed.name]
    assert len(installed.name) == 64
    assert (installed / "musicrs.py").is_file()
