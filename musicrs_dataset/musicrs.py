"""Loading script of the dataset: builds the published configurations directly from the authors' file.

With `datasets` 3.6, use it as a script: `load_dataset("path/to/musicrs.py", "query_only", trust_remote_code=True)`.
Version 4 and later run no scripts; use it as a class: `Musicrs(config_name="query_only")`. The rows are equal to the
rows of `python -m musicrs_dataset build`. Most users should load the folder that `build` writes.

The source is `data_dir` or, without it, the environment variable MUSICRS_DATA: the path of the authors' file, or
"mini". Without both, the script downloads the authors' file from the Hub.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import datasets
import pyarrow

from musicrs_dataset.schema import CONFIGS, DEFAULT_CONFIG, SPLIT, VERSION, arrow_schema, features, to_row
from musicrs_dataset.sources import HUB_FILE, HUB_ID, MINI, content_sha256, existing_file, resolve_source
from musicrs_metric.citation import BIBTEX

_BATCH = 8


class MusicrsConfig(datasets.BuilderConfig):  # type: ignore[misc]
    """Configuration of `musicrs_dataset.schema.CONFIGS`; the cache key includes the content of its source."""

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Any = None) -> str:
        """Return the name of the cache folder. Other content has another name, so that no stale rows are loaded."""
        config_id: str = super().create_config_id(config_kwargs, custom_features)
        source = _source(self.data_dir)
        return config_id if source is None else f"{config_id}-{content_sha256(source)[:16]}"


class Musicrs(datasets.ArrowBasedBuilder):  # type: ignore[misc]
    """Builder of MusiCRS for `datasets`.

    It yields Arrow tables, not examples, because `datasets` 4 and later need torch to encode an example with `Audio`.
    """

    BUILDER_CONFIG_CLASS = MusicrsConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 - the name and the form are those of the base class
        MusicrsConfig(name=config.name, version=datasets.Version(VERSION), description=config.summary)
        for config in CONFIGS.values()
    ]
    DEFAULT_CONFIG_NAME = DEFAULT_CONFIG

    def _info(self) -> Any:
        return datasets.DatasetInfo(
            description="Threads that ask for music, with pools of titles; the community recommended some of them.",
            features=datasets.Features.from_dict(features(CONFIGS[self.config.name])),
            homepage=f"https://huggingface.co/datasets/{HUB_ID}",
            license="CC BY 4.0",
            citation=BIBTEX,
        )

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        source = _source(self.config.data_dir)
        if source is None:  # a stream cannot be read by lines; the cache of the Hub has a file
            hub_file = f"hf://datasets/{HUB_ID}/{HUB_FILE}"
            source = HUB_ID if dl_manager.is_streaming else dl_manager.download(hub_file)
        return [datasets.SplitGenerator(name=SPLIT, gen_kwargs={"sources": [source]})]

    def _generate_tables(self, sources: list[str]) -> Iterator[tuple[Any, Any]]:
        config = CONFIGS[self.config.name]
        schema = arrow_schema(config)
        for number, source in enumerate(sources):
            threads = resolve_source(source, clips=config.with_audio).threads
            for first in range(0, len(threads), _BATCH):
                rows = [to_row(thread, config) for thread in threads[first : first + _BATCH]]
                yield (number, first), pyarrow.Table.from_pylist(rows, schema=schema)


def _source(data_dir: str | None) -> str | None:
    source = data_dir or os.environ.get("MUSICRS_DATA") or None
    return source if source is None or source == MINI else str(existing_file(source).absolute())
