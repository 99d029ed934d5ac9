from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baselines.fusion import Method, fuse, fuse_runs
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Outcome, Prediction, read_predictions, write_predictions
from musicrs_metric.runs.run_card import RunCard, read_run_card, write_run_card
from tests.baselines.toys import Command


def answer(ranking: str, *scores: float, outcome: Outcome | None = None, n: int | None = None) -> Prediction:
    return Prediction("t0", tuple(ranking), scores or None, outcome, n)


def test_reciprocal_ranks_by_hand() -> None:
    """A is 1st and 3rd, B 2nd and 1st, C 3rd and 2nd: B 1/62 + 1/61, A 1/61 + 1/63, C 1/63 + 1/62, halved."""
    fused = fuse([answer("ABC"), answer("BCA")], "rrf")
    assert fused.ranking == ("B", "A", "C")
    assert fused.scores == pytest.approx([(1 / 62 + 1 / 61) / 2, (1 / 61 + 1 / 63) / 2, (1 / 63 + 1 / 62) / 2])
    assert (fused.thread_id, fused.outcome, fused.n_answered) == ("t0", None, None)


def test_z_scores_by_hand() -> None:
    """2, 1, 0 has mean 1 and deviation .8165, so z is 1.2247, 0, -1.2247; 30, 20, 10 of C, B, A the same reversed."""
    fused = fuse([answer("ABC", 2, 1, 0), answer("CBA", 30, 20, 10)], "zscore", [0.75, 0.25])
    assert fused.ranking == ("A", "B", "C")
    assert fused.scores == pytest.approx([0.5 * 1.224745, 0, -0.5 * 1.224745], abs=1e-6)


@pytest.mark.parametrize("method", ["rrf", "rank", "zscore"])
@pytest.mark.parametrize(("weight", "expected"), [(1.0, "ABCD"), (0.0, "DBCA")])
def test_a_share_of_one_leaves_that_order(method: Method, weight: float, expected: str) -> None:
    """The other run then says nothing."""
    fused = fuse([answer("ABCD", 9, 5, 2, 1), answer("DBCA", 4, 3, 2, 1)], method, [weight, 1 - weight])
    assert "".join(fused.ranking) == expected


@pytest.mark.parametrize("method", ["rrf", "rank", "zscore"])
def test_ties_go_to_the_first_run(method: Method) -> None:
    """Opposite orders with equal shares leave all but the middle tied; A's order decides, and changes with the runs."""
    up, down = answer("AB", 1, 0), answer("BA", 1, 0)
    assert fuse([up, down], method).ranking == ("A", "B")
    assert fuse([down, up], method).ranking == ("B", "A")


@pytest.mark.parametrize("score", [1, 0.1])
def test_equal_scores_have_no_say(score: float) -> None:
    """Their z is 0, also for 0.1, where the rounded mean of three differs from each."""
    fused = fuse([answer("ABC", score, score, score), answer("CAB", 3, 2, 1)], "zscore")
    assert fused.ranking == ("C", "A", "B")
    assert fused.scores == pytest.approx([0.5 * 1.224745, 0, -0.5 * 1.224745], abs=1e-6)


@pytest.mark.parametrize("method", ["rrf", "rank", "zscore"])
@pytest.mark.parametrize("silent", [answer("", outcome="no_audio"), answer("CBA", outcome="failed", n=0)])
def test_where_one_run_has_no_answer_the_other_counts(method: Method, silent: Prediction) -> None:
    """No clip, or a failure with a random order in its place: the order is the other's, the outcome says why."""
    used_audio = answer("ABC", 5, 2, 1)
    for fused in (fuse([used_audio, silent], method), fuse([silent, used_audio], method)):
        assert fused.ranking == ("A", "B", "C")
        assert fused.outcome == silent.outcome


def test_what_was_appended_comes_last() -> None:
    """B answered only D; the rest of its list is filler, as is the rest of A's list behind A, B."""
    fused = fuse([answer("ABCD", n=2), answer("DCBA", n=1, outcome="truncated")], "rrf", [0.6, 0.4])
    assert fused.ranking == ("A", "B", "D", "C")
    assert (fused.n_answered, fused.scores, fused.outcome) == (3, None, "truncated")


def test_a_candidate_of_one_run_only_is_last_in_the_other() -> None:
    """X, which the second lacks, takes the lowest z there, -1: (1.22 - 1) / 2; A (-1.22 + 1) / 2; B (0 - 1) / 2."""
    fused = fuse([answer("XBA", 3, 2, 1), answer("AB", 1, 0)], "zscore")
    assert fused.ranking == ("X", "A", "B")
    assert fused.scores == pytest.approx([0.112372, -0.112372, -0.5], abs=1e-6)


def test_scores_are_needed_for_z_scores() -> None:
    """The message says what does without."""
    with pytest.raises(UserError, match="thread t0: has no scores; --method rrf needs none"):
        fuse([answer("AB"), answer("BA", 1, 0)], "zscore")


CARD = RunCard(
    name="words", paradigm="retrieval", modality="query_only", dataset="toy", config="query_only", fingerprint="f",
    reads="thread", model_id="m/words", licence="MIT", open_weights=True, trained=False, pools="published", seed=0,
)  # fmt: skip


def save(folder: Path, predictions: list[Prediction], **changes: Any) -> Path:
    folder.mkdir()
    write_predictions(folder / "predictions.jsonl", predictions)
    write_run_card(folder / "run.json", replace(CARD, **changes))
    return folder


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return save(tmp_path / "words", [Prediction("t0", ("A", "B")), Prediction("t1", ("C", "D"))])


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """In another order of threads."""
    return save(
        tmp_path / "sound", [Prediction("t1", (), outcome="no_audio"), Prediction("t0", ("B", "A"))], name="sound",
        modality="audio_only", config="audio_only", reads="pools", model_id="m/sound", licence="Apache-2.0",
        missing_audio="zero", clip_plan="10 s", audio_coverage={"threads": 0.5}, trained=None,
    )  # fmt: skip


def test_the_card_says_what_both_say(words: Path, sound: Path, tmp_path: Path) -> None:
    """Words and sound make audio_query; what one of them reads, the fusion has read."""
    fuse_runs([words, sound], tmp_path / "out", weights=[0.7])
    card = read_run_card(tmp_path / "out")
    assert (card.name, card.modality, card.config, card.reads) == (
        "words + sound",
        "audio_query",
        "audio_query",
        "pools",
    )
    assert (card.model_id, card.licence, card.open_weights) == ("m/words + m/sound", "MIT + Apache-2.0", True)
    assert (card.fingerprint, card.pools, card.seed, card.trained) == ("f", "published", 0, False)
    assert (card.missing_audio, card.clip_plan, card.audio_coverage) == ("zero", "10 s", {"threads": 0.5})
    assert card.settings == {"method": "rrf", "weights": pytest.approx([0.7, 0.3])}
    assert card.outcomes == {"no_audio": 1, "ok": 1}
    assert [run["name"] for run in card.extra["fused"]] == ["words", "sound"]
    assert [p.ranking for p in read_predictions(tmp_path / "out/predictions.jsonl").predictions] == [
        ("A", "B"), ("C", "D"),
    ]  # fmt: skip


def test_other_pools_are_kept_in_the_configuration(tmp_path: Path) -> None:
    """audio_only_balanced and query_only_balanced make audio_query_balanced; labels outweigh pools."""
    one = [Prediction("t0", ("A", "B"))]
    a = save(tmp_path / "a", one, config="query_only_balanced", pools="balanced", reads="labels")
    b = save(tmp_path / "b", one, config="audio_only_balanced", pools="balanced", modality="audio_only", reads="pools")
    card = fuse_runs([a, b], tmp_path / "out", name="both")
    assert (card.name, card.config, card.reads) == ("both", "audio_query_balanced", "labels")


def test_a_control_stays_a_control(words: Path, tmp_path: Path) -> None:
    """In the name, whatever the user calls the result, and in the field by which controls are known."""
    predictions = [Prediction("t0", ("A", "B")), Prediction("t1", ("C", "D"))]
    other = save(tmp_path / "control", predictions, extra={"control": "shuffled-query"})
    for place, name in enumerate((None, "both")):
        card = fuse_runs([words, other], tmp_path / f"out{place}", name=name)
        assert read_run_card(tmp_path / f"out{place}").extra["control"] == "shuffled-query"
        assert card.name == ("words + words, shuffled-query" if name is None else "both, shuffled-query")


@pytest.mark.parametrize(
    ("predictions", "changes", "message"),
    [
        ([("t0", "AB"), ("t1", "CD")], {"fingerprint": "g"}, "runs on different data, fingerprint f and g"),
        ([("t0", "AB"), ("t1", "CD")], {"pools": "balanced"}, "runs on different data, pools published and balanced"),
        ([("t0", "AB")], {}, "in one run only: 1 thread, such as t1; finish both"),
    ],
)
def test_runs_that_do_not_go_together_are_refused(
    words: Path, tmp_path: Path, predictions: list[tuple[str, str]], changes: dict[str, Any], message: str
) -> None:
    """The message names what differs, and nothing is written."""
    other = save(tmp_path / "other", [Prediction(name, tuple(ranking)) for name, ranking in predictions], **changes)
    with pytest.raises(UserError, match=message):
        fuse_runs([words, other], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_mistakes_end_in_one_line(words: Path, sound: Path, tmp_path: Path) -> None:
    """A weight out of range, a folder in use, a folder without a card."""
    with pytest.raises(UserError, match=r"--weight 1\.5: expected a number from 0 to 1"):
        fuse_runs([words, sound], tmp_path / "out", weights=[1.5])
    with pytest.raises(UserError, match="is not empty; name another folder"):
        fuse_runs([words, sound], words)
    (sound / "run.json").unlink()
    with pytest.raises(UserError, match=r"sound: has no run.json; expected a run folder"):
        fuse_runs([words, sound], tmp_path / "out")


def test_the_command_writes_a_run(words: Path, sound: Path, tmp_path: Path, command: Command) -> None:
    """Options reach the card, what to do next is said, and a mistake ends in one line."""
    line = ["fuse", words, sound, "--out", tmp_path / "out"]
    done = command(*line, "--weight", "0.25", "--name", "both")
    assert done.returncode == 0, done.stderr
    assert f"score --predictions {tmp_path / 'out'} --dataset toy" in done.stdout
    card = read_run_card(tmp_path / "out")
    assert (card.name, card.settings) == ("both", {"method": "rrf", "weights": [0.25, 0.75]})
    done = command(*line)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "out: is not empty; name another folder" in done.stderr


def scored(folder: Path, **runs: str) -> list[Path]:
    """Run folders of one thread each, with scores 3, 2, 1, 0."""
    return [save(folder / name, [replace(answer(order, 3, 2, 1, 0))], name=name) for name, order in runs.items()]


def test_three_runs_by_hand(tmp_path: Path) -> None:
    """Mean ranks: A 1, 2, 4; B 2, 3, 1; C 3, 4, 2; D 4, 1, 3: B 2, A 7/3, D 8/3, C 3. Equal steps: z agrees."""
    runs = scored(tmp_path, a="ABCD", b="DABC", c="BCDA")
    methods: list[Method] = ["rank", "zscore"]
    for method in methods:
        fuse_runs(runs, tmp_path / method, method)
        found = read_predictions(tmp_path / method / "predictions.jsonl").predictions[0]
        assert found.ranking == ("B", "A", "D", "C")
    assert read_run_card(tmp_path / "rank").settings == {"method": "rank", "weights": pytest.approx([1 / 3] * 3)}
    card = fuse_runs(runs, tmp_path / "weighted", weights=[0, 2, 0])
    assert (card.name, card.settings) == ("a + b + c", {"method": "zscore", "weights": [0, 1, 0]})
    found = read_predictions(tmp_path / "weighted" / "predictions.jsonl").predictions[0]
    assert found.ranking == ("D", "A", "B", "C")


def test_the_order_of_runs_changes_ties_only(tmp_path: Path) -> None:
    """Thirds are not exact in binary, so a sum that rounds each step would order equal candidates by the runs."""
    a, b, c = answer("ABCD", 0.7, 0.2, 0.1, 0), answer("BADC", 0.9, 0.3, 0.3, 0.1), answer("CDAB", 5, 4, 0.2, 0.1)
    expected = dict(zip((one := fuse([a, b, c])).ranking, one.scores or (), strict=True))
    for order in ([b, c, a], [c, b, a], [c, a, b]):
        fused = fuse(order)
        assert dict(zip(fused.ranking, fused.scores or (), strict=True)) == expected


def test_a_run_without_scores_is_fused_by_ranks_with_a_message(words: Path, tmp_path: Path, command: Command) -> None:
    """The default changes for all runs and threads, and says so; --method zscore refuses."""
    other = save(tmp_path / "s", [Prediction("t0", ("B", "A"), (2, 1)), Prediction("t1", ("C", "D"), (2, 1))], name="s")
    line = ["fuse", words, other, "--out"]
    done = command(*line, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "words has no scores in 2 threads of 2, such as t0: fused by reciprocal ranks (rrf)" in done.stdout
    assert read_run_card(tmp_path / "out").settings["method"] == "rrf"
    done = command(*line, tmp_path / "again", "--method", "zscore")
    assert (done.returncode, "t0: has no scores; --method rrf needs none" in done.stderr) == (2, True)
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "--weight: 2 weights for 3 runs; repeat it once per run"),
        ([0.5], "--weight: 1 weight for 3 runs"),
        ([0.0, 0.0, 0.0], "not all 0"),
        ([1.0, -1.0, 1.0], "expected numbers from 0"),
        ([1.0, float("nan"), 1.0], "expected numbers from 0"),
        ([1.0, float("inf"), 1.0], "expected numbers from 0"),
    ],
)
def test_weights_that_fit_no_runs(tmp_path: Path, weights: list[float], message: str) -> None:
    runs = scored(tmp_path, a="ABCD", b="DABC", c="BCDA")
    with pytest.raises(UserError, match=message):
        fuse_runs(runs, tmp_path / "out", weights=weights)
    with pytest.raises(UserError, match="1 run; expected at least two run folders"):
        fuse_runs(runs[:1], tmp_path / "out")
