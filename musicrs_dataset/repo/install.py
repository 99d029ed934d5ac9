"""Install a dataset, so that `load_dataset("musicrs")` works from any directory, offline, with any `datasets` version.

The rows of each configuration go into the cache of `datasets`, under the hash of their content, where no other folder
called musicrs can write. A note next to them records the data of the name. Two files in the environment make `datasets`
read the note: see `musicrs_metric.base.name_hook`.

Without these files `datasets` would load the folder of its cache that changed last, which may hold other rows. Each
configuration therefore also has a sign: a folder that `datasets` cannot read. `datasets` then refuses the name with an
error that shows the name of the sign. The sign survives every way to copy a cache.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import site
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musicrs_metric.base import name_hook
from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.named_dataset import Installation, first_line, load_named, read_installation
from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.references import DEFAULT_DATASET, dataset_folder, fingerprint

from ..loading import config_names
from ..schema import CONFIGS, SPLIT, VERSION
from .card import opening
from .folders import replacing_folder
from .manifest import MANIFEST, manifest_of

_HOOK = Path(name_hook.__file__)
_HOOK_MODULE = "musicrs_name"
_SIGN = (
    "datasets cannot serve this name by itself",
    "restart Python, or run python -m musicrs_dataset install DIRECTORY",
)
_LABELS = ["thread_id", "candidates", "ground_truth"]


@dataclass(frozen=True)
class Installed:
    """Result of an installation.

    Attributes:
        configs: Configurations, the default first.
        default: Configuration that `load_dataset("musicrs")` loads.
        cache: Folder of the `datasets` cache with the rows.
        metric: True if `evaluate.load("musicrs")` was installed too.
        environment: Folder of the environment whose files make `datasets` read the note; None if none is writable.
        replaced: The dataset that had the name before, if it has other data and is known; else None.
    """

    configs: tuple[str, ...]
    default: str
    cache: Path
    metric: bool
    environment: Path | None
    replaced: Installation | None = None

    def __str__(self) -> str:
        """Return one line for the user."""
        before = self.replaced
        instead = f", in place of {before.describe(before.default)}" if before else ""
        line = f'installed: load_dataset("{DEFAULT_DATASET}") with {", ".join(self.configs)}{instead}'
        if self.environment is None:
            return f"{line}; {_NO_ENVIRONMENT}"
        return f"{line}; set HF_HUB_OFFLINE=1 to avoid requests to the Hub"


_NO_ENVIRONMENT = (
    f"the packages of this Python are not writable, so `datasets` refuses the name {DEFAULT_DATASET!r}: use your own "
    "Python environment, or call musicrs_dataset.load"
)


def install(dataset: str | Path, *, metric: bool = True) -> Installed:
    """Install a dataset folder under the name "musicrs".

    Args:
        dataset: The directory given to `build`, or the folder in it, under any name.
        metric: True to install the metric of the same name too.

    Returns:
        The result.

    Raises:
        UserError: The directory has no readable dataset, or the cache is not writable.
    """
    folder = dataset_folder(dataset)
    if folder is None:
        raise UserError(f"{dataset}: a name, expected the directory given to `musicrs_dataset build --out`")
    before = read_installation()
    cache = Path(name_hook.datasets_cache()) / DEFAULT_DATASET
    found = config_names(folder)
    names = [name for name in CONFIGS if name in found] + [name for name in found if name not in CONFIGS]
    try:
        note = _write_rows(folder, names, cache)
        for config in {*names, *CONFIGS}:
            text = f"Makes `datasets` refuse this name if it could load other rows; see {__name__}.\n"
            write_text((cache / config).joinpath(*_SIGN) / "README.txt", [text])
        write_text(cache / name_hook.NOTE, [to_json(note, indent=2), "\n"])
        _remove_earlier(cache, keep=note["hash"])
    except OSError as error:
        raise UserError(
            f"{folder}: complete, but not installed ({error.strerror or error}: {error.filename}); set HF_HOME to a "
            "writable folder, or build with --no-install and load the dataset by path"
        ) from error
    if metric:
        from musicrs_metric.hub.install import install_metric

        install_metric()
    environment = _put_hook()
    name_hook.activate()
    now = read_installation()
    return Installed(
        tuple(names), names[0], cache, metric, environment,
        replaced=before if before and now and before.configs != now.configs else None,
    )  # fmt: skip


def check() -> Iterator[tuple[bool, str]]:
    """Check the installation of the name "musicrs".

    Yields:
        True if a part is as installed, and one line on it: for the note, each configuration and this environment.
    """
    installation = read_installation()
    if installation is None:
        yield False, "nothing is installed; `python -m musicrs_dataset install DIRECTORY` gives a dataset the name"
        return
    default = installation.default
    yield True, f"{DEFAULT_DATASET}: {installation.describe(default)}, from {installation.source}; default {default}"
    for config in installation.configs:
        try:
            rows = load_named(DEFAULT_DATASET, config)
            yield True, f"{config}: {count(len(rows), 'thread')}, as installed"
        except UserError as error:
            yield False, f"{config}: {error}"
    cache = Path(name_hook.datasets_cache()) / DEFAULT_DATASET
    signs = ((cache / config).joinpath(*_SIGN) for config in {*installation.configs, *CONFIGS})
    hook = next((folder for folder in _site_folders() if _holds_hook(folder)), None)
    if hook is None or not all(sign.is_dir() for sign in signs):
        yield False, f"this environment may load other rows; install again with {installation.repair()}"
    else:
        yield True, f'this environment: load_dataset("{DEFAULT_DATASET}") loads these rows ({hook / _HOOK_MODULE}.pth)'


def _write_rows(folder: Path, names: list[str], cache: Path) -> dict[str, Any]:
    """Write all configurations into the cache; returns the note."""
    import pyarrow
    import pyarrow.parquet as parquet

    shards = {name: sorted((folder / name).glob(f"{SPLIT}-*.parquet")) for name in names}
    digest = hashlib.sha256()
    for file in [*(shard for name in names for shard in shards[name]), folder / MANIFEST]:
        if file.is_file():
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(bytes.fromhex(file_sha256(file)))
    note: dict[str, Any] = {"threads": 0, "configs": {}, "default": names[0], "source": str(folder.resolve())}
    note |= {"version": VERSION, "hash": digest.hexdigest()}
    about = _about(manifest_of(folder))
    for name in names:
        try:
            labels = pyarrow.concat_tables([parquet.read_table(shard, columns=_LABELS) for shard in shards[name]])
            with replacing_folder(cache / name / VERSION / note["hash"]) as target:
                features, size = _copy_rows(shards[name], target / f"{DEFAULT_DATASET}-{SPLIT}.arrow")
                split = {"name": SPLIT, "num_bytes": size, "num_examples": len(labels), "dataset_name": DEFAULT_DATASET}
                info = about | {
                    "builder_name": "parquet", "dataset_name": DEFAULT_DATASET, "config_name": name,
                    "version": {"version_str": VERSION}, "features": features, "splits": {SPLIT: split},
                    "dataset_size": size,
                }  # fmt: skip
                write_text(target / "dataset_info.json", [json.dumps(info)])
        except (pyarrow.ArrowInvalid, KeyError) as error:
            raise UserError(f"{folder / name}: cannot be read ({first_line(error)}); rebuild the dataset") from error
        columns = (labels.column(column).to_pylist() for column in _LABELS)
        note["configs"][name] = fingerprint(zip(*columns, strict=True))
        note["threads"] = len(labels)
    return note


def _copy_rows(shards: list[Path], target: Path) -> tuple[dict[str, Any], int]:
    """Copy Parquet rows into the stream that `datasets` maps into memory; returns their column types and size."""
    import pyarrow
    import pyarrow.parquet as parquet

    schema = parquet.read_schema(shards[0])
    size = 0
    with pyarrow.OSFile(str(target), "wb") as sink, pyarrow.ipc.new_stream(sink, schema) as writer:
        for shard in shards:
            with parquet.ParquetFile(shard) as file:
                for group in range(file.num_row_groups):
                    table = file.read_row_group(group)
                    size += table.nbytes
                    writer.write_table(table)
    features: dict[str, Any] = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    return features, size


def _about(manifest: dict[str, Any] | None) -> dict[str, str]:
    """Return description, citation, homepage and licence for `datasets`."""
    source = (manifest or {}).get("source", {})
    return {
        "description": opening(toy=bool(source.get("toy"))),
        "citation": source.get("citation", ""),
        "homepage": source.get("homepage", ""),
        "license": source.get("license", ""),
    }


def _remove_earlier(cache: Path, keep: str) -> None:
    """Remove earlier installations; caches of other folders of the name have shorter hashes."""
    for folder in cache.glob("*/*/*"):
        if len(folder.name) == len(keep) and folder.name != keep and folder.is_dir():
            shutil.rmtree(folder)


def _put_hook() -> Path | None:
    """Copy the hook and the file that starts it into this environment; returns the folder, or None on failure."""
    for folder in _site_folders():
        if _holds_hook(folder):
            return folder
        try:
            write_text(folder / f"{_HOOK_MODULE}.py", [_HOOK.read_text(encoding="utf-8")])
            write_text(folder / f"{_HOOK_MODULE}.pth", [_start()])
        except OSError:
            continue
        return folder
    return None


def _holds_hook(folder: Path) -> bool:
    try:
        code = (folder / f"{_HOOK_MODULE}.py").read_text(encoding="utf-8")
        start = (folder / f"{_HOOK_MODULE}.pth").read_text(encoding="utf-8")
    except OSError:
        return False
    return code == _HOOK.read_text(encoding="utf-8") and start == _start()


def _start() -> str:
    return f"import {_HOOK_MODULE}; {_HOOK_MODULE}.activate()\n"


def _site_folders() -> list[Path]:
    """List the folders whose `.pth` files this Python reads: its environment, then the user's own packages."""
    return [Path(sysconfig.get_path("purelib")), *([Path(site.getusersitepackages())] if site.ENABLE_USER_SITE else [])]
