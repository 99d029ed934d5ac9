from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from baselines.run.shards import ShardWriter, in_dataset_order, merge_shards, positions_of, read_shards
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction

IDS = ("q1", "q2", "q3", "q4")
# Two good lines, one of them repeated, one made under another configuration, one cut short by a kill.
PARTIAL = b"""\
{"id": "q1", "ranking": ["A", "B"], "config": "c1"}
{"id": "q2", "ranking": ["B", "A"], "config": "c1"}
{"id": "q1", "ranking": ["A", "B"], "config": "c1"}
{"id": "q4", "ranking": ["A"], "config": "c0"}
{"id": "q3", "ranking": ["A", "C"""


@pytest.mark.parametrize("n", [0, 1, 5, 7, 477])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_position_goes_to_exactly_one_process(n: int, world: int) -> None:
    """Uneven numbers are not padded: no position comes twice, none is left out, and shares differ by one at most."""
    shares = [positions_of(range(n), rank, world) for rank in range(world)]
    assert sorted(position for part in shares for position in part) == list(range(n))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_only_whole_lines_of_the_same_configuration_are_reused(tmp_path: Path) -> None:
    """Of the five lines, q1 and q2 are reused; q3 was cut, q4 belongs to another configuration."""
    (tmp_path / "rank0.jsonl").write_bytes(PARTIAL)
    assert list(read_shards(tmp_path, "c1", IDS).predictions) == ["q1", "q2"]
    assert list(read_shards(tmp_path, "c0", IDS).predictions) == ["q4"]


def test_lines_that_are_not_reused_are_counted_by_reason(tmp_path: Path) -> None:
    """One was cut, one has another configuration, and where q2 is no thread of the dataset, one is foreign."""
    (tmp_path / "rank0.jsonl").write_bytes(PARTIAL)
    assert dict(read_shards(tmp_path, "c1", ["q1", "q3", "q4"]).set_aside) == {
        "cut short or broken": 1,
        "of another configuration": 1,
        "of a thread that the dataset does not have": 1,
    }


def test_the_case_file_is_read_alike(tmp_path: Path, cases: Path) -> None:
    """The same five lines as publicly reported."""
    shutil.copy(cases / "a03_partial_outputs.jsonl", tmp_path / "rank0.jsonl")
    assert list(read_shards(tmp_path, "c1", IDS).predictions) == ["q1", "q2"]


def test_going_on_after_a_kill_leaves_one_whole_line_per_thread(tmp_path: Path) -> None:
    """The cut line is gone before anything is appended: two lines are reused, two computed, in dataset order."""
    (tmp_path / "rank0.jsonl").write_bytes(PARTIAL)
    merge_shards(tmp_path, read_shards(tmp_path, "c1", IDS).predictions.values(), "c1")
    with ShardWriter(tmp_path, 0, "c1") as part:
        part.append([Prediction("q4", ("A",)), Prediction("q3", ("C",))])
    lines = [line for file in tmp_path.glob("*.jsonl") for line in file.read_text().splitlines()]
    assert len(lines) == 4
    assert all(line.endswith("}") for line in lines)
    merged = in_dataset_order(IDS, read_shards(tmp_path, "c1", IDS).predictions)
    assert [p.ranking for p in merged] == [("A", "B"), ("B", "A"), ("C",), ("A",)]


def test_a_kill_while_gathering_loses_nothing(tmp_path: Path) -> None:
    """The gathered file is complete before old parts go; both together still read as one line per thread."""
    (tmp_path / "rank0.jsonl").write_bytes(PARTIAL)
    before = read_shards(tmp_path, "c1", IDS).predictions
    merge_shards(tmp_path, before.values(), "c1")
    (tmp_path / "rank0.jsonl").write_bytes(PARTIAL)  # as if the kill had come before it was removed
    assert read_shards(tmp_path, "c1", IDS).predictions == before


def test_a_missing_thread_is_named() -> None:
    """A run whose other process died is not merged into a shorter file."""
    with pytest.raises(UserError, match="1 thread not finished: q2; run the same command again"):
        in_dataset_order(["q1", "q2"], {"q1": Prediction("q1", ("A",))})


def test_a_part_line_keeps_every_field(tmp_path: Path) -> None:
    """Scores, outcome and number answered survive the part file to the last digit."""
    prediction = Prediction("q1", ("A", "ス"), (0.1 + 0.2, -1e-17), "repaired", 1)
    with ShardWriter(tmp_path, 3, "c1") as part:
        part.append([prediction])
    assert read_shards(tmp_path, "c1", IDS).predictions == {"q1": prediction}
