"""Datasets by name: the installed one, read through its note and without the network, or one on the Hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, count
from . import name_hook

SPLIT = "test"
REFERENCE_COLUMNS = ("thread_id", "candidates", "ground_truth")


@dataclass(frozen=True)
class Installation:
    """Note of `python -m musicrs_dataset install`.

    Attributes:
        threads: Number of threads.
        configs: Configuration to fingerprint; see `musicrs_metric.runs.references.fingerprint`.
        default: The configuration that `load_dataset("musicrs")` gives.
        source: The folder that was installed.
        folders: Configuration to the folder of the cache that holds it.
    """

    threads: int
    configs: dict[str, str]
    default: str
    source: str
    folders: dict[str, Path]

    def repair(self) -> str:
        """Return the command that installs the same data again."""
        return f"`python -m musicrs_dataset install {self.source}`"

    def describe(self, config: str) -> str:
        """Name the installed rows of a configuration in a few words."""
        return f"{count(self.threads, 'thread')} (fingerprint {self.configs[config][:12]})"


def read_installation() -> Installation | None:
    """Return the installation under the name "musicrs" in the cache of `datasets`, or None."""
    cache = name_hook.datasets_cache()
    note = name_hook.read_note(cache)
    if note is None:
        return None
    folders = {config: Path(name_hook.installed_folder(cache, note, config)) for config in note["configs"]}
    return Installation(int(note["threads"]), note["configs"], note["default"], note["source"], folders)


def load_named(name: str, config: str) -> Any:
    """Load the one split of a dataset by name.

    Args:
        name: The installed name "musicrs", or a Hub id.
        config: Configuration.

    Returns:
        A `datasets.Dataset`; nothing is decoded yet.

    Raises:
        UserError: No such dataset or configuration, no network to ask for it, or installed rows that are not those
            that were installed.
    """
    if name == name_hook.NAME:
        return _load_installed(config)
    import datasets

    # A name without an owner cannot be on the Hub: asking it would only cost the 23 s of a look-up that must fail.
    offline, verbosity = datasets.config.HF_HUB_OFFLINE, datasets.utils.logging.get_verbosity()
    datasets.config.HF_HUB_OFFLINE = offline or "/" not in name
    datasets.utils.logging.set_verbosity_error()  # no remark that the cached data is used, which is what was asked
    try:
        return datasets.load_dataset(name, config, split=SPLIT)
    # OSError: not in the cache, not on the Hub, no network. DatasetsError: files that are no such dataset.
    except (ValueError, OSError, datasets.exceptions.DatasetsError) as error:
        reason = first_line(error) if "/" in name else "no such directory, and nothing was loaded under this name"
        raise _not_found(name, config, reason) from error
    finally:
        datasets.config.HF_HUB_OFFLINE = offline
        datasets.utils.logging.set_verbosity(verbosity)


def refuse_other_rows(columns: dict[str, list[Any]], config: str, place: str) -> None:
    """Refuse rows that were read under the name "musicrs" and are not those that were installed.

    Args:
        columns: `REFERENCE_COLUMNS` of the rows.
        config: Their configuration.
        place: Their file or folder, for the message.

    Raises:
        UserError: Their fingerprint differs from that of the installation.
    """
    from ..runs.references import fingerprint

    installation = read_installation()
    if installation is None or config not in installation.configs:
        return
    found = fingerprint(zip(*(columns[name] for name in REFERENCE_COLUMNS), strict=True))
    if found != installation.configs[config]:
        raise UserError(
            f"{place}: holds {count(len(columns['thread_id']), 'thread')} (fingerprint {found[:12]}), but the name "
            f"{name_hook.NAME!r} was given to {installation.describe(config)}; install again with "
            f"{installation.repair()}, or name the directory that you mean (./{name_hook.NAME} is one)"
        )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or the name of the error if it has none."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _load_installed(config: str) -> Any:
    installation = read_installation()
    if installation is None:
        raise _not_found(name_hook.NAME, config, "nothing is installed under this name")
    if config not in installation.configs:
        raise _not_found(name_hook.NAME, config, f"installed are {', '.join(installation.configs)}")
    import datasets

    folder = installation.folders[config]
    file = folder / f"{name_hook.NAME}-{SPLIT}.arrow"
    try:
        info = datasets.DatasetInfo.from_directory(str(folder))
        rows = datasets.Dataset.from_file(str(file), info=info, split=datasets.NamedSplit(SPLIT))
        columns = {name: rows.data.column(name).to_pylist() for name in REFERENCE_COLUMNS}
    # ArrowException is a ValueError or an OSError; KeyError: a file without the columns of this dataset.
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise UserError(
            f"{file}: cannot be read ({first_line(error)}); install it again with {installation.repair()}"
        ) from error
    refuse_other_rows(columns, config, str(file))
    return rows


def _not_found(name: str, config: str, reason: str) -> UserError:
    return UserError(
        f"dataset {name!r}, configuration {config!r}: not found ({reason}); "
        "install it with `python -m musicrs_dataset build --from ... --out DIR`, or name that DIR"
    )
