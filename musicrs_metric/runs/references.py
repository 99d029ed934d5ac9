"""Pools, ground truth and groups of a dataset, read without decoding audio."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base.genres import MACRO_COLUMN, macro_of
from ..base.paths import has_file_suffix, is_repo_name
from ..errors import UserError, show, some

DEFAULT_DATASET = "musicrs"
DEFAULT_CONFIG = "query_only"
_LISTS = ("candidates", "ground_truth")
_COLUMNS = ["thread_id", "subreddit", "genre", *_LISTS]
# The columns of every dataset. Others hold labels of the threads, as texts.
STANDARD_COLUMNS = (
    *_COLUMNS, "query", "post", "submission_entities", "comments", "all_entities", "links", "clips", "clip_info",
)  # fmt: skip
CATALOGUE = "catalogue.jsonl"  # in the folder of a corpus whose systems rank a catalogue


@dataclass(frozen=True)
class References:
    """The labels of a dataset, one entry per thread, in dataset order.

    Attributes:
        name: Name of the dataset, as the user gave it.
        config: Its configuration.
        thread_ids: Reddit names, unique.
        candidates: Pools in stored order.
        ground_truth: Relevant candidates, most upvoted first; may be empty.
        groups: Labels per thread under "genre", "subreddit" and "macro", and under the name of each further column.
    """

    name: str
    config: str
    thread_ids: Sequence[str]
    candidates: Sequence[Sequence[str]]
    ground_truth: Sequence[Sequence[str]]
    groups: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.thread_ids)

    def subset(self, thread_ids: Sequence[str]) -> References:
        """Return the references of some threads, in the order of `thread_ids`; all threads return the same object.

        Raises:
            KeyError: A thread is not in the dataset.
        """
        if len(thread_ids) == len(self):
            return self
        rows = [self.position[thread_id] for thread_id in thread_ids]
        return replace(
            self,
            thread_ids=[self.thread_ids[row] for row in rows],
            candidates=[self.candidates[row] for row in rows],
            ground_truth=[self.ground_truth[row] for row in rows],
            groups={name: [labels[row] for row in rows] for name, labels in self.groups.items()},
        )

    @cached_property
    def position(self) -> dict[str, int]:
        """Return thread id to position in the dataset."""
        return {thread_id: i for i, thread_id in enumerate(self.thread_ids)}

    @cached_property
    def drawn(self) -> dict[object, Any]:
        """Scores of random orders that were drawn already, by their settings."""
        return {}

    @cached_property
    def fingerprint(self) -> str:
        """Return the `fingerprint` of the dataset."""
        return fingerprint(zip(self.thread_ids, self.candidates, self.ground_truth, strict=True))


def fingerprint(threads: Iterable[tuple[str, Sequence[str], Sequence[str]]]) -> str:
    """Hash pools and labels. Runs with equal fingerprints were made on the same data.

    Args:
        threads: (thread_id, candidates, ground_truth), in dataset order.

    Returns:
        sha256, in hexadecimal, over one UTF-8 JSON line with sorted keys per thread.
    """
    digest = hashlib.sha256()
    for thread_id, candidates, ground_truth in threads:
        row = {"thread_id": thread_id, "candidates": list(candidates), "ground_truth": list(ground_truth)}
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def dataset_folder(dataset: str | Path) -> Path | None:
    """Find the repository folder on disk that `dataset` names.

    Args:
        dataset: The directory given to `musicrs_dataset build`, the repo folder inside it, or a dataset name.

    Returns:
        The folder that holds the configurations, or None if `dataset` is a name and not a folder.

    Raises:
        UserError: A path that does not exist or holds no dataset.
    """
    path = Path(dataset).expanduser()
    folder = _repo_folder(path)
    if folder is not None:
        if str(dataset) == DEFAULT_DATASET:  # a folder of that name in this directory may not be the installed dataset
            _refuse_other_folder(folder)
        return folder
    text = str(dataset)
    if path.exists() and text != DEFAULT_DATASET:
        raise UserError(
            f"{path}: no dataset found in it; expected the directory given to `musicrs_dataset build --out`"
        )
    is_name = is_repo_name(text) if "/" in text else not has_file_suffix(text)
    if not is_name or path.is_absolute() or text.startswith((".", "~")) or "\\" in text:
        raise UserError(
            f"{path}: no such directory; build one with `python -m musicrs_dataset build --from ... --out {path}`"
        )
    return None


def _repo_folder(path: Path) -> Path | None:
    """Return the single folder at a path, or in it, that holds configurations."""
    if any(path.glob("*/test-*.parquet")):
        return path
    folders = sorted({shard.parent.parent for shard in path.glob("[!.]*/*/test-*.parquet")})
    if len(folders) > 1:
        names = [folder.name for folder in folders]
        raise UserError(f"{path}: holds {len(names)} datasets ({some(names)}); name one of them, such as {folders[0]}")
    return folders[0] if folders else None


def _refuse_other_folder(folder: Path) -> None:
    from ..base.named_dataset import REFERENCE_COLUMNS, read_installation, refuse_other_rows

    installation = read_installation()
    shared = [config for config in installation.configs if (folder / config).is_dir()] if installation else []
    if installation is not None and not shared:
        raise UserError(
            f"{folder}: has none of the configurations that the name {DEFAULT_DATASET!r} was given "
            f"({some(list(installation.configs))}); write ./{folder} to read it"
        )
    for config in shared[:1]:
        columns = read_folder(folder, config, REFERENCE_COLUMNS)
        refuse_other_rows(columns, config, str(folder))


def load_references(dataset: str | Path = DEFAULT_DATASET, config: str = DEFAULT_CONFIG) -> References:
    """Read pools, ground truth and groups of a dataset.

    Args:
        dataset: A directory (see `dataset_folder`), the installed name "musicrs", or a Hub id.
        config: Configuration; the three published ones hold the same pools and labels.

    Returns:
        The references in dataset order.

    Raises:
        UserError: No such dataset or configuration, or a file that cannot be read.
    """
    folder = dataset_folder(dataset)
    if folder is not None and (folder / CATALOGUE).is_file():
        raise UserError(
            f"{folder}: its systems rank a catalogue, expected a dataset with pools; the commands for a catalogue are "
            "`baselines run`, and `validate`, `card`, `score` and `compare` of musicrs_metric"
        )
    columns = _read_labels(folder, config) if folder is not None else _read_name(str(dataset), config)
    further = {name: columns.pop(name) for name in list(columns) if name not in _COLUMNS}
    _check(str(dataset if folder is None else folder / config), columns)
    groups = {"genre": columns["genre"], "subreddit": columns["subreddit"]}
    labels = {name: ["" if label is None else str(label) for label in column] for name, column in further.items()}
    stated = labels.get(MACRO_COLUMN, [""] * len(columns["genre"]))
    groups["macro"] = list(map(macro_of, columns["genre"], stated))
    groups |= labels
    return References(
        str(dataset), config, columns["thread_id"], columns["candidates"], columns["ground_truth"], groups
    )


def _check(place: str, columns: dict[str, list[Any]]) -> None:
    """Refuse columns of another type than in a MusiCRS dataset. Otherwise scoring would go wrong later, silently."""
    threads = columns["thread_id"]
    if not threads:
        raise UserError(f"{place}: holds no thread; rebuild it")
    for name in _COLUMNS:
        kind, words = (list, "a list of titles") if name in _LISTS else (str, "text")
        for thread, value in zip(threads, columns[name], strict=True):
            if not isinstance(value, kind):
                raise UserError(f"{place}: thread {thread}, column {name!r} holds {show(value)}, expected {words}")
    if len(set(threads)) < len(threads):
        twice = next(thread for thread, count in Counter(threads).items() if count > 1)
        raise UserError(f"{place}: thread {twice} appears in it twice; rebuild it")


def _read_labels(folder: Path, config: str) -> dict[str, list[Any]]:
    import pyarrow
    import pyarrow.parquet as parquet

    shard = next(iter(sorted((folder / config).glob("test-*.parquet"))), None) if config == Path(config).name else None
    further: list[str] = []
    if shard is not None:
        try:
            further = [name for name in parquet.read_schema(shard).names if name not in STANDARD_COLUMNS]
        except (pyarrow.ArrowException, OSError):
            further = []  # `read_folder` gives the reason
    return read_folder(folder, config, [*_COLUMNS, *further])


def read_folder(folder: Path, config: str, names: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """Read columns of a configuration in a dataset folder.

    Args:
        folder: The folder that holds the configurations.
        config: One of them.
        names: Columns to read; None for all.

    Raises:
        UserError: There is no such configuration or column, or a file cannot be read.
    """
    import pyarrow
    import pyarrow.parquet as parquet

    from ..base.named_dataset import first_line

    known = sorted({shard.parent.name for shard in folder.glob("*/test-*.parquet")})
    if config not in known:  # a name, never a pattern or a path: the config of a run card must not lead elsewhere
        raise UserError(f"{folder}: no configuration {show(config)}; it has {', '.join(known)}")
    shards = sorted((folder / config).glob("test-*.parquet"))
    try:
        wanted = None if names is None else list(names)
        table = pyarrow.concat_tables([parquet.read_table(shard, columns=wanted) for shard in shards])
        return {name: table.column(name).to_pylist() for name in wanted or table.column_names}
    except (pyarrow.ArrowException, OSError, KeyError) as error:
        raise UserError(
            f"{folder / config}: cannot be read as a MusiCRS dataset ({first_line(error)}); rebuild it"
        ) from error


def _read_name(name: str, config: str) -> dict[str, list[Any]]:
    from ..base.named_dataset import load_named

    rows = load_named(name, config)
    names = [*_COLUMNS, *(column for column in rows.column_names if column not in STANDARD_COLUMNS)]
    rows = rows.select_columns(names)
    return {column: list(rows[column]) for column in names}
