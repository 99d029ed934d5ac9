"""Means over threads and groups, what is counted beside them, and the form they take in JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from musicrs_metric.hits import hits_from_strings
from musicrs_metric.intervals import LARGE_SAMPLE, mean_intervals
from musicrs_metric.measures import measure_names
from musicrs_metric.runs.score_tables import sentences
from musicrs_metric.scoring import score, summarise, thread_table

from .support import CONVENTIONS, SYSTEMS, check_reference, references_of

POOL = ["A", "B", "C", "D"]
# Reciprocal ranks 1, 1/2, 1/4; no prediction; no ground truth.
RANKINGS: list[list[str] | None] = [["A", "B"], ["B", "A"], ["B", "C", "?", "A", "B"], None, ["A"]]
RELEVANT = [["A"], ["A"], ["A", "Z"], ["D"], []]
POOLS = [POOL] * 5
GENRES = ["Jazz", "Pop", "Jazz", "Pop", "Metal"]


def test_means_and_counts() -> None:
    """A thread without prediction and one without ground truth count as 0; everything odd is counted."""
    result = score(RANKINGS, RELEVANT, POOLS, k=1)
    assert result.values == pytest.approx(
        {"recall@1": 1 / 5, "ndcg@1": 1 / 5, "mrr": 1.75 / 5, "hit@1": 1 / 5, "precision@1": 1 / 5}
    )
    assert (result.n, result.n_empty, result.n_missing) == (5, 1, 1)
    assert (result.n_unknown, result.n_duplicate, result.n_unreachable) == (1, 1, 1)


def test_a_cutoff_as_deep_as_the_pools() -> None:
    """Every order of four candidates has the same recall@4, and another recall@3."""
    result = score(RANKINGS, RELEVANT, POOLS, k=[3, 4])
    assert result.is_constant("recall@4")
    assert not result.is_constant("recall@3")
    assert sum("the same for every order" in line for line in sentences(result)) == 1


def test_skipping_threads_without_ground_truth() -> None:
    """They leave the mean, and chance and ceiling with it, and are still counted."""
    result = score(RANKINGS, RELEVANT, POOLS, k=1, empty="skip")
    assert result.values["mrr"] == pytest.approx(1.75 / 4)
    assert (result.n, result.n_empty) == (4, 1)
    assert result.chance is not None
    assert result.chance["hit@1"] == pytest.approx(1 / 4)
    assert result.ceiling["recall@1"] == pytest.approx((1 + 1 + 1 / 2 + 1) / 4)


def test_groups() -> None:
    """Each group is scored as if it were all there is; one thread has no interval, one without ground truth no mean."""
    result = score(RANKINGS, RELEVANT, POOLS, k=1, empty="skip", groups={"genre": GENRES, "half": list("aabbb")})
    genres = result.by["genre"]
    assert list(genres) == ["Jazz", "Metal", "Pop"]
    assert {name: group.n for name, group in genres.items()} == {"Jazz": 2, "Metal": 0, "Pop": 2}
    assert genres["Jazz"].values["mrr"] == pytest.approx((1 + 1 / 4) / 2)
    assert genres["Pop"].values["mrr"] == pytest.approx((1 / 2 + 0) / 2)
    assert (genres["Jazz"].n_unknown, genres["Pop"].n_missing, genres["Metal"].n_empty) == (1, 1, 1)
    assert set(genres["Metal"].values.values()) == {None}
    assert (genres["Metal"].se, genres["Metal"].interval) == (None, None)
    for name, group in genres.items():
        chosen = [i for i, genre in enumerate(GENRES) if genre == name]
        alone = score(
            [RANKINGS[i] for i in chosen], [RELEVANT[i] for i in chosen], [POOL] * len(chosen), k=1, empty="skip"
        )
        assert group == alone
    assert set(result.by["half"]) == {"a", "b"}


def test_intervals_of_groups_resample_within_the_group() -> None:
    """Six threads that all score 1 have the bounds of Clopper and Pearson, however the others spread."""
    rankings = [["A"]] * 6 + [["B"], ["A"], ["C", "D", "A"]] * 2
    result = score(rankings, [["A"]] * 12, [POOL] * 12, k=1, groups={"genre": list("x" * 6 + "y" * 6)})
    same, spread = result.by["genre"]["x"].interval, result.by["genre"]["y"].interval
    assert same is not None
    assert spread is not None
    assert same["mrr"] == pytest.approx((0.025 ** (1 / 6), 1.0))
    assert spread["mrr"][0] < spread["mrr"][1]


def test_interval_is_that_of_the_thread_values() -> None:
    """Taken over the threads that the mean is taken over, with the settings that the result names."""
    table = thread_table(hits_from_strings(RANKINGS * 2, RELEVANT * 2, POOLS * 2), (1, 3))
    result = summarise(table, empty="skip", confidence=0.8, resamples=200, seed=7)
    counted = table.hits.n_relevant > 0
    values = np.stack([table.values[name][counted] for name in measure_names((1, 3))], axis=1)
    expected = mean_intervals(values, confidence=0.8, resamples=200, seed=7)
    assert expected is not None
    assert result.interval is not None
    assert list(result.interval.values()) == list(zip(expected.low.tolist(), expected.high.tolist(), strict=True))
    assert result.settings == {
        "empty": "skip", "k": [1, 3], "confidence": 0.8, "resamples": 200, "seed": 7,
        "interval_method": "Gaffke bounds",
    }  # fmt: skip


def test_without_candidates() -> None:
    """Chance is undefined, unknown titles cannot be told, the rest stays."""
    result = score(RANKINGS, RELEVANT, k=1)
    assert (result.chance, result.n_unknown, result.n_unreachable) == (None, 0, 0)
    assert result.values["mrr"] == pytest.approx(1.75 / 5)


def test_without_intervals() -> None:
    """No interval, no resampling settings; the standard error stays."""
    result = score(RANKINGS, RELEVANT, POOLS, k=1, confidence=None)
    assert result.interval is None
    assert result.settings == {"empty": "zero", "k": [1], "confidence": None}
    assert result.se is not None


def test_many_threads() -> None:
    """The result says that the interval is the normal one."""
    n = LARGE_SAMPLE + 1
    result = score([["A"], *[["B", "A"]] * (n - 1)], [["A"]] * n, [POOL] * n, k=1)
    assert result.settings["interval_method"] == "normal"
    assert result.interval is not None
    assert result.interval["mrr"][0] >= 0.5


@pytest.mark.parametrize("empty", ["zero", "skip"])
@pytest.mark.parametrize("threads", [slice(0, 5), slice(0, 1), slice(4, 5), slice(3, 5)])
def test_json(threads: slice, empty: Any) -> None:
    """Plain types and no NaN, for many threads, one, none left, none answered; every table has the same keys."""
    result = score(
        RANKINGS[threads], RELEVANT[threads], POOLS[threads], k=[1, 2], empty=empty, groups={"genre": GENRES[threads]}
    )
    found = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    names = measure_names((1, 2))
    assert list(found)[: len(names)] == names
    for key in ("chance", "ceiling", "se", "interval"):
        assert found[key] is None or list(found[key]) == names
    counts = ["n", "n_empty", "n_missing", "n_unknown", "n_duplicate", "n_unreachable"]
    for group in found["by_genre"].values():
        assert list(group) == [
            *names, *counts, "chance", "ceiling", "se", "interval", "interval_reason", "verdict", "verdict_n"
        ]  # fmt: skip
        assert group["interval"] is None
        assert "an interval needs at least 5" in group["interval_reason"]
        assert list(group["verdict"]) == names
    assert found["empty"] == empty
    assert found["k"] == [1, 2]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rankings": [], "references": [], "candidates": []}, "no threads to score"),
        ({"references": [["A"]]}, "one entry per thread"),
        ({"empty": "drop"}, 'empty must be "zero" or "skip", found \'drop\''),
        ({"groups": {"genre": ["Jazz"]}}, "grouping 'genre' has 1 labels, expected one per thread"),
        ({"k": 0}, "k must be positive integers, found 0"),
        ({"confidence": 95}, "confidence must be between 0 and 1, found 95"),
        ({"rankings": ["AB", "A"]}, r"rankings\[0\] is 'AB'"),
    ],
)
def test_wrong_input(changed: dict[str, Any], said: str) -> None:
    """Refused in words."""
    arguments: dict[str, Any] = {"rankings": [["A"], ["B"]], "references": [["A"], ["B"]], "candidates": [POOL, POOL]}
    with pytest.raises(ValueError, match=said):
        score(**arguments | changed)


@pytest.mark.upstream
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("with_pools", [True, False])
def test_published_file(
    system: str,
    convention: str,
    with_pools: bool,
    upstream_rows: list[dict[str, Any]],
    reference_metrics: dict[str, Any],
) -> None:
    """Both systems, both conventions, all genres, chance: the values of independent libraries to 1e-9."""
    references = references_of(upstream_rows)
    settings: dict[str, Any] = {"empty": CONVENTIONS[convention], "resamples": 100}
    result = score(
        SYSTEMS[system](upstream_rows),
        references.ground_truth,
        references.candidates if with_pools else None,
        groups={"genre": references.groups["genre"]},
        **settings,
    )
    if with_pools:
        check_reference(result.to_dict(), reference_metrics, system, convention)
        assert (result.n_unknown, result.n_duplicate, result.n_missing, result.n_unreachable) == (0, 0, 0, 0)
        assert result.n_empty == 5
    else:
        expected = reference_metrics[system][convention]["overall"]
        found = {name: result.values[name] for name in expected if name != "n"}
        assert found == pytest.approx({n: v for n, v in expected.items() if n != "n"}, abs=1e-9, rel=0)


@pytest.mark.upstream
def test_published_threads(upstream_rows: list[dict[str, Any]], upstream_file: Any) -> None:
    """Every measure of every thread and its chance level, to 1e-9."""
    import csv

    path = upstream_file.parent.parent / "reference" / "reference_per_row.csv"
    if not path.is_file():
        pytest.skip(f"no {path.name} beside the authors' file")
    with path.open(encoding="utf-8") as lines:
        expected = list(csv.DictReader(lines))
    references = references_of(upstream_rows)
    assert [row["name"] for row in expected] == list(references.thread_ids)
    for system, rank in SYSTEMS.items():
        table = thread_table(
            hits_from_strings(rank(upstream_rows), references.ground_truth, references.candidates), (1, 5, 10, 20)
        )
        for name in ("mrr", *(f"{measure}@{k}" for measure in ("recall", "ndcg") for k in table.k)):
            assert table.chance is not None
            for source, found in ((system, table.values), ("chance_exact", table.chance)):
                column = [float(row[f"{source}:{name}"]) for row in expected]
                assert found[name] == pytest.approx(np.array(column), abs=1e-9, rel=0), (source, name)
