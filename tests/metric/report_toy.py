"""A dataset of six threads and three runs on it, small enough to be scored by hand, with texts that mean mischief."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from musicrs_metric.runs.references import fingerprint

ATTACK = '<img src="http://evil.example/x.png" onerror="alert(1)">'
NAME = 'Ears <b>&"2|x"</b> $a_b$'
CLIP = b"RIFF not really a sound"

SUBREDDITS = ["jazz", "jazz", "metal", "metal", "popheads", "popheads"]
POOL_SIZE = 40

Ranks = Sequence[tuple[int, int]]

# At which ranks a run puts the two right answers of each thread.
QUERY_RANKS: Ranks = [(1, 2), (1, 30), (25, 30), (1, 2), (1, 2), (30, 31)]  # recall@20: 1, .5, 0, 1, 1, 0
BOTH_RANKS: Ranks = [(1, 2), (1, 2), (3, 30), (1, 2), (1, 2), (30, 31)]  # recall@20: 1, 1, .5, 1, 1, 0
COUNT_RANKS: Ranks = [(30, 31)] * 6  # recall@20: 0


class Toy(NamedTuple):
    """Where the toy lies."""

    dataset: Path
    query: Path
    both: Path
    counts: Path

    @property
    def runs(self) -> list[Path]:
        return [self.query, self.both, self.counts]


def toy_rows() -> list[dict[str, Any]]:
    """The six threads."""
    return [_row(i, subreddit) for i, subreddit in enumerate(SUBREDDITS)]


def write_toy(folder: Path) -> Toy:
    """Write dataset and runs."""
    rows = toy_rows()
    _write_config(folder, "audio_query", rows)
    without_audio = [{k: v for k, v in row.items() if k not in ("clips", "clip_info")} for row in rows]
    _write_config(folder, "query_only", without_audio)
    return Toy(
        folder / "D",
        write_run(folder / "query", rows, QUERY_RANKS, name=NAME),
        write_run(folder / "both", rows, BOTH_RANKS, name=NAME, modality="audio_query", no_audio=[5]),
        write_run(folder / "counts", rows, COUNT_RANKS, name="Counts", paradigm="traditional", reads="pools"),
    )


def write_run(
    folder: Path,
    rows: Sequence[dict[str, Any]],
    ranks: Ranks,
    *,
    name: str,
    paradigm: str = "retrieval",
    modality: str = "query_only",
    reads: str = "thread",
    no_audio: Sequence[int] = (),
) -> Path:
    """Write a run folder whose rankings have the right answers at the given ranks."""
    folder.mkdir()
    digest = fingerprint((row["thread_id"], row["candidates"], row["ground_truth"]) for row in rows)
    card = {
        "name": name, "paradigm": paradigm, "modality": modality, "reads": reads,
        "dataset": "D", "config": modality, "fingerprint": digest,
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(card), encoding="utf-8")
    lines = [
        {
            "thread_id": row["thread_id"],
            "ranking": _ranking(row, places),
            "outcome": "no_audio" if i in no_audio else "ok",
        }
        for i, (row, places) in enumerate(zip(rows, ranks, strict=True))
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "predictions.jsonl").write_text(text, encoding="utf-8")
    return folder


def _ranking(row: dict[str, Any], ranks: tuple[int, int]) -> list[str]:
    wrong = [title for title in row["candidates"] if title not in row["ground_truth"]]
    for title, rank in zip(row["ground_truth"], ranks, strict=True):
        wrong.insert(rank - 1, title)
    return wrong


def _row(i: int, subreddit: str) -> dict[str, Any]:
    titles = [f"{subreddit} {place} of | {i}" for place in range(POOL_SIZE)]
    if i == 0:
        titles[7] = ATTACK
    return {
        "thread_id": f"t3_{i}",
        "subreddit": subreddit,
        "genre": {"jazz": "Jazz", "metal": "Metal", "popheads": "Pop"}[subreddit],
        "query": f"What is like this? {ATTACK}\n| and *more*",
        "submission_entities": ["One", "Two"],
        "comments": [{"id": f"t1_{i}{j}"} for j in range(i + 1)],
        "candidates": titles,
        "ground_truth": titles[4:6],
        "all_entities": titles[4:6],
        "links": [
            {"video_id": "dQw4w9WgXcQ", "start_s": 43.0},
            {"video_id": "javascript:alert(1)", "start_s": 0.0},
        ],
        "clips": [{"bytes": CLIP, "path": "a.flac"}, {"bytes": bytes(2_000_000), "path": "b.flac"}],
        "clip_info": [
            {"video_id": "dQw4w9WgXcQ", "start_s": 43.0, "duration_s": 12.5},
            {"video_id": "dQw4w9WgXcQ", "start_s": 60.0, "duration_s": 12.5},
        ],
    }


def _write_config(folder: Path, config: str, rows: Sequence[dict[str, Any]]) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    shard = folder / "D" / "musicrs" / config / "test-00000-of-00001.parquet"
    shard.parent.mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), shard)
