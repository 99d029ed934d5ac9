"""Makes the literal `load_dataset("musicrs")` work from any directory, offline, on the `datasets` version in use.

`datasets` looks a bare name up in its cache when the Hub does not have it, and takes the most recently changed folder
that fits. Loading a dataset folder named `musicrs` once puts each of its configurations there. Three things are added:

* Folders of earlier installations are removed, or the name might go on serving them.
* Every configuration gets a second folder with a date far ahead (hard links, no space), so that loading another folder
  named `musicrs` by its path does not take over the name.
* The default configuration gets one more, further ahead and under a hash of its own: `datasets` refuses a name without
  a configuration where several share the newest folder's hash. If that date is lost (`.map` writes into the folder),
  the refusal is what a user gets, never another configuration.

Beside them lies a note of what was installed, so that the next installation can say what it takes the place of.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from musicrs_metric.errors import UserError, count
from musicrs_metric.files import strict_json, to_json, write_text
from musicrs_metric.references import DEFAULT_DATASET, dataset_folder

from .replaced import manifest_of
from .schema import SPLIT

_FAR_AHEAD = 4_102_444_800  # the year 2100
_NOTE = "installed.json"


class Held(NamedTuple):
    """What the name stands for.

    Attributes:
        threads: Number of threads.
        fingerprint: See `musicrs_metric.references.fingerprint`; of the first configuration.
    """

    threads: int
    fingerprint: str


@dataclass(frozen=True)
class Installed:
    """What was installed.

    Attributes:
        configs: Configurations, in the order of the card.
        default: The one that `load_dataset("musicrs")` gives; None where the card names none.
        cache: The folder of the `datasets` cache that holds them.
        metric: Whether `evaluate.load("musicrs")` was installed too.
        replaced: The other data that the name stood for until now; None where there were none, or nothing is known.
    """

    configs: tuple[str, ...]
    default: str | None
    cache: Path
    metric: bool
    replaced: Held | None = None

    def __str__(self) -> str:
        """One line for a person."""
        before = self.replaced
        instead = (
            f", in place of {count(before.threads, 'thread')} (fingerprint {before.fingerprint[:12]})" if before else ""
        )
        return (
            f'installed: load_dataset("{DEFAULT_DATASET}") with {", ".join(self.configs)}{instead}; set '
            "HF_HUB_OFFLINE=1 to spare a look at the Hub"
        )


def install(dataset: str | Path, *, metric: bool = True) -> Installed:
    """Install a dataset folder under the name "musicrs".

    Args:
        dataset: The directory given to `build`, or the folder in it.
        metric: Whether to install the metric of the same name too.

    Returns:
        What was installed.

    Raises:
        UserError: There is no dataset in that directory, or it cannot be read.
    """
    folder = dataset_folder(dataset)
    if folder is None:
        raise UserError(f"{dataset}: a name, expected the directory given to `musicrs_dataset build --out`")
    if folder.resolve().name != DEFAULT_DATASET:
        raise UserError(f"{folder}: the folder must be named {DEFAULT_DATASET} to be installed; rename it")
    import datasets

    cache = Path(datasets.config.HF_DATASETS_CACHE) / DEFAULT_DATASET
    _remove_pins(cache)  # first: an interrupted installation must not leave old rows under the name
    with _quiet_and_offline():
        configs = tuple(datasets.get_dataset_config_names(str(folder)))
        default = datasets.get_dataset_default_config_name(str(folder))
        prepared = {config: _prepare(folder, config) for config in configs}
    _remove_others(cache, keep=set(prepared.values()))
    for path in prepared.values():
        _pin(path, "configurations", _FAR_AHEAD)
    if default in prepared:
        _pin(prepared[default], "default", _FAR_AHEAD + 1)
    if metric:
        from musicrs_metric.install import install_metric

        install_metric()
    note = cache / _NOTE
    before, now = _read_note(note), _held(manifest_of(folder))
    write_text(note, [to_json(now and now._asdict()), "\n"])
    return Installed(configs, default, cache, metric, replaced=before if before != now else None)


@contextmanager
def _quiet_and_offline() -> Iterator[None]:
    """A local folder needs no Hub, and `datasets` would draw a bar per configuration and split."""
    import datasets

    offline, bars = datasets.config.HF_HUB_OFFLINE, datasets.utils.logging.is_progress_bar_enabled()
    datasets.config.HF_HUB_OFFLINE = True
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE = offline
        if bars:
            datasets.enable_progress_bars()


def _prepare(folder: Path, config: str) -> Path:
    """Load one configuration, which caches it; returns its folder in the cache."""
    import datasets

    try:
        rows = datasets.load_dataset(str(folder), config, split=SPLIT)
    except (ValueError, OSError, datasets.exceptions.DatasetGenerationError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if not os.access(_nearest_folder(Path(datasets.config.HF_DATASETS_CACHE)), os.W_OK):
            raise UserError(
                f"{folder}: complete, but not installed ({reason}); set HF_HOME to a folder that can be written, "
                "or build with --no-install and load it by path"
            ) from error
        raise UserError(f"{folder / config}: cannot be loaded ({reason}); rebuild the dataset") from error
    return Path(rows.cache_files[0]["filename"]).parent


def _nearest_folder(path: Path) -> Path:
    """The path, or the nearest parent that exists and would have to take it; a file can take nothing."""
    found = next(parent for parent in (path, *path.parents) if parent.exists())
    return found if found.is_dir() else Path(os.devnull, "none")


def _pin(prepared: Path, purpose: str, when: int) -> None:
    pinned = prepared.with_name(_pin_hash(purpose))
    pinned.mkdir()
    for file in prepared.iterdir():
        if not file.name.startswith("cache-"):  # results of somebody's `.map`
            try:
                os.link(file, pinned / file.name)
            except OSError:
                shutil.copy2(file, pinned / file.name)
    os.utime(pinned, (when, when))


def _remove_pins(cache: Path) -> None:
    for purpose in ("default", "configurations"):
        for pinned in cache.glob(f"*/*/{_pin_hash(purpose)}"):
            shutil.rmtree(pinned)


def _remove_others(cache: Path, keep: set[Path]) -> None:
    for folder in cache.glob("*/*/*"):
        # A hyphen marks a configuration with parameters of its own, which no bare name finds.
        if folder.is_dir() and folder not in keep and "-" not in folder.parts[-3]:
            shutil.rmtree(folder)


def _held(manifest: dict[str, Any] | None) -> Held | None:
    """What a dataset folder holds by its manifest."""
    match next(iter(manifest["configs"].values()), None) if manifest else None:
        case {"rows": int(threads), "fingerprint": str(fingerprint)}:
            return Held(threads, fingerprint)
    return None


def _read_note(path: Path) -> Held | None:
    try:
        return Held(**strict_json(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # a first installation, or one of another version
        return None


def _pin_hash(purpose: str) -> str:
    return hashlib.sha256(f"musicrs pinned: {purpose}".encode()).hexdigest()
