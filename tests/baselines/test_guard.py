from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from baselines.commands.summary import outcome_lines
from baselines.run.guard import FAILURES
from baselines.system import Context, Task
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction, read_predictions
from tests.baselines.toys import Toy, ToyOptions, run_toy, toy_data


def test_a_failing_thread_becomes_an_outcome(tmp_path: Path) -> None:
    """One of seven fails: it keeps its line, in random order and unanswered, and its neighbours keep theirs."""
    result = run_toy(Toy(ToyOptions(fail="t4")), toy_data(), tmp_path / "run")
    predictions = {p.thread_id: p for p in read_predictions(tmp_path / "run/predictions.jsonl").predictions}
    failed = predictions.pop("t4")
    assert (failed.outcome, failed.n_answered) == ("failed", 0)
    assert sorted(failed.ranking) == ["A4", "B4", "C4", "D4", "E4"]
    whole = run_toy(Toy(), toy_data(), tmp_path / "whole").predictions
    assert list(predictions.values()) == [p for p in whole if p.thread_id != "t4"]
    assert result.card.outcomes == {"failed": 1, "ok": 6}
    assert any("1 failed" in line for line in outcome_lines(result, 7))
    assert "RuntimeError: no luck with t4" in (tmp_path / "run" / FAILURES).read_text()


def test_threads_of_an_earlier_run_are_told_where_there_are_any(tmp_path: Path) -> None:
    """A first run does not speak of earlier ones; one that finds three of seven finished does."""
    first = run_toy(Toy(), toy_data(), tmp_path / "run", limit=3)
    assert not any("earlier" in line for line in outcome_lines(first, 7))
    whole = run_toy(Toy(), toy_data(), tmp_path / "run")
    line = next(iter(outcome_lines(whole, 7)))
    assert f"7 of 7 threads ranked ({whole.card.hardware}; an earlier session ranked 3 of them)" in line


def test_the_order_of_a_failed_thread_depends_on_the_seed(tmp_path: Path) -> None:
    """It is a draw like any other: seeded, and not the stored order of the pool."""
    orders = set()
    for seed in range(4):
        system = Toy(ToyOptions(fail="t4"), Context(modality="query_only", seed=seed))
        orders.add(run_toy(system, toy_data(), tmp_path / str(seed)).predictions[4].ranking)
    assert len(orders) > 1


def test_failed_threads_can_be_tried_again(tmp_path: Path) -> None:
    """A finished run keeps its failure; --retry-failed ranks that thread, and no other, once more."""

    class Unlucky(Toy):
        lucky = False

        def answer(self, task: Task) -> Prediction:
            if task.thread.thread_id == "t4" and not self.lucky:
                raise TimeoutError
            return super().answer(task)

    run_toy(Unlucky(), toy_data(), tmp_path / "run")
    system = Unlucky()
    system.lucky = True
    assert run_toy(system, toy_data(), tmp_path / "run").card.outcomes == {"failed": 1, "ok": 6}
    assert run_toy(system, toy_data(), tmp_path / "run", retry_failed=True).card.outcomes == {"ok": 7}
    assert system.asked == ["t4"]


@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_system_that_fails_on_every_thread_stops_the_run(tmp_path: Path, n: int) -> None:
    """A bug does not become a file full of random orders, however few the threads."""
    with pytest.raises(UserError, match="failed on"):
        run_toy(Toy(ToyOptions(fail="all")), toy_data(n), tmp_path / "run")
    assert not (tmp_path / "run/predictions.jsonl").exists()


def test_a_broken_system_is_not_asked_to_the_end(tmp_path: Path) -> None:
    """After five failures and no success the rest is spared."""
    system = Toy(ToyOptions(fail="all"))
    with pytest.raises(UserError, match="failed on each of its first 5 threads"):
        run_toy(system, toy_data(12), tmp_path / "run")
    assert set(system.asked) <= {f"t{i}" for i in range(6)}


def test_a_system_that_has_answered_before_is_not_broken(tmp_path: Path) -> None:
    """Where all that is left fails, or fails once more, the run ends as it would have in one session."""

    class Partly(Toy):
        def answer(self, task: Task) -> Prediction:
            if int(task.thread.thread_id[1:]) > 2:
                raise RuntimeError("a broken clip")
            return super().answer(task)

    out, data = tmp_path / "run", toy_data(12)
    run_toy(Partly(), data, out, limit=3)
    for retry_failed in (False, True):
        assert run_toy(Partly(), data, out, retry_failed=retry_failed).card.outcomes == {"failed": 9, "ok": 3}


def test_what_the_user_has_to_mend_stops_the_run_at_once(tmp_path: Path) -> None:
    """Weights that are not there are no failure of a thread."""

    class Unready(Toy):
        def answer(self, task: Task) -> Prediction:
            raise UserError("the weights are gone")

    with pytest.raises(UserError, match="the weights are gone"):
        run_toy(Unready(), toy_data(), tmp_path / "run")


@pytest.mark.parametrize(
    "answer",
    [
        lambda good: good[:-1],
        lambda good: [*good, good[0]],
        lambda good: list(reversed(good)),
        lambda good: [Prediction(p.thread_id, p.ranking, (float("nan"),) * len(p.ranking)) for p in good],
        lambda good: [Prediction(p.thread_id, (" ",)) for p in good],
        lambda good: None,
    ],
    ids=["too few", "too many", "other order", "not a number", "a blank title", "nothing"],
)
def test_an_answer_that_is_none_does_not_reach_the_file(tmp_path: Path, answer: object) -> None:
    """Whatever a broken system returns for a batch with t4, only threads that also fail alone are failed."""

    class Broken(Toy):
        def rank(self, batch: Sequence[Task]) -> list[Prediction]:
            good = super().rank(batch)
            bad = any(task.thread.thread_id == "t4" for task in batch)
            return answer(good) if bad else good  # type: ignore[operator]

    result = run_toy(Broken(), toy_data(), tmp_path / "run")
    assert [p.thread_id for p in result.predictions] == [f"t{i}" for i in range(7)]
    assert set(result.card.outcomes or {}) <= {"ok", "failed"}
    assert (result.card.outcomes or {}).get("failed", 0) <= 1


def test_an_exit_and_half_a_surrogate_fail_their_threads_only(tmp_path: Path) -> None:
    """A system that exits with success has not succeeded, and an error text that no file can hold is still logged."""
    errors: dict[str, BaseException] = {"t2": SystemExit(0), "t4": ValueError("half \ud83c")}

    class Leaving(Toy):
        def answer(self, task: Task) -> Prediction:
            if task.thread.thread_id in errors:
                raise errors[task.thread.thread_id]
            return super().answer(task)

    result = run_toy(Leaving(), toy_data(), tmp_path / "run")
    assert [p.thread_id for p in result.predictions if p.outcome == "failed"] == ["t2", "t4"]
    log = (tmp_path / "run" / FAILURES).read_text()
    assert "SystemExit: 0" in log
    assert r"half \ud83c" in log


def test_the_user_can_stop_a_run(tmp_path: Path) -> None:
    """Ctrl-C is no failure of a thread."""

    class Stopped(Toy):
        def answer(self, task: Task) -> Prediction:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_toy(Stopped(), toy_data(), tmp_path / "run")


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (None, "rank returned null"),
        ([["A", "B"]], "a list of 2 in it"),
        ([], "got 1 thread and returned 0 predictions"),
        ([Prediction("t9", ("A",))], "of t9 in place of t0"),
    ],
)
def test_what_a_system_returns_in_error_is_told_in_words(tmp_path: Path, answers: object, said: str) -> None:
    """Whoever writes a first system of their own reads what was wrong with it."""

    class Wrong(Toy):
        def rank(self, batch: Sequence[Task]) -> list[Prediction]:
            return answers  # type: ignore[return-value]

    with pytest.raises(UserError, match="failed on every thread"):
        run_toy(Wrong(), toy_data(1), tmp_path / "run")
    assert said in (tmp_path / "run" / FAILURES).read_text(encoding="utf-8")


def test_a_score_that_is_no_number_costs_its_thread_only(tmp_path: Path) -> None:
    """The log names thread and candidate; the others keep their rankings."""

    class Unsure(Toy):
        def answer(self, task: Task) -> Prediction:
            wrong = float("nan") if task.thread.thread_id == "t4" else 0.0
            return task.by_score([wrong, *range(1, len(task.thread.candidates))])

    result = run_toy(Unsure(), toy_data(), tmp_path / "run")
    assert result.card.outcomes == {"failed": 1, "ok": 6}
    assert "thread t4: the score of" in (tmp_path / "run" / FAILURES).read_text(encoding="utf-8")
