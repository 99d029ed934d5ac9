"""Columns per configuration, and the way from thread to row and back."""

from __future__ import annotations

import json
from dataclasses import replace

import datasets
import pyarrow
import pytest

from musicrs_dataset.schema import CONFIGS, Config, arrow_schema, base_config, features, from_row, to_row
from musicrs_metric.errors import UserError

from .support import TINY, with_clips

TEXT = {"query", "post", "submission_entities"}
AUDIO = {"clips", "clip_info"}
LABELS = {"thread_id", "subreddit", "genre", "comments", "candidates", "ground_truth", "all_entities", "links"}

each_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=list(CONFIGS))


@pytest.mark.parametrize(
    ("name", "columns"),
    [("audio_query", LABELS | TEXT | AUDIO), ("query_only", LABELS | TEXT), ("audio_only", LABELS | AUDIO)],
)
def test_columns(name: str, columns: set[str]) -> None:
    """Text is absent where a system is given audio alone, audio where it is given text alone."""
    assert set(features(CONFIGS[name])) == columns


@each_config
def test_datasets_reads_the_same_types(config: Config) -> None:
    """The types that `datasets` makes of the features are those of the Parquet files."""
    types = datasets.Features.from_dict(features(config))
    assert types.arrow_schema.equals(arrow_schema(config))


@each_config
def test_metadata_is_for_old_readers_too(config: Config) -> None:
    """The metadata knows no `List`, which `datasets` 3.6 does not, and nothing of `Audio` but its rate."""
    metadata = arrow_schema(config).metadata[b"huggingface"].decode()
    assert '"List"' not in metadata
    clips = json.loads(metadata)["info"]["features"].get("clips")
    assert clips in (None, {"feature": {"sampling_rate": 48000, "_type": "Audio"}, "_type": "Sequence"})


@each_config
def test_round_trip(config: Config) -> None:
    """A thread written and read back is itself, but for what its configuration hides."""
    thread = with_clips(TINY[0], b"one", b"two")
    seen = thread if config.with_audio else replace(thread, clips=None)
    seen = seen if config.with_text else replace(seen, query=None, post=None, submission_entities=())
    [row] = pyarrow.Table.from_pylist([to_row(thread, config)], schema=arrow_schema(config)).to_pylist()
    assert from_row(row) == seen


def test_clips_may_be_left_out() -> None:
    """A row read without its audio column still tells which clips there are."""
    row = to_row(with_clips(TINY[0], b"one"), CONFIGS["audio_only"])
    del row["clips"]
    [clip] = from_row(row).clips or ()
    assert (clip.audio, clip.video_id, clip.duration_s) == (b"", "AAAAAAAAAA0", 2.0)


def test_base_config() -> None:
    """A configuration with other pools has the columns of the one it is named after; another name is refused."""
    assert base_config("query_only_balanced") is CONFIGS["query_only"]
    with pytest.raises(UserError, match="'queries': expected audio_query, query_only, audio_only"):
        base_config("queries")
