"""The score with the appended part at chance: by hand, against every order of the rest, and where it is shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from musicrs_metric.hits import hits_from_strings
from musicrs_metric.measures import measure_names
from musicrs_metric.report.build import build_report
from musicrs_metric.runs.filled_scores import FilledScores, score_filled
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.read import ScoredRun, score_predictions
from musicrs_metric.runs.references import References
from musicrs_metric.scoring import thread_table

from .report_toy import QUERY_RANKS, write_toy
from .support import references_of

K = (1, 2, 3, 6)


def one_thread(pool: str, relevant: Sequence[str]) -> References:
    return references_of(
        [{"name": "t3_a", "source_subreddit": "jazz", "final_candidates": list(pool), "limited_gt": list(relevant)}]
    )


def scored(references: References, *predictions: Prediction, **settings: Any) -> ScoredRun:
    return score_predictions(predictions, references, k=K, confidence=None, **settings)


def filled(references: References, *predictions: Prediction, **settings: Any) -> FilledScores:
    found = scored(references, *predictions, **settings).filled
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("pool", "relevant", "answer"),
    [
        ("ABCDEF", "A", ""),
        ("ABCDEF", "AC", "B"),
        ("ABCDEF", "AC", "BD"),
        ("ABCDEF", "AC", "BA"),
        ("ABCDEF", "ABF", "XB"),  # X is no candidate and keeps its rank
        ("ABCDEF", "ABF", "DXYE"),
        ("ABCDE", "AE", "BBB"),  # repeats close up
        ("ABCDE", "AEZ", "C"),  # Z is not in the pool
        ("ABCDE", "", "C"),
        ("ABCDE", "ABCDE", "A"),
    ],
)
def test_it_is_the_mean_over_all_orders_of_the_rest(pool: str, relevant: str, answer: str) -> None:
    """At most 720 orders, each scored by itself."""
    references = one_thread(pool, relevant)
    rest = [title for title in pool if title not in answer]
    orders = [[*answer, *order] for order in permutations(rest)]
    n = len(orders)
    values = thread_table(hits_from_strings(orders, [list(relevant)] * n, [list(pool)] * n), K).values
    found = filled(references, Prediction("t3_a", tuple(orders[0]), n_answered=len(answer)))
    for name in measure_names(K):
        assert found.expected[name] == pytest.approx(values[name].mean(), abs=1e-14), name
    n_named = len({title for title in answer if title in pool})
    assert found.answered == pytest.approx(n_named / len(pool))
    assert found.filled == pytest.approx(1 - n_named / len(pool))


def test_by_hand() -> None:
    """Pool of five, B answered, A and E right, the rest in one of 24 orders.

    A place of the rest is right with probability 1/2. recall@2: 1/2 of 2. hit@2: 1/2. MRR: first right at rank 2 with
    1/2, at 3 with 1/2 * 2/3 = 1/3, at 4 with 1/6: 1/4 + 1/9 + 1/24 = 29/72.
    """
    found = filled(one_thread("ABCDE", "AE"), Prediction("t3_a", tuple("BACDE"), n_answered=1)).expected
    assert found["recall@1"] == 0
    assert found["recall@2"] == pytest.approx(1 / 4)
    assert found["recall@6"] == pytest.approx(1)
    assert found["precision@2"] == pytest.approx(1 / 4)
    assert found["hit@2"] == pytest.approx(1 / 2)
    assert found["hit@3"] == pytest.approx(1 - 1 / 6)
    assert found["mrr"] == pytest.approx(29 / 72)
    assert found["ndcg@2"] == pytest.approx(0.5 * 0.6309297535714575 / 1.6309297535714575)


def test_nothing_answered_is_chance_and_all_answered_is_the_score() -> None:
    """The two ends, on any pool."""
    references = one_thread("ABCDEF", "BE")
    order = tuple("EDCBAF")
    run = scored(references, Prediction("t3_a", order, n_answered=0))
    assert run.filled is not None
    assert run.scores.chance is not None
    for name, value in run.scores.chance.items():
        assert run.filled.expected[name] == pytest.approx(value, abs=1e-15)
    assert (run.filled.answered, run.filled.filled, run.filled.n_unanswered) == (0.0, 1.0, 1)
    whole = scored(references, Prediction("t3_a", order, n_answered=6))
    assert whole.filled is not None
    assert whole.filled.expected == pytest.approx(whole.scores.values)
    assert (whole.filled.answered, whole.filled.filled, whole.filled.n_unanswered) == (1.0, 0.0, 0)


def test_what_is_ranked_nowhere_is_not_filled() -> None:
    """An empty or a short ranking stays what it is: nothing was appended, so there is no luck to take out."""
    references = one_thread("ABCDEF", "BE")
    for ranking in ((), ("E",), ("A", "B")):
        run = scored(references, Prediction("t3_a", ranking, n_answered=len(ranking)))
        assert run.filled is not None
        assert run.filled.expected == pytest.approx(run.scores.values)
        assert run.filled.answered == pytest.approx(len(ranking) / 6)
        assert run.filled.filled == 0


THREADS = references_of(
    [
        {"name": "t3_a", "source_subreddit": "jazz", "final_candidates": list("ABCD"), "limited_gt": ["A"]},
        {"name": "t3_b", "source_subreddit": "jazz", "final_candidates": list("ABCD"), "limited_gt": ["A"]},
        {"name": "t3_c", "source_subreddit": "jazz", "final_candidates": list("ABCD"), "limited_gt": []},
        {"name": "t3_d", "source_subreddit": "jazz", "final_candidates": list("ABCD"), "limited_gt": ["A"]},
    ]
)


def test_means_over_threads() -> None:
    """One that does not say counts as answered, a missing one as nothing, an empty truth as 0 or not at all."""
    given = (
        Prediction("t3_b", tuple("ABCD")),
        Prediction("t3_a", tuple("BCAD"), n_answered=1),
        Prediction("t3_c", tuple("ABCD"), n_answered=0),
    )
    found = filled(THREADS, *given)
    assert found.answered == pytest.approx((1 / 4 + 1 + 0 + 0) / 4)
    assert found.filled == pytest.approx((3 / 4 + 0 + 1 + 0) / 4)
    assert found.n_unanswered == 2
    assert found.expected["recall@2"] == pytest.approx((1 / 3 + 1 + 0 + 0) / 4)
    skipped = filled(THREADS, *given, empty="skip")
    assert skipped.expected["recall@2"] == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert skipped.filled == pytest.approx((3 / 4) / 3)


def test_nothing_changes_where_no_prediction_says() -> None:
    """Neither the account nor a key of the JSON."""
    run = scored(THREADS, Prediction("t3_b", tuple("ABCD")))
    assert run.filled is None
    assert "filled" not in run.to_dict()


def test_of_random_orders_it_is_the_mean_on_larger_pools() -> None:
    """Pools of 90 with 8 right answers, 30 of them answered: within 4 standard errors of 4,000 draws."""
    rng = np.random.default_rng(0)
    pool = [f"c{place}" for place in range(90)]
    relevant = [pool[place] for place in (3, 17, 29, 40, 55, 60, 77, 89)]
    references = references_of(
        [{"name": "t3_a", "source_subreddit": "jazz", "final_candidates": pool, "limited_gt": relevant}]
    )
    answer, rest = pool[:30:-1][:30], [title for title in pool if title not in pool[:30:-1][:30]]
    orders = [[*answer, *rng.permutation(rest)] for _ in range(4000)]
    table = thread_table(hits_from_strings(orders, [relevant] * 4000, [pool] * 4000), (20, 40, 60))
    prediction = Prediction("t3_a", tuple(orders[0]), n_answered=30)
    one = thread_table(hits_from_strings(orders[:1], [relevant], [pool]), (20, 40, 60))
    found = score_filled([prediction], references, one)
    assert found is not None
    for name, column in table.values.items():
        error = column.std() / 4000**0.5
        assert found.expected[name] == pytest.approx(column.mean(), abs=4 * error + 1e-12), name


def write(file: Path, predictions: Sequence[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in predictions), encoding="utf-8")
    return file


def test_the_command_shows_it_beside_the_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of empty answers is never shown without saying that all of it is filled; another is shown as ever."""
    from musicrs_metric import cli

    toy = write_toy(tmp_path)
    lines = [json.loads(line) for line in (toy.query / "predictions.jsonl").read_text().splitlines()]
    empty = write(tmp_path / "empty.jsonl", [line | {"n_answered": 0, "outcome": "empty"} for line in lines])
    shown = {}
    for name, file in (("empty", empty), ("plain", toy.query)):
        monkeypatch.setattr("sys.argv", ["musicrs-metric", "score", "-p", str(file), "-d", str(toy.dataset)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        assert left.value.code in (0, None)
        shown[name] = capsys.readouterr().out
    assert (
        "0.00 % of the pools answered, 100.00 % filled in random order, 6 threads without any answer" in shown["empty"]
    )
    assert "filled at chance %" in shown["empty"]
    row = next(line for line in shown["empty"].splitlines() if line.strip().startswith("recall@20"))
    assert row.split()[-1] == "50.00"  # 20 of a pool of 40
    assert "filled" not in shown["plain"]


def test_the_report_shows_it_beside_the_system(tmp_path: Path) -> None:
    """In the table of systems, in Table 1 and in the JSON; a report on runs that do not say has no such column."""
    toy = write_toy(tmp_path)
    data = build_report([toy.query, toy.counts], toy.dataset, resamples=50).data
    plain = json.dumps(data).replace('"filled": null', "")  # the comparison says that nobody says
    assert "illed" not in plain
    file = toy.query / "predictions.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    write(file, [line | {"n_answered": 0, "outcome": "empty"} for line in lines])
    assert len(lines) == len(QUERY_RANKS)
    report = build_report([toy.query, toy.counts], toy.dataset, resamples=50)
    by_label = {run["label"]: run for run in report.data["runs"]}
    assert "filled" not in by_label["Counts"]
    (other,) = [run for label, run in by_label.items() if label != "Counts"]
    assert other["filled"]["filled"] == 1.0
    assert other["filled"]["expected"]["recall@20"] == pytest.approx(0.5)
    systems = json.dumps(report.data["document"], ensure_ascii=False)
    assert "Filled, %" in systems
    assert "100.00 % filled" in systems
    assert '"50.00 / ' in systems
