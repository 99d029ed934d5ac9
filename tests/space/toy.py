"""Small data made by hand, and submissions to it."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from musicrs_metric.base.genres import MACRO_OF_GENRE
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.references import References
from musicrs_metric.runs.run_card import RunCard
from space.board.data import LeaderboardData, PoolDesign
from space.intake import SubmissionForm
from space.store.files import key_of, sorted_predictions
from space.submission import Submission

POOLS = {
    "t3_a": ("Jazz", "Ash Birch Cedar Elm", "Birch Elm"),
    "t3_b": ("Jazz", "Elm Fir Ash Gorse", "Fir"),
    "t3_c": ("Jazz", "Hazel Ivy", ""),
    "t3_d": ("Metal", "Juniper Kerria Larch Maple Nettle", "Maple"),
    "t3_e": ("Metal", "Oak Pine Quince Rowan", "Rowan Oak"),
    "t3_f": ("Metal", "Sloe Thyme Ulex Viburnum Willow", "Willow"),
}
"""Thread to genre, pool and ground truth."""

FORM = SubmissionForm(name="Toy system", modality="query_only", paradigm="retrieval", reads="thread")


def references(pools: Mapping[str, tuple[str, str, str]] = POOLS, config: str = "query_only") -> References:
    """References from a table such as `POOLS`."""
    genres = [genre for genre, _, _ in pools.values()]
    return References(
        name="toy",
        config=config,
        thread_ids=list(pools),
        candidates=[pool.split() for _, pool, _ in pools.values()],
        ground_truth=[right.split() for _, _, right in pools.values()],
        groups={
            "genre": genres,
            "subreddit": [genre.lower() for genre in genres],
            "macro": [MACRO_OF_GENRE[genre] for genre in genres],
        },
    )


def toy_data() -> LeaderboardData:
    """The pools as published, and a design in which each has one candidate more."""
    wider = {thread: (genre, f"{pool} Yew", right) for thread, (genre, pool, right) in POOLS.items()}
    designs = (
        PoolDesign("published", references(), ("query_only",)),
        PoolDesign("wider", references(wider, "query_only_wider"), ("query_only_wider",)),
    )
    return LeaderboardData("toy", designs)


def ranked(seed: int = 0, design: PoolDesign | None = None, skill: float = 0.0) -> list[Prediction]:
    """Pools in random order; with `skill` from 0 to 1, relevant titles move up."""
    labels = references() if design is None else design.references
    rng = random.Random(seed)
    made = []
    for thread, pool, right in zip(labels.thread_ids, labels.candidates, labels.ground_truth, strict=True):
        drawn = {title: rng.random() - skill * (title in right) for title in pool}
        made.append(Prediction(thread, tuple(sorted(pool, key=drawn.__getitem__))))
    return made


def lines(predictions: Sequence[Prediction] | None = None) -> list[dict[str, Any]]:
    """Predictions as the objects of a prediction file."""
    rows = ranked() if predictions is None else predictions
    return [{"thread_id": row.thread_id, "ranking": list(row.ranking)} for row in rows]


def jsonl(rows: Sequence[Any]) -> bytes:
    """A prediction file of these objects; text goes in as it is."""
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, file in files.items():
            archive.writestr(name, file)
    return content.getvalue()


def gzipped(content: bytes) -> bytes:
    """The same packed with gzip."""
    return gzip.compress(content)


def bomb(chunk: bytes, times: int, start: bytes = b"") -> bytes:
    """A gzip file from which `chunk` comes out many times; made without holding that in memory."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(start), *(packer.compress(chunk) for _ in range(times)), packer.flush()]
    return b"".join(parts)


def card(design: PoolDesign | None = None, **changes: Any) -> RunCard:
    """A run card for the toy data."""
    values: dict[str, Any] = {
        "name": "Toy system",
        "paradigm": "retrieval",
        "modality": "query_only",
        "dataset": "musicrs",
        "config": "query_only",
        "fingerprint": (references() if design is None else design.references).fingerprint,
        "reads": "thread",
    }
    return RunCard(**values | changes)


def submission(predictions: Sequence[Prediction] | None = None, at: int = 0, **changes: Any) -> Submission:
    """A submission that came in at a given second; `changes` go to its card."""
    made, rows = card(**changes), sorted_predictions(ranked() if predictions is None else predictions)
    return Submission(
        key=key_of(made, rows),
        card=made,
        received_at=f"2026-01-01T00:{at // 60:02d}:{at % 60:02d}.000000+00:00",
        predictions=rows,
    )
