"""Read the threads of a dataset: by directory, by the installed name, or by its name on the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicrs_metric.base.named_dataset import first_line, load_named, read_installation
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import CATALOGUE, DEFAULT_DATASET, dataset_folder

from .records import Thread
from .schema import CONFIGS, DEFAULT_CONFIG, SPLIT, arrow_schema, base_config, from_row

if TYPE_CHECKING:
    import datasets

_BATCH = 4  # threads; ten clips each fit in memory anywhere


def load(config: str = DEFAULT_CONFIG, dataset: str | Path = DEFAULT_DATASET) -> datasets.Dataset:
    """Load a configuration as `datasets.load_dataset` does, without its cache and without the network.

    Args:
        config: Configuration.
        dataset: The installed name "musicrs", the directory given to `build`, the folder in it, or a Hub id.

    Returns:
        The rows of its only split. Rows of a folder are in memory, with compressed clips. Rows of the installed name
        are mapped from the disk.

    Raises:
        UserError: The dataset or configuration is missing, a file cannot be read, or the rows differ from the installed
            rows.
    """
    folder = dataset_folder(dataset)
    if folder is None:
        return load_named(str(dataset), config)
    import datasets
    import pyarrow

    batches = list(_folder_batches(folder, config, audio=True))
    standard = arrow_schema(base_config(config)).names
    further = [name for name in (batches[0].schema.names if batches else ()) if name not in standard]
    schema = arrow_schema(base_config(config), further)
    return datasets.Dataset(pyarrow.Table.from_batches(batches, schema), split=datasets.NamedSplit(SPLIT))


def load_threads(dataset: str | Path = DEFAULT_DATASET, config: str = "query_only") -> list[Thread]:
    """Read all threads of a dataset.

    Args:
        dataset: The directory given to `build`, the folder in it, the installed name "musicrs", or a Hub id.
        config: Configuration.

    Returns:
        The threads in dataset order; clips as compressed bytes, not decoded.

    Raises:
        UserError: The dataset or configuration is missing, or a file cannot be read.
    """
    return list(iter_threads(dataset, config))


def iter_threads(
    dataset: str | Path = DEFAULT_DATASET, config: str = "query_only", *, audio: bool = True
) -> Iterator[Thread]:
    """Read the threads of a dataset one after the other; a few are in memory at a time.

    Args:
        dataset: As for `load_threads`.
        config: Configuration.
        audio: True to read the audio of the clips; else their bytes are empty, and `clip_info` is still read.

    Yields:
        The threads in dataset order.

    Raises:
        UserError: As for `load_threads`.
    """
    folder = dataset_folder(dataset)
    batches = (
        _folder_batches(folder, config, audio) if folder is not None else _named_batches(str(dataset), config, audio)
    )
    for batch in batches:
        for row in batch.to_pylist():
            try:
                thread = from_row(row)
            except (LookupError, TypeError, ValueError) as error:
                where = f"{dataset}, {config}, thread {row.get('thread_id')}"
                raise UserError(f"{where}: invalid row ({error!r}); rebuild the dataset") from error
            yield thread


def config_names(folder: Path) -> list[str]:
    """List the configurations with files in a dataset folder, sorted."""
    return sorted({shard.parent.name for shard in folder.glob(f"*/{SPLIT}-*.parquet")})


def available_configs(dataset: str | Path) -> list[str]:
    """List the configurations of a dataset that are known without the network.

    Args:
        dataset: As for `load_threads`.

    Returns:
        Configurations of the folder or of the installed name; for other names, the published configurations.

    Raises:
        UserError: The path does not exist or has no dataset.
    """
    folder = dataset_folder(dataset)
    if folder is not None:
        return config_names(folder)
    installation = read_installation() if str(dataset) == DEFAULT_DATASET else None
    return list(CONFIGS) if installation is None else list(installation.configs)


def richest_config(dataset: str | Path) -> str:
    """Choose the configuration of a dataset with the most columns.

    Args:
        dataset: As for `load_threads`.

    Returns:
        The first published configuration that the dataset has; see `available_configs`.

    Raises:
        UserError: The path does not exist or has no dataset.
    """
    names = available_configs(dataset)
    return next((name for name in CONFIGS if name in names), names[0])


def _folder_batches(folder: Path, config: str, audio: bool) -> Iterator[Any]:
    import pyarrow
    import pyarrow.parquet

    if (folder / CATALOGUE).is_file():
        raise UserError(
            f"{folder}: its systems rank a catalogue, expected a dataset with pools; read the rows with "
            "`datasets.load_dataset`, or use `baselines run` and the commands of musicrs_metric"
        )
    if config not in config_names(folder):  # so that it is neither a pattern nor a path
        raise UserError(f"{folder}: no configuration {config!r}; it has {', '.join(config_names(folder))}")
    shards = sorted((folder / config).glob(f"{SPLIT}-*.parquet"))
    standard = arrow_schema(base_config(config))
    # A configuration without text or audio must not pass the columns of another one off as further labels.
    known = arrow_schema(CONFIGS[DEFAULT_CONFIG]).names
    expected = None
    for shard in shards:
        try:
            with pyarrow.parquet.ParquetFile(shard) as file:
                if expected is None:
                    further = [name for name in file.schema_arrow.names if name not in known]
                    expected = arrow_schema(base_config(config), further) if further else standard
                if not file.schema_arrow.equals(expected):
                    raise UserError(f"{shard}: its columns are not those of {config}; rebuild the dataset")
                columns = [name for name in expected.names if audio or name != "clips"]
                yield from file.iter_batches(_BATCH, columns=columns)
        except (pyarrow.ArrowException, OSError) as error:
            raise UserError(f"{shard}: cannot be read ({first_line(error)}); rebuild the dataset") from error


def _named_batches(name: str, config: str, audio: bool) -> Iterator[Any]:
    rows = load_named(name, config)
    if not audio and "clips" in rows.column_names:
        rows = rows.remove_columns("clips")
    yield from rows.with_format("arrow").iter(batch_size=_BATCH)
