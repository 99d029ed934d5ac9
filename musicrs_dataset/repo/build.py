"""Write a dataset folder in one step: Parquet shards of each configuration, the card and the manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from musicrs_metric.base.files import write_text
from musicrs_metric.errors import UserError, some

from ..audio.clip_plan import ClipPlan
from ..checks import invalid_rows, suspicious_rows
from ..describe import describe
from ..pools.files import NamedPools, with_pools
from ..records import Thread
from ..schema import CONFIGS, arrow_schema, to_row
from ..sources import About
from .card import card
from .folders import replacing_folder
from .manifest import MANIFEST, AudioDigest, ConfigEntry, Manifest, PoolsEntry, files_not_written, shards_of
from .parquet import SHARD_BYTES, ShardWriter

Track = Callable[[Sequence[Thread]], Iterable[Thread]]


def build(
    threads: Sequence[Thread],
    out: str | Path,
    *,
    about: About,
    configs: Sequence[str] = tuple(CONFIGS),
    pools: Sequence[NamedPools] = (),
    add_clips: Callable[[Thread], Thread] | None = None,
    clip_plan: ClipPlan | None = None,
    shard_bytes: int = SHARD_BYTES,
    track: Track = iter,
) -> Path:
    """Write a dataset that `load_dataset` reads by path, on `datasets` 3.6 to 5.x.

    Args:
        threads: The threads, in dataset order.
        out: Parent directory of the dataset folder. The folder has the name `about.loads_as`; a dataset of that name is
            replaced.
        about: Origin and terms of the data.
        configs: Published configurations to write.
        pools: Other pools. Each adds one configuration per entry of `configs`, with its own copy of the audio.
        add_clips: Adds the clips to one thread at a time, so that memory never holds all clips.
        clip_plan: Plan of the clips, for the card and the manifest.
        shard_bytes: Size at which a new file starts.
        track: Wraps the loop over threads, for a progress bar.

    Returns:
        The folder. It is replaced in one step, so a failed or killed build leaves the old folder.

    Raises:
        UserError: Threads or pools are invalid, or the path of the folder holds other files.
    """
    target = Path(out) / about.loads_as
    check_target(target)
    _check_names(configs, pools)
    pooled = {"": threads} | {entry.name: with_pools(threads, entry.pools) for entry in pools}
    for name, rows in pooled.items():
        _check_rows(rows, name)
    tracked = track(threads)
    complete = tracked if add_clips is None else map(add_clips, tracked)
    try:
        with replacing_folder(target) as folder:
            entries, without_audio, audio_sha256 = _write_rows(folder, complete, configs, pooled, shard_bytes)
            hashes = {entry.name: entry.sha256 for entry in pools}
            pools_entries = (
                PoolsEntry(name, describe(rows), tuple(suspicious_rows(rows)), hashes.get(name))
                for name, rows in (pooled | {"": without_audio}).items()
            )
            manifest = Manifest(about, entries, tuple(pools_entries), audio_sha256, clip_plan)
            manifest.write(folder)
            write_text(folder / "README.md", [card(manifest)])
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error})") from error
    return target


def _without_bytes(thread: Thread) -> Thread:
    return replace(thread, clips=thread.clips and tuple(replace(clip, audio=b"") for clip in thread.clips))


def _write_rows(
    folder: Path,
    threads: Iterable[Thread],
    configs: Sequence[str],
    pooled: Mapping[str, Sequence[Thread]],
    shard_bytes: int,
) -> tuple[tuple[ConfigEntry, ...], list[Thread], str | None]:
    """Write all configurations in one pass; returns their entries, the threads without clip bytes, the audio hash."""
    columns = [name for name, _ in pooled[""][0].columns]
    writers = {
        (pools, config): ShardWriter(
            folder / _joined(config, pools), arrow_schema(CONFIGS[config], columns), shard_bytes
        )
        for pools in pooled
        for config in configs
    }
    audio, without_audio = AudioDigest(), []
    with ExitStack() as stack:
        for writer in writers.values():
            stack.enter_context(writer)
        for position, thread in enumerate(threads):
            for (pools, config), writer in writers.items():
                row = replace(thread, candidates=pooled[pools][position].candidates)
                writer.write(to_row(row, CONFIGS[config]))
            audio.update(thread)
            without_audio.append(_without_bytes(thread))
    entries = tuple(
        ConfigEntry(_joined(config, pools), CONFIGS[config], pools, writer.rows, shards_of(folder, writer.files))
        for (pools, config), writer in writers.items()
    )
    return entries, without_audio, audio.value()


def _joined(config: str, pools: str) -> str:
    return f"{config}_{pools}" if pools else config


def check_target(target: Path) -> None:
    """Refuse a path for a dataset folder that holds other files, or lies in a dataset.

    Raises:
        UserError: The message says what is there.
    """
    if target.parent.exists() and not target.parent.is_dir():
        raise UserError(f"{target.parent}: a file, expected a directory to build in")
    if (target.parent / MANIFEST).exists():
        raise UserError(f"{target.parent}: a built dataset; give its parent directory, {target.parent.parent}")
    if target.is_symlink():
        raise UserError(f"{target}: a symbolic link, which a build would replace; give another directory")
    if not target.exists():
        return
    # A build replaces the whole folder, so a folder with other files is refused.
    foreign = files_not_written(target)
    if foreign:
        raise UserError(
            f"{target}: holds {some(foreign, 3)}, which no build wrote and this build would delete; "
            "move these files away, or give another directory"
        )


def _check_names(configs: Sequence[str], pools: Sequence[NamedPools]) -> None:
    unknown = [name for name in configs if name not in CONFIGS]
    if unknown or not configs:
        raise UserError(f"configurations: found {some(unknown) or 'none'}, expected some of {', '.join(CONFIGS)}")
    names = [entry.name for entry in pools]
    bad = [name for name in names if not (name.isidentifier() and name.isascii()) or names.count(name) > 1]
    if bad:
        raise UserError(
            f"pools named {bad[0]!r}: expected distinct names of letters, digits and underscores, such as balanced"
        )


def _check_rows(threads: Sequence[Thread], pools: str) -> None:
    if not threads:
        raise UserError("found no threads to build from, expected at least one")
    names = [name for name, _ in threads[0].columns]
    other = next((thread for thread in threads if [name for name, _ in thread.columns] != names), None)
    if other is not None:
        raise UserError(
            f"thread {other.thread_id}: its further columns are not {some(names) or 'none'}, as in the first"
        )
    findings = invalid_rows(threads)
    if findings:
        where = f"with the pools {pools!r}, " if pools else ""
        faults = "; ".join(f"{finding.count} {finding.what} ({some(finding.where, 3)})" for finding in findings)
        raise UserError(f"{where}the threads are not a valid dataset: {faults}; fix the source and build again")
