"""Turns of dialogues: macro and micro, intervals over dialogues, the path of a lab, and the golden values of CPCD."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from baselines.cli import app as baselines_app
from musicrs_dataset.cli import app as dataset_app
from musicrs_metric.catalogue.compare import dialogue_table
from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.catalogue.judge import judge_rankings
from musicrs_metric.catalogue.measures import catalogue_table
from musicrs_metric.catalogue.scores import dialogue_scores, natural_key, ratio_intervals
from musicrs_metric.cli import app as metric_app
from musicrs_metric.intervals import mean_intervals
from musicrs_metric.report.build import build_report
from musicrs_metric.report.markdown import render_markdown

runner = CliRunner()
ITEMS = Catalogue(tuple(Item(name) for name in "abcdefgh"))


def scores_of(rankings: list[str | None], relevant: list[str], dialogues: list[str], **settings: Any) -> Any:
    """Score turns; each letter is an id."""
    ranked = [None if ranking is None else list(ranking) for ranking in rankings]
    table = catalogue_table(judge_rankings(ranked, relevant, [""] * len(relevant), ITEMS).hits, (1,))
    return dialogue_scores(table, dialogues, **({"confidence": None} | settings))


def test_macro_and_micro_by_hand() -> None:
    """Dialogue x has one turn of three right, y its only one: macro (1/3 + 1) / 2, micro 2 / 4."""
    scores = scores_of(["a", "b", "b", "a"], ["a"] * 4, ["x", "x", "x", "y"], groups={"turn": ["0", "2", "10", "0"]})
    assert scores.macro.values["hit@1"] == pytest.approx(2 / 3)
    assert scores.micro.values["hit@1"] == 0.5
    assert scores.micro.chance["hit@1"] == pytest.approx(1 / 8)
    assert list(scores.by["turn"]) == ["0", "2", "10"]
    assert scores.by["turn"]["0"].micro.values["hit@1"] == 1


def test_a_missing_dialogue_never_raises_a_score() -> None:
    """It counts 0 in both means and is counted."""
    whole = scores_of(["a", "b", "a"], ["a"] * 3, ["x", "x", "y"])
    part = scores_of(["a", "b", None], ["a"] * 3, ["x", "x", "y"])
    for kind in ("macro", "micro"):
        for name, value in getattr(part, kind).values.items():
            assert value <= getattr(whole, kind).values[name]
    assert (part.n_missing, part.n_missing_dialogues, part.n_dialogues) == (1, 1, 2)


def test_empty_ground_truth_counts_0_or_is_skipped() -> None:
    """Turn 2 of x has nothing relevant."""
    arguments: Any = (["a", "b", "b"], ["a", "", "a"], ["x", "x", "y"])
    assert scores_of(*arguments).macro.values["hit@1"] == 0.25
    assert scores_of(*arguments, empty="skip").macro.values["hit@1"] == 0.5


def test_intervals_draw_dialogues() -> None:
    """Ten copies of each turn tell nothing new: the interval is that of the dialogues, and not narrower."""
    values = np.linspace(0, 1, 12)[:, None]
    once = mean_intervals(values, resamples=2000)
    low, high = ratio_intervals(values * 10, np.full(12, 10.0), confidence=0.95, resamples=2000, seed=0)
    assert once is not None
    assert (low[0], high[0]) == pytest.approx((once.low[0], once.high[0]))


def test_interval_of_uneven_dialogues_holds_the_mean() -> None:
    """The mean over turns, with dialogues of 1 to 9 turns, and wider than an interval of independent turns."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 10, 60).astype(float)
    rates = rng.random(60)
    sums = (lengths * rates)[:, None]
    low, high = ratio_intervals(sums, lengths, confidence=0.95, resamples=2000, seed=0)
    assert low[0] < sums.sum() / lengths.sum() < high[0]
    turns = np.repeat(rates, lengths.astype(int))[:, None]
    independent = mean_intervals(turns, resamples=2000)
    assert independent is not None
    assert high[0] - low[0] > independent.high[0] - independent.low[0]


def test_comparisons_pair_dialogues() -> None:
    """One row per dialogue, in order of the first turn, with the mean of its turns."""
    hits = judge_rankings([["a"], ["b"], ["a"]], ["a"] * 3, [""] * 3, ITEMS).hits
    table = dialogue_table(catalogue_table(hits, (1,)), ["y", "x", "y"])
    assert table.values["hit@1"].tolist() == [1, 0]
    assert table.hits.missing.tolist() == [False, False]


def test_natural_order_of_labels() -> None:
    """Turn 2 comes before turn 10, and a text after both."""
    assert sorted(["10", "b", "2", "a"], key=natural_key) == ["2", "10", "a", "b"]


def run(app: Any, *arguments: object) -> Any:
    """Run a command that must succeed."""
    result = runner.invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def lab_file(folder: Path, *, catalogue: bool) -> Path:
    """Write 30 dialogues of two turns: the query names the relevant title."""
    titles = [f"{word} {kind}" for word in ("Red", "Blue", "Slow", "Old", "New") for kind in ("Sea", "Rain", "Fire")]
    rows = []
    for dialogue in range(30):
        relevant = titles[dialogue % len(titles)]
        for turn in range(2):
            row = {"dialogue": f"d{dialogue}", "turn": turn, "query": f"songs like {relevant if turn else 'this'}"}
            labels = {"ground_truth": [f"id {relevant}"]} if catalogue else {"ground_truth": [relevant]}
            rows.append(row | labels | ({} if catalogue else {"candidates": titles}) | {"mood": "calm"})
    path = folder / "lab.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if catalogue:
        items = [{"id": f"id {title}", "title": title} for title in titles]
        (folder / "catalogue.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


@pytest.mark.parametrize("catalogue", [False, True], ids=["pools", "catalogue"])
def test_path_of_a_lab(tmp_path: Path, catalogue: bool) -> None:
    """Own file, dataset, baselines, score by turn, comparison. BM25 finds the title in the second turn only."""
    data = tmp_path / "data"
    built = run(dataset_app, "build", "--from", f"jsonl:{lab_file(tmp_path, catalogue=catalogue)}", "--out", data)
    assert ("so recall@20 is the same for every order" in built.output) is not catalogue
    for system in ("lexical", "random"):
        run(
            baselines_app,
            "run",
            "--model",
            system,
            "--modality",
            "query_only",
            "--dataset",
            data,
            "--out",
            tmp_path / system,
        )
    result = run(metric_app, "score", "-p", tmp_path / "lexical", "-d", data, "--by", "turn", "--json")
    scores = json.loads(result.stdout)
    assert (scores["n_dialogues"], scores["n_turns"]) == (30, 60)
    assert scores["by_turn"]["1"]["micro"]["recall@1"] == 1
    assert scores["by_turn"]["0"]["micro"]["recall@1"] < 0.2
    assert scores["chance"]["macro"]["recall@1"] == pytest.approx(1 / 15)
    measures = ["--metric", "recall@5", "--resamples", 200, "--format", "json"]
    result = run(metric_app, "compare", tmp_path / "lexical", tmp_path / "random", "-d", data, *measures)
    assert json.loads(result.stdout)["n"] == 30
    refused = runner.invoke(metric_app, ["score", "-p", str(tmp_path / "lexical"), "-d", str(data), "--by", "nothing"])
    assert refused.exit_code != 0
    if not catalogue:
        report = build_report([tmp_path / "lexical", tmp_path / "random"], data, resamples=200)
        text = render_markdown(report.document)
        assert "On 30 dialogues a test" in text
        assert "one per dialogue" in text
        assert "exact null distribution" not in text  # the rule for threads
        assert "one genre and one subreddit, so there is nothing to compare" in text


CPCD = Path(os.environ.get("MUSICRS_DATA", "missing")).with_name("cpcd_dev_val.jsonl")
GOLDEN = CPCD.parent.parent / "reference" / "cpcd_golden.json"
needs_cpcd = pytest.mark.skipif(
    not (CPCD.is_file() and GOLDEN.is_file()), reason="needs CPCD's validation split next to MUSICRS_DATA"
)


def overlap_predictions(folder: Path, out: Path) -> None:
    """Rank by the number of distinct query words in title, artists and album, then by id; the first 1,000."""
    from musicrs_metric.catalogue.corpus import load_corpus

    corpus = load_corpus(folder)
    ids = np.array([item.id for item in sorted(corpus.catalogue.items, key=lambda item: item.id)])
    postings: dict[str, list[int]] = {}
    for row, item in enumerate(sorted(corpus.catalogue.items, key=lambda item: item.id)):
        for word in set(re.findall("[a-z0-9]+", item.text.lower())):
            postings.setdefault(word, []).append(row)
    lines = []
    for thread_id, query in zip(corpus.thread_ids, corpus.queries, strict=True):
        counts = Counter(row for word in set(re.findall("[a-z0-9]+", query.lower())) for row in postings.get(word, ()))
        scores = np.zeros(len(ids))
        scores[list(counts)] = list(counts.values())
        ranking = ids[np.argsort(-scores, kind="stable")[:1000]].tolist()
        lines.append(json.dumps({"thread_id": thread_id, "ranking": ranking}) + "\n")
    out.write_text("".join(lines))


@pytest.mark.figures
@needs_cpcd
def test_golden_values_of_cpcd(tmp_path: Path) -> None:
    """All 25 measures of both rankings, macro and micro, by our reading and by theirs; chance as in the facts."""
    data = tmp_path / "data"
    run(dataset_app, "build", "--from", f"cpcd:{CPCD}", "--out", data)
    run(baselines_app, "run", "--model", "lexical", "--dataset", data, "--out", tmp_path / "bm25")
    (tmp_path / "overlap").mkdir()
    overlap_predictions(data, tmp_path / "overlap" / "predictions.jsonl")
    for name, golden in json.loads(GOLDEN.read_text()).items():
        ours = json.loads(run(metric_app, "score", "-p", tmp_path / name, "-d", data, "--json").stdout)
        theirs = json.loads(
            run(metric_app, "score", "-p", tmp_path / name, "-d", data, "--as", "cpcd", "--json").stdout
        )
        measures = [measure for measure in golden if "@" in measure]
        assert (len(measures), ours["n_dialogues"], ours["n_turns"]) == (25, 50, 287)
        for measure in measures:
            for scores in (ours, theirs["theirs"]):
                pair = [scores["macro"][measure], scores["micro"][measure]]
                assert pair == pytest.approx(golden[measure], abs=1e-6), (name, measure)
        chance = {"hit@20": (0.034991, 0.033840), "map@20": (0.000456, 0.000448), "mrr@100": (0.008909, 0.008623)}
        for measure, expected in chance.items():
            found = [ours["chance"][kind][measure] for kind in ("macro", "micro")]
            assert found == pytest.approx(expected, abs=1e-6)
