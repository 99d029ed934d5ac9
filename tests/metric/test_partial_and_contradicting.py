"""Files that hold few of the threads, and scores that contradict the order of their ranking."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.compare.comparison import compare
from musicrs_metric.compare.load import load_runs
from musicrs_metric.runs.predictions import Prediction, contradictions, read_predictions
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import References, load_references

from .support import Outcome, run_cli, write_lines

Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return lambda *arguments: run_cli(capsys, monkeypatch, *arguments)


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mini dataset."""
    source = resolve_source("mini")
    return build(source.threads, tmp_path_factory.mktemp("mini"), about=source.about)


@pytest.fixture
def references(mini: Path) -> References:
    """Its pools and ground truth."""
    return load_references(mini)


def with_scores(*scores: float) -> Prediction:
    """A prediction with these scores."""
    return Prediction("t3_a", tuple("ABCDEF"[: len(scores)]), scores=scores)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.1, 0.2, 0.3), True),  # ascending
        ((0.9, 0.5, 0.7), True),  # unsorted in part
        ((0.9, 0.5, 0.5, 0.1), False),  # ties
        ((0.5, 0.5, 0.5), False),  # equal throughout: they say nothing
        ((1, 0.5, -2), False),
        ((-0.0, 0.0), False),
        ((3,), False),
        ((), False),
    ],
)
def test_scores_that_contradict_the_ranking(scores: tuple[float, ...], expected: bool) -> None:
    """A candidate with a higher score than one before it, and nothing else."""
    assert contradictions([with_scores(*scores)]) == (("t3_a",) if expected else ())
    assert contradictions([Prediction("t3_a", ("A", "B"))]) == ()


def test_scores_never_change_the_order(references: References) -> None:
    """The same rankings with and without scores have the same values; JSON names the threads."""
    rankings = [
        (thread, tuple(pool)) for thread, pool in zip(references.thread_ids, references.candidates, strict=True)
    ]
    plain = [Prediction(thread, pool) for thread, pool in rankings]
    ascending = [Prediction(thread, pool, scores=tuple(map(float, range(len(pool))))) for thread, pool in rankings]
    without, rising = score_predictions(plain, references), score_predictions(ascending, references)
    assert rising.scores.values == without.scores.values
    assert rising.to_dict()["contradicting_scores"] == references.thread_ids
    assert without.to_dict()["contradicting_scores"] == []
    assert score_predictions(ascending, references, answered_only=True).contradictions == tuple(references.thread_ids)


@pytest.mark.parametrize("command", ["validate", "score", "compare"])
def test_rising_scores_are_reported(cli: Cli, cases: Path, mini: Path, command: str) -> None:
    """Case M17: scores rise down the list in 28 of 28 threads."""
    file = cases / "m17_scores.jsonl"
    files = [file, file] if command == "compare" else ["-p", file]
    done = cli(command, *files, "-d", mini)
    assert done.code == 0
    assert "scores contradict the order of the ranking in 28 of 28 threads (t3_mini01" in done.out + done.err


def test_json_holds_the_warning(cli: Cli, cases: Path, mini: Path) -> None:
    """Programs find the threads and the sentence."""
    found = json.loads(cli("score", "-p", cases / "m17_scores.jsonl", "-d", mini, "--json").out)
    assert len(found["contradicting_scores"]) == 28
    assert any("contradict" in warning for warning in found["warnings"])


def test_a_file_in_part_unsorted_is_counted(tmp_path: Path, references: References) -> None:
    """Two of three threads."""
    lines = [
        {"thread_id": thread, "ranking": pool[:3], "scores": scores}
        for thread, pool, scores in zip(
            references.thread_ids, references.candidates, ([3, 2, 1], [3, 1, 2], [1, 1, 2]), strict=False
        )
    ]
    warnings = read_predictions(write_lines(tmp_path / "p.jsonl", lines), references).warnings
    assert [warning.startswith("scores contradict the order of the ranking in 2 of 3 threads") for warning in warnings]


def test_six_of_28_threads(cli: Cli, cases: Path, mini: Path) -> None:
    """Case M23: the verdict covers the six answered threads, says so, and is "at" there; groups likewise."""
    arguments = ("score", "-p", cases / "m23_six_threads.jsonl", "-d", mini, "--by", "genre")
    text, found = cli(*arguments).out, json.loads(cli(*arguments, "--json").out)
    for name in ("recall@20", "ndcg@20", "mrr"):
        assert f"{name}: at chance on the 6 threads with a prediction" in text
    assert "Verdict: on the 6 threads with a prediction alone" in text
    assert (found["n"], found["n_missing"], found["verdict_n"]) == (28, 22, 6)
    assert set(found["verdict"].values()) == {"at"}
    for group in found["by_genre"].values():
        answered = group["n"] - group["n_missing"]
        assert group["verdict_n"] == answered
        assert set(group["verdict"].values()) == ({"at"} if answered else {None})


def test_verdicts_of_a_partial_run_in_a_comparison(cases: Path, references: References) -> None:
    """The partial run is judged on its six threads; its verdict is that of `score`, and no JSON holds another word."""
    files = [cases / "m17_scores.jsonl", cases / "m23_six_threads.jsonl"]
    found = compare([run.system for run in load_runs(files, references, ["recall@20"])], ["recall@20"], resamples=200)
    whole, partial = (one.chance for one in found.metrics["recall@20"].standings)
    assert whole is not None
    assert partial is not None
    assert (whole.n, whole.verdict, partial.n, partial.verdict) == (28, "below", 6, "at")
    scores = score_predictions(files[1], references).scores
    assert scores.answered is not None
    assert partial.difference == pytest.approx(
        (scores.answered.values["recall@20"] or 0.0) - (scores.answered.chance["recall@20"] or 0.0)
    )
    assert found.settings.verdict_rule == VERDICT_RULE
    assert '"within"' not in json.dumps(found.to_dict())
