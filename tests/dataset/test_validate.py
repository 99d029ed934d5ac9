"""What is missing, invalid or odd: found by name and count, each fault planted by hand."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import soundfile

from musicrs_dataset.checks import Finding, invalid_rows, leftover_entities, suspicious_rows
from musicrs_dataset.pools.files import NamedPools
from musicrs_dataset.records import Link, Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.validate import validate
from musicrs_metric.errors import UserError

from .support import ABOUT, TINY, thread, with_clips

SHARD = "test-00000-of-00001.parquet"


def names(findings: Iterable[Finding]) -> dict[str, int]:
    return {finding.name: finding.count for finding in findings}


def change_rows(dataset: Path, config: str, change: dict[str, Any]) -> None:
    """Give every row of a built configuration other values."""
    shard = dataset / "musicrs" / config / SHARD
    table = pyarrow.parquet.read_table(shard)
    rows = [{**row, **change} for row in table.to_pylist()]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=table.schema), shard)


def test_a_built_dataset_is_valid(tiny: Path) -> None:
    """Nothing is missing or invalid; what is odd about the tiny threads is told once, not once per configuration."""
    found = validate(tiny)
    assert found.is_valid
    assert found.rows == {"audio_only": 4, "audio_query": 4, "query_only": 4}
    assert names(found.odd) == {"empty_ground_truth": 1, "uneven_pool": 2, "shared_video": 1, "no_audio": 4}


@pytest.mark.parametrize(
    ("changes", "name", "count"),
    [
        ({"ground_truth": ("Oak", "Yew", "Elm")}, "ground_truth_outside_pool", 2),
        ({"ground_truth": ("Elm", "Elm")}, "repeated_ground_truth", 1),
        ({"candidates": ("Birch", "Elm", "Elm", "Elm")}, "repeated_candidate", 2),
        ({"candidates": ("Birch", "Elm", "", ' " ', "\n")}, "blank_candidate", 3),
        ({"candidates": (), "ground_truth": ()}, "empty_pool", 1),
        ({"genre": "hip hop"}, "unknown_genre", 1),
        ({"thread_id": ""}, "no_id", 1),
    ],
)
def test_invalid_row(changes: dict[str, Any], name: str, count: int) -> None:
    """Each fault that a row can have is found alone, with its thread."""
    broken = replace(TINY[0], **changes)
    [finding] = invalid_rows([broken, *TINY[1:]])
    assert (finding.name, finding.count, finding.where) == (name, count, (broken.thread_id,))


def test_repeated_id() -> None:
    """Every thread of a repeated id counts."""
    [finding] = invalid_rows([*TINY, TINY[1]])
    assert (finding.name, finding.count, finding.where) == ("duplicate_id", 2, ("t3_b",))


ODD = thread("t3_o", "jazz", "Jazz", "Ash Birch Cedar Elm", "Birch")


@pytest.mark.parametrize(
    ("changes", "name", "count"),
    [
        ({"ground_truth": (), "all_entities": ()}, "empty_ground_truth", 1),
        ({"candidates": ("Birch", "Ash")}, "uneven_pool", 1),
        ({"candidates": ("Birch", "Ash", '"ash"', "ASH ")}, "collision", 2),
        ({"all_entities": ("Birch", "cedar", "Cedar", '"Elm"', "Oak")}, "leftover_true_entity", 2),
        ({"submission_entities": ("Cedar", "Oak")}, "asked_entity_in_pool", 1),
        ({"links": ()}, "no_link", 1),
        ({"links": (Link("jNQXAC9IVRw", 0.0, "https://youtu.be/jNQXAC9IVRw:"),)}, "repaired_link", 1),
        ({"links": tuple(Link("B", start, "https://youtu.be/B") for start in (0.0, 9.0))}, "repeated_video", 1),
    ],
)
def test_odd_row(changes: dict[str, Any], name: str, count: int) -> None:
    """Each oddity is found alone, with its thread."""
    ordinary = [
        replace(ODD, thread_id=f"t3_{i}", links=(Link(f"V{i}", 0.0, f"https://youtu.be/V{i}"),)) for i in range(3)
    ]
    [finding] = suspicious_rows([*ordinary, replace(ODD, **changes)])
    assert (finding.name, finding.count, finding.where) == (name, count, ("t3_o",))


def test_leftover_entities_are_named_as_the_replies_name_them() -> None:
    """Of several spellings the first is given, and one that is right is not left over."""
    odd = replace(ODD, all_entities=("birch ", "cedar", "Cedar"))
    assert leftover_entities(odd) == ["cedar"]


def test_missing_and_stray_files(tiny: Path) -> None:
    """A file that the manifest lists and one that it does not know are named."""
    folder = tiny / "musicrs" / "query_only"
    (folder / SHARD).rename(folder / "test-00001-of-00002.parquet")
    (tiny / "musicrs" / "README.md").unlink()
    found = validate(tiny)
    assert not found.is_valid
    assert [finding.where for finding in found.missing] == [("README.md", f"query_only/{SHARD}")]
    assert [(finding.name, finding.where) for finding in found.invalid] == [
        ("stray_file", ("query_only/test-00001-of-00002.parquet",))
    ]


def test_cut_file(tiny: Path) -> None:
    """A shard that was cut off is changed and unreadable; the other configurations are still checked."""
    shard = tiny / "musicrs" / "query_only" / SHARD
    shard.write_bytes(shard.read_bytes()[:-50])
    found = validate(tiny)
    assert names(found.invalid) == {"changed_file": 1, "unreadable": 1}
    assert set(found.rows) == {"audio_query", "audio_only"}


def test_configurations_that_disagree(tiny: Path) -> None:
    """Labels changed in one configuration alone are noticed."""
    change_rows(tiny, "query_only", {"ground_truth": []})
    assert {"disagreement", "changed_file"} <= set(names(validate(tiny).invalid))


def test_missing_request(tiny: Path) -> None:
    """A configuration with text needs a request in every row."""
    change_rows(tiny, "query_only", {"query": None})
    assert names(validate(tiny).invalid)["no_query"] == 4


def test_unknown_configuration(tiny: Path) -> None:
    """A folder of data under a name that is no configuration is told."""
    shutil.copytree(tiny / "musicrs" / "query_only", tiny / "musicrs" / "queries")
    found = validate(tiny)
    assert names(found.invalid) == {"stray_file": 1, "unreadable": 1}


def test_further_pools_are_told_apart(tmp_path: Path) -> None:
    """What is odd about other pools bears their name; what holds whatever the pools is told once."""
    pools = {each.thread_id: (*each.candidates, "ash", "Ash ")[-4:] for each in TINY}
    pools |= {each.thread_id: (*each.ground_truth, "ash", "Ash ") for each in TINY}
    build(TINY, tmp_path, about=ABOUT, pools=[NamedPools("other", pools)])
    odd = names(validate(tmp_path).odd)
    assert odd["collision@other"] == 4
    assert "collision" not in odd
    assert odd["empty_ground_truth"] == 1
    assert "empty_ground_truth@other" not in odd


def test_broken_manifest(tiny: Path) -> None:
    """A manifest that is none is refused in one line."""
    (tiny / "musicrs" / "manifest.json").write_text('{"configs": []}', encoding="utf-8")
    with pytest.raises(UserError, match=r"manifest\.json: not the manifest of a build"):
        validate(tiny)


def flac(seconds: float, rate: int, channels: int = 1) -> bytes:
    packed = io.BytesIO()
    soundfile.write(packed, np.zeros((int(seconds * rate), channels)), rate, format="FLAC")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("sound", "is_valid"),
    [
        (flac(2, 48_000), True),
        (flac(1, 48_000), False),
        (flac(2, 44_100), False),
        (flac(2, 48_000, 2), False),
        (b"no sound", False),
    ],
)
def test_clips_are_decoded_on_request(tmp_path: Path, sound: bytes, is_valid: bool) -> None:
    """A clip must be mono, at the one rate, and as long as it says (2 s here); by default it is not looked at."""
    build([with_clips(TINY[0], sound)], tmp_path, about=ABOUT)
    assert validate(tmp_path).is_valid
    assert validate(tmp_path, clips=True).is_valid is is_valid


def test_published_oddities(published: Path, awkward_rows: dict[str, Any]) -> None:
    """The odd rows of the published file, by count and by thread, as counted independently."""
    found = validate(published)
    assert found.is_valid
    odd = {finding.name: finding for finding in found.odd}
    threads = [each.thread_id for each in _threads(published)]
    rows = {name: [threads.index(thread_id) for thread_id in finding.where] for name, finding in odd.items()}
    assert rows["empty_ground_truth"] == awkward_rows["empty_limited_gt"]["rows"]
    leftover = awkward_rows["leftover_true_entities_as_distractors"]
    assert (odd["leftover_true_entity"].count, rows["leftover_true_entity"]) == (326, leftover["row_ids"])
    collisions = awkward_rows["collisions_after_paper_normalisation"]["rows"]
    assert [str(row) for row in rows["collision"]] == list(collisions)
    assert odd["uneven_pool"].count == awkward_rows["pool_sizes"]["rows_under_100"]
    assert odd["repaired_link"].count == 107
    assert odd["shared_video"].count == awkward_rows["videos_shared_by_rows"]["count"]
    assert rows["repeated_video"] == [int(row) for row in awkward_rows["same_video_twice_in_row"]]
    assert rows["asked_entity_in_pool"] == awkward_rows["submission_entity_in_pool"]
    assert json.loads(json.dumps(found.to_dict()))["is_valid"] is True


def _threads(dataset: Path) -> list[Thread]:
    from musicrs_dataset.loading import load_threads

    return load_threads(dataset)
