"""Sources of other corpora: `<reader>:<path>`, such as `cpcd:PATH` or `jsonl:PATH`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from musicrs_metric.errors import UserError

from .record import CatalogueSource, PoolSource

READERS = {
    "cpcd": "musicrs_dataset.corpora.cpcd:read_cpcd",
    "cpcd-search": "musicrs_dataset.corpora.cpcd:read_cpcd_search",
    "challenge2026": "musicrs_dataset.corpora.challenge2026:read_challenge2026",
    "inspired": "musicrs_dataset.corpora.he2023:read_inspired",
    "redial": "musicrs_dataset.corpora.he2023:read_redial",
    "reddit-movie": "musicrs_dataset.corpora.he2023:read_reddit_movie",
    "jsonl": "musicrs_dataset.corpora.own:read_own",
}


def is_corpus(source: str) -> bool:
    """Return whether a source has the form of another corpus, `<reader>:<path>`."""
    return source.partition(":")[0] in READERS and ":" in source


def read_corpus(source: str) -> CatalogueSource | PoolSource:
    """Read another corpus from the user's copy.

    Args:
        source: `<reader>:<path>`, with a key of `READERS`.

    Raises:
        UserError: The path is empty, or the files are not as published.
    """
    name, _, path = source.partition(":")
    if not path:
        raise UserError(f"--from {source}: no path, expected {name}:PATH with the path of your copy")
    module, _, function = READERS[name].partition(":")
    reader: Callable[[Path], CatalogueSource | PoolSource] = getattr(importlib.import_module(module), function)
    return reader(Path(path).expanduser())
