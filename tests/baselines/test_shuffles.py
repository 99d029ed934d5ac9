from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.data import Data, PoolOrder, as_references
from baselines.run.order_effects import mean_correlation, order_effects, ranks, slope
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan
from baselines.run.shuffles import ShuffledResult, reorder_pools, run_shuffles
from baselines.system import Context, System, Task
from musicrs_metric.errors import UserError
from musicrs_metric.matching import Pool
from musicrs_metric.runs.predictions import Prediction, read_predictions
from musicrs_metric.runs.run_card import read_run_card
from tests.baselines.toys import Command, Toy, ToyOptions, run_toy, thread, toy_data


class Ordered(Toy):
    """Answers with a function of the pool as it is shown."""

    def __init__(self, order: Callable[[tuple[str, ...]], Any], context: Context | None = None) -> None:
        super().__init__(context=context)
        self.order = order

    def answer(self, task: Task) -> Prediction:
        self.asked.append(task.thread.thread_id)
        return Prediction(task.thread.thread_id, tuple(self.order(task.thread.candidates)))


def shuffled_toy(system: System, data: Data, out: Path, shuffles: int = 3, **options: Any) -> ShuffledResult:
    plan = Plan(system=system, system_name="toy", data=data, out=out, **options)
    found = run_shuffles(plan, shuffles, Processes(), Reporter())
    assert found is not None
    return found


def rankings(out: Path) -> list[tuple[str, ...]]:
    return [p.ranking for p in read_predictions(out / "predictions.jsonl").predictions]


def test_a_system_that_ignores_the_order_has_no_order_effect(tmp_path: Path) -> None:
    """Nothing varies, nothing moves, and the score is that of the plain run."""
    data = toy_data(7)
    run_toy(Ordered(sorted), data, tmp_path / "plain")
    effects = shuffled_toy(Ordered(sorted), data, tmp_path / "run", shuffles=5).effects
    assert set(effects.sd_between_orders.values()) == set(effects.sd_within_thread.values()) == {0.0}
    assert (effects.position_bias, effects.position_bias_interval) == (0.0, (0.0, 0.0))
    assert effects.agreement == pytest.approx(1)
    assert effects.scores.values["recall@1"] == 1  # A0 is right and the first of its alphabet
    assert rankings(tmp_path / "run") == rankings(tmp_path / "plain")


@pytest.mark.figures
@pytest.mark.parametrize(("order", "bias"), [(tuple, 1.0), (lambda pool: pool[::-1], -1.0)])
def test_a_system_that_goes_by_the_order_alone_is_at_chance(order: Any, bias: float, tmp_path: Path) -> None:
    """One of five is right. Of 200 threads in 10 orders: mean 0.2, four of its deviations 0.036; the orders' deviation
    0.028, times the square root of a chi-square over its 9 degrees of freedom (0.1 % and 99.9 %: 0.36 to 1.76)."""
    effects = shuffled_toy(Ordered(order), toy_data(200), tmp_path, shuffles=10).effects
    assert effects.position_bias == pytest.approx(bias)
    assert effects.scores.values["recall@1"] == pytest.approx(0.2, abs=0.036)
    assert 0.36 * 0.028 < effects.sd_between_orders["recall@1"] < 1.76 * 0.028
    assert effects.agreement == pytest.approx(0, abs=4 * 0.5 / (200 * 45) ** 0.5)  # a pair's variance is 1 / (5 - 1)


def test_by_hand() -> None:
    """a is always first, the rest as shown; b is right: at ranks 2 and 4. Ranks of a, b, c, d: 1234 and 1432."""
    threads = [thread("t", "abcd", "b")]
    given_ = [[Prediction("t", tuple("abcd"))], [Prediction("t", tuple("adcb"))]]
    effects = order_effects([["abcd"], ["dcba"]], given_, as_references(threads, "toy", "query_only"))
    assert effects.scores.values["mrr"] == 3 / 8
    assert [scores["mrr"] for scores in effects.by_order] == [1 / 2, 1 / 4]
    assert effects.sd_between_orders["mrr"] == pytest.approx(1 / 4 / 2**0.5)
    assert effects.sd_within_thread["mrr"] == pytest.approx(1 / 4 / 2**0.5)
    assert effects.agreement == pytest.approx(1 - 6 * (0 + 4 + 0 + 4) / (4 * 15))
    assert effects.position_bias == pytest.approx((1 / 2 * 1 + 3 / 2 * 1) / (9 / 4 + 1 / 4 + 1 / 4 + 9 / 4))
    assert effects.position_bias_interval is None  # one thread has nothing to resample


def test_spread_between_orders_is_not_spread_within_threads() -> None:
    """Two threads that change places: each varies, their mean does not."""
    threads = [thread(name, "ab", "a") for name in "tu"]
    first, second = tuple("ab"), tuple("ba")
    given_ = [[Prediction("t", first), Prediction("u", second)], [Prediction("t", second), Prediction("u", first)]]
    effects = order_effects([["ab", "ab"], ["ba", "ba"]], given_, as_references(threads, "toy", "query_only"))
    assert effects.sd_between_orders["recall@1"] == 0
    assert effects.sd_within_thread["recall@1"] == pytest.approx(0.5**0.5)
    assert effects.position_bias == 0  # one follows the order, one opposes it


def test_what_is_not_ranked_shares_the_ranks_left() -> None:
    """Unknown titles and repeats take none; one written otherwise is found by the matching rule."""
    assert ranks(["C", "?", "c"], Pool("abcd")).tolist() == [3, 3, 1, 3]
    assert ranks([], Pool("abc")).tolist() == [2, 2, 2]


def test_what_is_undefined_is_left_out() -> None:
    """A pool of one cannot be shown otherwise, and an empty ranking agrees with nothing."""
    threads = [thread("t", "a", "a"), thread("u", "ab", "a")]
    given_ = [[Prediction("t", ("a",)), Prediction("u", ())]] * 2
    references = as_references(threads, "toy", "query_only")
    effects = order_effects([["a", "ab"], ["a", "ba"]], given_, references)
    assert (effects.agreement, effects.position_bias) == (None, 0)
    assert order_effects([["a", "ab"]] * 2, given_, references).position_bias is None


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(2, 12), st.integers(0, 2**31))
def test_agreement_is_spearmans_correlation_of_all_pairs(k: int, n: int, seed: int) -> None:
    """As scipy has it, ties included."""
    stats = pytest.importorskip("scipy.stats")
    scores = np.random.default_rng(seed).integers(0, n, (k, n))
    rank = stats.rankdata(scores, axis=1)
    if (rank == rank[:, :1]).all(axis=1).any():
        assert np.isnan(mean_correlation(rank))
        return
    pairs = [stats.spearmanr(scores[i], scores[j]).statistic for i, j in combinations(range(k), 2)]
    assert mean_correlation(rank) == pytest.approx(np.mean(pairs), abs=1e-9)


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(2, 12), st.integers(0, 2**31))
def test_the_slope_is_that_of_a_regression_with_an_intercept_per_candidate(k: int, n: int, seed: int) -> None:
    """By least squares over a dummy column per candidate."""
    rng = np.random.default_rng(seed)
    place, rank = (np.stack([rng.permutation(n) for _ in range(k)]).astype(float) for _ in range(2))
    if (place == place[0]).all():
        assert np.isnan(slope(place, rank))
        return
    columns = np.column_stack([place.reshape(-1), np.tile(np.eye(n), (k, 1))])
    expected = np.linalg.lstsq(columns, rank.reshape(-1), rcond=None)[0][0]
    assert slope(place, rank) == pytest.approx(expected, abs=1e-9)


def test_an_order_depends_on_seed_thread_and_number_only() -> None:
    """Neither on the other threads nor on how many orders there are; labels and fingerprint stay."""
    data, part = toy_data(7), toy_data(3)

    def shown(data: Data, number: int, of: int = 3, seed: int = 0) -> list[tuple[str, ...]]:
        return [thread.candidates for thread in reorder_pools(data, PoolOrder(number, of), seed).threads]

    assert shown(data, 1) == shown(data, 1, of=9)
    assert shown(data, 1)[:3] == shown(part, 1)
    assert shown(data, 1) != shown(data, 2)
    assert shown(data, 1) != shown(data, 1, seed=1)
    for own, pool in zip(data.threads, shown(data, 1), strict=True):
        assert sorted(pool) == sorted(own.candidates)
    assert reorder_pools(data, PoolOrder(1, 3), 0).references is data.references


def test_every_order_is_a_run_that_tools_can_read(tmp_path: Path) -> None:
    """The folder itself holds the first order, `shuffles/` the others, and one file the summary."""
    shuffled_toy(Ordered(tuple), toy_data(7), tmp_path)
    for number, out in enumerate([tmp_path, tmp_path / "shuffles/02", tmp_path / "shuffles/03"], 1):
        card = read_run_card(out)
        assert (card.name, card.shuffles, card.extra["order"]) == (f"toy, order {number} of 3", 3, number)
        assert card.fingerprint == toy_data(7).references.fingerprint
        shown = reorder_pools(toy_data(7), PoolOrder(number, 3), 0)
        assert rankings(out) == [thread.candidates for thread in shown.threads]
    assert sorted(file.name for file in (tmp_path / "shuffles").iterdir()) == ["02", "03"]
    summary = json.loads((tmp_path / "robustness.json").read_text())
    assert (summary["name"], summary["shuffles"], summary["outcomes"]) == ("toy, mean of 3 orders", 3, {"ok": 21})
    assert (summary["position_bias"], summary["scores"]["n"]) == (pytest.approx(1), 7)


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Of three orders one is lost: only that one is asked for, and the summary is the same."""
    shuffled_toy(Ordered(tuple), toy_data(7), tmp_path)
    before = (tmp_path / "robustness.json").read_bytes()
    shutil.rmtree(tmp_path / "shuffles/02")
    (tmp_path / "robustness.json").unlink()
    again = Ordered(tuple)
    shuffled_toy(again, toy_data(7), tmp_path)
    assert again.asked == [f"t{i}" for i in range(7)]
    assert (tmp_path / "robustness.json").read_bytes() == before


def test_the_number_of_orders_is_part_of_what_a_run_is(tmp_path: Path) -> None:
    """Neither another number nor a plain run goes on in the folder."""
    shuffled_toy(Ordered(tuple), toy_data(7), tmp_path)
    with pytest.raises(UserError, match="shuffles was 3 and is now 4"):
        shuffled_toy(Ordered(tuple), toy_data(7), tmp_path, shuffles=4)
    with pytest.raises(UserError, match="shuffles was 3 and is now null"):
        run_toy(Ordered(tuple), toy_data(7), tmp_path)


def test_only_threads_ranked_in_every_order_are_compared(tmp_path: Path) -> None:
    """A session that stopped after an order of five threads, and one with a lower limit."""
    shuffled_toy(Ordered(tuple), toy_data(7), tmp_path, shuffles=2, limit=5)
    shutil.rmtree(tmp_path / "shuffles")
    effects = shuffled_toy(Ordered(tuple), toy_data(7), tmp_path, shuffles=2, limit=3).effects
    assert effects.scores.n == 3
    assert effects.position_bias == pytest.approx(1)


def test_failures_of_all_orders_are_counted(tmp_path: Path) -> None:
    """One of seven threads fails in each of three orders."""
    assert shuffled_toy(Toy(ToyOptions(fail="t2")), toy_data(7), tmp_path).card.outcomes == {"failed": 3, "ok": 18}


def test_the_command_prints_what_the_order_does(mini: Path, tmp_path: Path, command: Command) -> None:
    """Mean score, deviations, agreement, and the bias of a system that has nothing else."""
    shuffled = ["--modality", "query_only", "--shuffles", "3"]
    done = command("run", "--model", "file_order", "-d", mini, "--out", tmp_path, *shuffled)
    assert done.returncode == 0, done.stderr
    for words in ("means over 3 orders", "28 of 28 threads ranked in 3 orders", "84 ok", "Position bias 1.000 (95 %"):
        assert words in done.stdout


@pytest.mark.figures
def test_two_processes_write_what_one_writes(mini: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """Swapped queries and shuffled pools are the same in every process: every file agrees to the last byte."""
    pytest.importorskip("bm25s")
    launch = pytest.importorskip("tests.baselines.test_launch")
    options = ["--shuffles", "2", "--control", "shuffled-query"]
    for world in (1, 2):
        out = tmp_path / str(world)
        launch.finish(launch.command(out, mini, "lexical", *options, world=world), environment)
        assert read_run_card(out / "shuffles/02").extra["processes"] == world
    for file in ("predictions.jsonl", "shuffles/02/predictions.jsonl", "robustness.json"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
    assert read_run_card(tmp_path / "2").name == "lexical, shuffled-query, order 1 of 2"
