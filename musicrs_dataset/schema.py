"""Columns of each configuration, and the conversion of a `Thread` to a row and back.

Column types are written as plain JSON, as the `datasets` library stores them in Parquet metadata. They use the form
that versions 3.6 to 5.x all read: `Sequence` (never `List`), a list of one for lists of structs, `Audio` without extra
keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from musicrs_metric.errors import UserError

from .records import Clip, Comment, Entities, Link, Thread

CLIP_RATE = 48_000  # Hz; the highest rate that audio models of the field use
DEFAULT_CONFIG = "audio_query"
VERSION = "1.0.0"  # version of the columns; hashes identify the content
SPLIT = "test"

Row = dict[str, Any]
Feature = dict[str, Any] | list[Any]


@dataclass(frozen=True)
class Config:
    """A configuration of the `datasets` library: one input of the task.

    Attributes:
        name: Name for `load_dataset("musicrs", name)`.
        with_text: True if it has the query and the post.
        with_audio: True if it has clips.
        summary: One line for the card.
    """

    name: str
    with_text: bool
    with_audio: bool
    summary: str


CONFIGS = {
    config.name: config
    for config in (
        Config("audio_query", True, True, "the query as text, and clips of the linked videos"),
        Config("query_only", True, False, "the query as text"),
        Config("audio_only", False, True, "clips of the linked videos"),
    )
}


def base_config(name: str) -> Config:
    """Find the published configuration with the columns of a configuration.

    Args:
        name: Name of a published configuration, perhaps followed by the name of other pools: `query_only_balanced`.

    Returns:
        The published configuration.

    Raises:
        UserError: The name has another form.
    """
    for config in CONFIGS.values():
        if name == config.name or name.startswith(f"{config.name}_"):
            return config
    raise UserError(
        f"configuration {name!r}: expected {', '.join(CONFIGS)}, or one of them with `_` and a name of pools"
    )


_STRING: Feature = {"dtype": "string", "_type": "Value"}
_NUMBER: Feature = {"dtype": "float64", "_type": "Value"}
_STRINGS: Feature = {"feature": _STRING, "_type": "Sequence"}
_ENTITIES: Feature = {"songs": _STRINGS, "artists": _STRINGS, "albums": _STRINGS}
_AUDIO: Feature = {"sampling_rate": CLIP_RATE, "_type": "Audio"}
_CLIP_INFO: dict[str, Feature] = {
    "video_id": _STRING,
    "start_s": _NUMBER,
    "duration_s": _NUMBER,
    "rms_dbfs": _NUMBER,
    "sha256": _STRING,
}
_TEXT_COLUMNS = ("query", "post", "submission_entities")
_AUDIO_COLUMNS = ("clips", "clip_info")
_COLUMNS: dict[str, Feature] = {
    "thread_id": _STRING,
    "subreddit": _STRING,
    "genre": _STRING,
    "query": _STRING,
    "post": _STRING,
    "submission_entities": _STRINGS,
    "comments": [{"id": _STRING, "score": _NUMBER, "entities": _ENTITIES}],
    "candidates": _STRINGS,
    "ground_truth": _STRINGS,
    "all_entities": _STRINGS,
    "links": [{"video_id": _STRING, "start_s": _NUMBER, "url": _STRING, "status": _STRING}],
    "clips": {"feature": _AUDIO, "_type": "Sequence"},
    "clip_info": [_CLIP_INFO],
}


def features(config: Config, columns: Sequence[str] = ()) -> dict[str, Feature]:
    """Return the column types of a configuration, for `datasets.Features.from_dict`.

    Args:
        config: The configuration.
        columns: Further columns of the corpus; they hold text.

    Returns:
        Column name to type, in column order.
    """
    hidden = {*(() if config.with_text else _TEXT_COLUMNS), *(() if config.with_audio else _AUDIO_COLUMNS)}
    standard = {name: feature for name, feature in _COLUMNS.items() if name not in hidden}
    return standard | dict.fromkeys(columns, _STRING)


def arrow_schema(config: Config, columns: Sequence[str] = ()) -> Any:
    """Return the columns as a `pyarrow.Schema`, with the metadata from which `datasets` reads the audio column.

    Args:
        config: The configuration.
        columns: Further columns of the corpus.

    Returns:
        The schema of its Parquet files.
    """
    import json

    import pyarrow

    types = features(config, columns)
    metadata = {"huggingface": json.dumps({"info": {"features": types}})}
    return pyarrow.schema([(name, _arrow_type(feature)) for name, feature in types.items()], metadata=metadata)


def _arrow_type(feature: Feature) -> Any:
    import pyarrow

    if isinstance(feature, list):
        return pyarrow.list_(_arrow_type(feature[0]))
    match feature.get("_type"):
        case "Value":
            return pyarrow.type_for_alias(feature["dtype"])
        case "Sequence":
            return pyarrow.list_(_arrow_type(feature["feature"]))
        case "Audio":
            return pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})
    return pyarrow.struct({name: _arrow_type(inner) for name, inner in feature.items()})


def to_row(thread: Thread, config: Config) -> Row:
    """Convert a thread to a row.

    Args:
        thread: The thread; without clips, its list of clips is empty.
        config: Configuration with the columns of the row.

    Returns:
        Column name to value, audio as `{"bytes", "path"}`.
    """
    clips = thread.clips or ()
    row: Row = {
        "thread_id": thread.thread_id,
        "subreddit": thread.subreddit,
        "genre": thread.genre,
        "query": thread.query,
        "post": thread.post,
        "submission_entities": list(thread.submission_entities),
        "comments": [asdict(comment) for comment in thread.comments],
        "candidates": list(thread.candidates),
        "ground_truth": list(thread.ground_truth),
        "all_entities": list(thread.all_entities),
        "links": [asdict(link) for link in thread.links],
        "clips": [{"bytes": clip.audio, "path": clip.name} for clip in clips],
        "clip_info": [{name: getattr(clip, name) for name in _CLIP_INFO} for clip in clips],
    }
    return {name: row[name] for name in features(config)} | dict(thread.columns)


def from_row(row: Mapping[str, Any]) -> Thread:
    """Convert a row of any configuration to a thread.

    Args:
        row: Column name to value, audio undecoded as `{"bytes", "path"}`. Without the column `clips`, the clips have no
            bytes.

    Returns:
        The thread; columns that the configuration lacks are None or empty.
    """
    clips = None
    if "clip_info" in row:
        unread = {"bytes": b"", "path": ""}
        files = row["clips"] if "clips" in row else [unread] * len(row["clip_info"])
        pairs = zip(files, row["clip_info"], strict=True)
        clips = tuple(Clip(audio=file["bytes"], name=file["path"], **info) for file, info in pairs)
    return Thread(
        thread_id=row["thread_id"],
        subreddit=row["subreddit"],
        genre=row["genre"],
        query=row.get("query"),
        post=row.get("post"),
        submission_entities=tuple(row.get("submission_entities") or ()),
        comments=tuple(
            Comment(comment["id"], comment["score"], Entities(**{k: tuple(v) for k, v in comment["entities"].items()}))
            for comment in row["comments"]
        ),
        candidates=tuple(row["candidates"]),
        ground_truth=tuple(row["ground_truth"]),
        all_entities=tuple(row["all_entities"]),
        links=tuple(Link(**link) for link in row["links"]),
        clips=clips,
        columns=tuple((name, row[name] or "") for name in row if name not in _COLUMNS),
    )
