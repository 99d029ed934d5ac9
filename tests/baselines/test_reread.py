"""Kept answers under the published reading rule: by hand, and printed without leaving a trace."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from baselines.commands.reread import reread
from baselines.data import load_data
from baselines.generative.language_model import Completion, Prompt
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.answers.published import read_published
from musicrs_metric.errors import UserError
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.submit.bundle import build_bundle
from tests.baselines.test_generative_protocols import Asker, Scripted
from tests.baselines.toys import ROOT, Command, run_toy, thread

POOL = ("Alpha", "Beta", "Gamma", "Delta", "Echo")
TRUTH = ("Beta", "Delta")
IDEAL = 1 + 1 / math.log2(3)

# Answer; recall@1, recall@5 and mrr of the answer alone; recall@5 and mrr with the other candidates in random order.
BY_HAND: list[tuple[str | None, float, float, float, float, float]] = [
    ("Beta, Delta, Alpha, Gamma, Echo", 1 / 2, 1.0, 1.0, 1.0, 1.0),
    # Repeats count again: four hits of two. Gamma and Echo follow, neither of them relevant.
    ("Beta, Beta, Delta, Beta, Alpha", 1 / 2, 2.0, 1.0, 2.0, 1.0),
    # Talk with commas takes two ranks; a title in a sentence is none. One place is left for Alpha, Beta, Gamma, Echo.
    ("Sure, here you go, Delta, Beta is good", 0.0, 1 / 2, 1 / 3, (1 + 1 / 4) / 2, 1 / 3),
    # Nothing: the first hit is at rank 1, 2, 3 or 4 with probability .4, .3, .2, .1.
    ("", 0.0, 0.0, 0.0, 1.0, 0.4 + 0.3 / 2 + 0.2 / 3 + 0.1 / 4),
    (None, 0.0, 0.0, 0.0, 1.0, 0.4 + 0.3 / 2 + 0.2 / 3 + 0.1 / 4),
    # A full stop makes another title of the last one; three places are left for Alpha, Beta, Gamma, Echo.
    ("Delta, Beta.", 1 / 2, 1 / 2, 1.0, (1 + 3 / 4) / 2, 1.0),
    # Quotes and case are forgiven by the scorer and not by the reader: all five follow, and both count once more.
    ('"beta", “Delta”', 1 / 2, 1.0, 1.0, (2 + 3 * 2 / 5) / 2, 1.0),
    # Lines are no list: one title, and four places for all five.
    ("Beta\nDelta\nAlpha", 0.0, 0.0, 0.0, 4 * 2 / 5 / 2, 0.4 / 2 + 0.3 / 3 + 0.2 / 4 + 0.1 / 5),
    # White space around commas and empty parts are dropped.
    (" Delta ,\n\n Beta\t,, ,", 1 / 2, 1.0, 1.0, 1.0, 1.0),
    # An invented title keeps its rank.
    ("No Such Song, Beta", 0.0, 1 / 2, 1 / 2, (1 + 3 / 4) / 2, 1 / 2),
    # Numbers belong to the titles; two ranks are taken.
    ("1. Beta, 2. Delta", 0.0, 0.0, 0.0, 3 * 2 / 5 / 2, 0.4 / 3 + 0.3 / 4 + 0.2 / 5 + 0.1 / 6),
]


@pytest.mark.parametrize("row", BY_HAND)
def test_values_by_hand(row: tuple[str | None, float, float, float, float, float]) -> None:
    """Pool of five, two of them relevant."""
    answer, *expected = row
    reading = read_published(answer, POOL, TRUTH)
    alone, whole = reading.values((1, 5), with_rest=False), reading.values((1, 5))
    found = [alone["recall@1"], alone["recall@5"], alone["mrr"], whole["recall@5"], whole["mrr"]]
    assert found == pytest.approx(expected)


def test_gains_of_repeats_by_hand() -> None:
    """Hits at ranks 1, 2 and 4 of two relevant titles pass an nDCG of 1; the counts say why."""
    reading = read_published("Beta, Delta, Nowhere, Beta", POOL, TRUTH)
    assert reading.values((5,), with_rest=False)["ndcg@5"] == pytest.approx((IDEAL + 1 / math.log2(5)) / IDEAL)
    assert (len(reading.titles), reading.n_unknown, reading.n_repeated, reading.n_rest) == (4, 1, 1, 3)
    # Rank 5 belongs to Alpha, Gamma or Echo.
    assert reading.values((5,))["ndcg@5"] == reading.values((5,), with_rest=False)["ndcg@5"]
    # Two hits in five places in random order, each place worth its discount times 2/5.
    discounts = sum(1 / math.log2(rank + 1) for rank in range(1, 6))
    assert read_published("", POOL, TRUTH).values((5,))["ndcg@5"] == pytest.approx(discounts * 2 / 5 / IDEAL)


def test_odd_threads() -> None:
    """No ground truth; a title with a comma, which the rule cannot read; a candidate twice in the pool."""
    assert set(read_published("Beta", POOL, ()).values().values()) == {0.0}
    comma = read_published("Hello, Goodbye", ["Hello, Goodbye", "Beta"], ["Hello, Goodbye"])
    assert (comma.hits, comma.n_rest, comma.n_relevant_rest) == ((False, False), 2, 1)
    assert read_published("Alpha", ["Alpha", "Alpha", "Beta"], ["Beta"]).n_rest == 1


class PerThread(Scripted):
    """Answers the thread of each number with the answer of that number."""

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        numbers = [int(re.findall(r"query of t(\d+)", prompt.text)[0]) for prompt in prompts]
        return [Completion(BY_HAND[number][0] or "", 9, cut=False) for number in numbers]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One thread per answer."""
    out = tmp_path_factory.mktemp("reread")
    threads = [thread(f"t{number}", POOL, TRUTH) for number in range(len(BY_HAND))]
    build(threads, out, about=resolve_source("mini", clips=False).about, configs=("query_only",))
    return out


@pytest.fixture
def finished(dataset: Path, tmp_path: Path) -> Path:
    """A finished run over these threads; one answer is null, as a server may send it."""
    run_toy(Asker(PerThread(), "titles"), load_data(str(dataset), "query_only"), tmp_path / "run")
    file = tmp_path / "run" / "answers.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    records[4]["answer"] = None
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path / "run"


def test_both_scores_are_printed_and_nothing_is_written(finished: Path, tmp_path: Path, command: Command) -> None:
    """Means of the values by hand next to those of the run. Folder, card and predictions keep every byte."""
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    done = command("reread", finished, "--rule", "published")
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = (line.split() for line in done.stdout.splitlines() if "recall@5 " in line)
    own, other, difference, own_part, other_part, _ = map(float, row[1:])
    assert other == pytest.approx(100 * sum(values[4] for values in BY_HAND) / len(BY_HAND), abs=0.005)
    assert other_part == pytest.approx(100 * sum(values[2] for values in BY_HAND) / len(BY_HAND), abs=0.005)
    assert difference == pytest.approx(other - own, abs=0.011)
    result = reread(finished)
    references = load_data(result.card.dataset, "query_only").references
    scored = score_predictions(finished, references)
    assert scored.filled is not None
    assert own == pytest.approx(100 * (scored.filled.expected["recall@5"] or 0), abs=0.005)
    alone = score_predictions(finished, references, answered_only=True).scores.values["recall@5"]
    assert own_part == pytest.approx(100 * (alone or 0), abs=0.005)
    assert "No run card, submission or leaderboard takes them." in done.stdout
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_recall_above_all_is_printed_as_it_is(dataset: Path, tmp_path: Path) -> None:
    """A model that repeats one relevant title scores 250 % under the published rule, and 50 % here at most."""
    system = Asker(Scripted("Beta, " * 5), "titles")
    run_toy(system, load_data(str(dataset), "query_only"), tmp_path / "run")
    result = reread(tmp_path / "run")
    assert result.other(with_rest=False)["recall@5"] == 2.5
    assert result.own_answered["recall@5"] == 0.5


def test_threads_without_an_answer_are_in_neither_score(finished: Path) -> None:
    """As in the published scorer; both scores are then over the same threads."""
    file = finished / "answers.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))
    result = reread(finished)
    assert (len(result.readings), result.n_threads) == (2, len(BY_HAND))
    assert result.other()["recall@5"] == (1.0 + 2.0) / 2
    assert result.own["recall@5"] == 1.0


def test_no_torch_is_needed(finished: Path, environment: dict[str, str]) -> None:
    """An environment without it reads answers again."""
    program = f"""
import sys
sys.modules |= dict.fromkeys(("torch", "transformers", "accelerate", "openai"))
sys.argv = ["baselines", "reread", {str(finished)!r}, "--rule", "published"]
from baselines.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert "recall@5" in done.stdout, done.stderr


def test_what_holds_no_answers_is_told_in_one_line(finished: Path, dataset: Path, tmp_path: Path) -> None:
    """No folder, no run, a run without answers, one of probabilities, other data, a damaged line."""
    with pytest.raises(UserError, match="no such folder"):
        reread(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"predictions\.jsonl: no such file"):
        reread(tmp_path / "empty")
    likely = Scripted(likely=dict.fromkeys(POOL, -1.0))
    run_toy(Asker(likely, "pointwise"), load_data(str(dataset), "query_only"), tmp_path / "scored")
    with pytest.raises(UserError, match=r"holds no answers in answers\.jsonl \(protocol pointwise\)"):
        reread(tmp_path / "scored")
    (tmp_path / "mini").mkdir()
    threads, about = resolve_source("mini", clips=False)
    build(threads, tmp_path / "mini", about=about, configs=("query_only",))
    with pytest.raises(UserError, match="has other pools or labels"):
        reread(finished, dataset=str(tmp_path / "mini"))
    (finished / "answers.jsonl").write_text('{"thread_id": "t0", "answer": 3}\n')
    with pytest.raises(UserError, match=r'answers\.jsonl, line 1: expected {"thread_id"'):
        reread(finished)
    (finished / "answers.jsonl").write_text('{"thread_id": "other", "answer": "Beta"}\n')
    with pytest.raises(UserError, match="holds other, which the predictions lack"):
        reread(finished)
    (finished / "answers.jsonl").unlink()
    with pytest.raises(UserError, match=r"holds no answers in answers\.jsonl \(protocol titles\)"):
        reread(finished)
    (finished / "run.json").unlink()
    with pytest.raises(UserError, match=r"holds no run\.json"):
        reread(finished)


def test_a_submission_holds_nothing_of_it(finished: Path) -> None:
    """What goes to a leaderboard is the same before and after, and no number of the rule is in it."""
    before = build_bundle(finished, {})
    values = set(reread(finished).other().values()) - {0.0, 1.0}
    after = build_bundle(finished, {})
    assert after == before
    numbers = {float(number) for number in re.findall(r"\d+\.\d{3,}", json.dumps(after.card))}
    assert values
    assert not any(abs(number - value) < 1e-6 for number in numbers for value in values)
