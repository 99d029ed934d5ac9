"""What the tests of this room share: small references, dataset folders, reference values, and the command line."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from musicrs_metric import cli
from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT, MACRO_OF_GENRE
from musicrs_metric.runs.references import References

Row = Mapping[str, Any]

# Two threads of the same pool size and one whose ground truth is empty; made up.
TINY: list[dict[str, Any]] = [
    {
        "name": "t3_a",
        "source_subreddit": "jazz",
        "final_candidates": ["Ade", "Bop", "Cool", "Dig"],
        "limited_gt": ["Bop"],
    },
    {
        "name": "t3_b",
        "source_subreddit": "metal",
        "final_candidates": ["Ash", "Bog", "Cog"],
        "limited_gt": ["Cog", "Ash"],
    },
    {"name": "t3_c", "source_subreddit": "jazz", "final_candidates": ["Elm", "Fir"], "limited_gt": []},
]


def references_of(rows: Sequence[Row], name: str = "here") -> References:
    """References from rows with the field names of the authors' file."""
    subreddits = [row["source_subreddit"] for row in rows]
    genres = [GENRE_OF_SUBREDDIT[subreddit] for subreddit in subreddits]
    return References(
        name=name,
        config="query_only",
        thread_ids=[row["name"] for row in rows],
        candidates=[row["final_candidates"] for row in rows],
        ground_truth=[row["limited_gt"] for row in rows],
        groups={"genre": genres, "subreddit": subreddits, "macro": [MACRO_OF_GENRE[genre] for genre in genres]},
    )


def columns_of(references: References) -> dict[str, Any]:
    """The columns of a dataset file that scoring reads."""
    return {
        "thread_id": references.thread_ids,
        "subreddit": references.groups["subreddit"],
        "genre": references.groups["genre"],
        "candidates": references.candidates,
        "ground_truth": references.ground_truth,
    }


def write_repo(folder: Path, columns: Mapping[str, Any]) -> Path:
    """Write columns as the one shard of a dataset on disk; return the directory that a user would name."""
    import pyarrow
    import pyarrow.parquet as parquet

    shard = folder / "musicrs" / "query_only" / "test-00000-of-00001.parquet"
    shard.parent.mkdir(parents=True)
    parquet.write_table(pyarrow.table(dict(columns)), shard)
    return folder


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    """Write a file of JSON lines; text goes in as it is."""
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def file_order(rows: Sequence[Row]) -> list[list[str]]:
    """The pools as they are stored."""
    return [list(row["final_candidates"]) for row in rows]


def popularity(rows: Sequence[Row]) -> list[list[str]]:
    """The paper's popularity: by frequency in the pools of the thread's subreddit, ties by place in the pool."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row["source_subreddit"]].update(row["final_candidates"])
    return [sorted(row["final_candidates"], key=lambda item: -counts[row["source_subreddit"]][item]) for row in rows]


# The names under which the reference values hold the two systems.
SYSTEMS: dict[str, Callable[[Sequence[Row]], list[list[str]]]] = {
    "file_order": file_order,
    "subreddit_popularity": popularity,
}
CONVENTIONS = {"P": "zero", "S": "skip"}


def check_reference(result: Mapping[str, Any], reference: Mapping[str, Any], system: str, convention: str) -> None:
    """Compare a result in JSON types, grouped by genre, with the independent values: scores and chance, to 1e-9."""
    for source, pick in ((system, lambda found: found), ("chance_exact", lambda found: found["chance"])):
        expected = reference[source][convention]
        assert _all(result, pick, expected["overall"])
        assert set(result["by_genre"]) == set(expected["per_genre"])
        for genre, values in expected["per_genre"].items():
            assert _all(result["by_genre"][genre], pick, values)


def _all(found: Mapping[str, Any], pick: Callable[[Any], Any], expected: Mapping[str, float]) -> bool:
    assert found["n"] == expected["n"]
    names = [name for name in expected if name != "n"]
    assert len(names) == 9
    return {name: pick(found)[name] for name in names} == pytest.approx(
        {name: expected[name] for name in names}, abs=1e-9, rel=0
    )


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def run_cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Outcome:
    """Run the front door of the metric in this process."""
    monkeypatch.setattr(sys, "argv", ["musicrs-metric", *map(str, arguments)])
    capsys.readouterr()
    try:
        cli.main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return Outcome(code, captured.out, captured.err)
