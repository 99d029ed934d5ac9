"""Statistics of a dataset, against counts by hand and the reference of the published file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from musicrs_dataset.describe import Audio, Frequency, Links, Share, Titles, describe

from .support import TINY, read_upstream, with_clips


def test_counts_by_hand() -> None:
    """Four threads, counted with a pencil."""
    about = describe([with_clips(TINY[0], b"1", b"2"), *TINY[1:]])
    assert about.threads == 4
    assert about.genres == {"Metal": Share(1, 0.25), "Indie": Share(1, 0.25), "Jazz": Share(2, 0.5)}
    assert about.macro_genres == {"IM": Share(2, 0.5), "AE": Share(2, 0.5)}
    assert list(about.subreddits) == ["jazz", "metal", "postrock"]
    assert about.candidates == Titles(13, 11)  # Ash and Elm stand in two pools
    assert about.ground_truth == Titles(4, 4)
    assert about.comments == 8
    assert about.pool_sizes == {2: 1, 3: 1, 4: 2}
    assert about.ground_truth_sizes == {0: 1, 1: 2, 2: 1}
    assert about.query_words == (3.0, 3)
    assert about.links == Links(total=4, distinct=1, with_start=0, most=1, threads_without=0)
    assert about.audio == Audio(clips=2, hours=4 / 3600, threads=1)


def test_chance_by_hand() -> None:
    """In a pool of two with one right answer a random order has MRR 3/4 and recall@20 1."""
    about = describe([TINY[2]])
    assert about.chance["mrr"] == pytest.approx(0.75)
    assert about.chance["recall@20"] == pytest.approx(1.0)


def test_pool_frequency_by_hand() -> None:
    """Elm is right in one jazz thread and stands in the other's pool; Birch and Fir stand nowhere else."""
    assert describe(TINY[:2]).pool_frequency == Frequency(right=1 / 3, wrong=3 / 5)


def test_json() -> None:
    """The description is plain JSON."""
    assert json.loads(json.dumps(describe(TINY).to_dict()))["genres"]["Jazz"] == {"threads": 2, "share": 0.5}


def test_published_statistics(
    upstream_file: Path, reference_metrics: dict[str, Any], awkward_rows: dict[str, Any]
) -> None:
    """The counts of the paper and of the reference: titles, shares, sizes, links, chance."""
    about = describe(read_upstream(upstream_file))
    assert (about.threads, about.ground_truth.distinct, about.candidates.distinct) == (477, 3589, 6351)
    assert about.candidates.total == 46_466
    assert {name: share.threads for name, share in about.genres.items()} == {
        "Classical": 123, "Hip-Hop": 100, "Pop": 45, "Electronic": 56, "Metal": 49, "Indie": 61, "Jazz": 43,
    }  # fmt: skip
    assert {name: share.threads for name, share in about.macro_genres.items()} == {"MM": 145, "IM": 166, "AE": 166}
    assert {str(size): n for size, n in about.pool_sizes.items()} == awkward_rows["pool_sizes"]["hist"]
    assert {str(size): n for size, n in about.ground_truth_sizes.items()} == awkward_rows["gt_sizes"]["hist"]
    assert about.links == Links(total=1277, distinct=1253, with_start=70, most=20, threads_without=0)
    assert about.comments == awkward_rows["text"]["comments"]
    expected = reference_metrics["chance_exact"]["P"]["overall"]
    assert about.chance == pytest.approx({name: expected[name] for name in ("recall@20", "ndcg@20", "mrr")}, abs=1e-9)
