"""Writes a dataset folder: Parquet shards of each configuration, the card and the manifest, all or nothing."""

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
from ..pools.files import with_pools
from ..records import Thread
from ..schema import CONFIGS, arrow_schema, to_row
from ..sources import About
from .card import card
from .folders import replacing_folder
from .manifest import MANIFEST, AudioDigest, ConfigEntry, Manifest, PoolsEntry, files_not_written, shards_of
from .named_pools import NamedPools
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
        threads: The conversations, in dataset order.
        out: The directory in which the folder is made or, where it is a dataset, replaced. Its name is
            `about.loads_as`.
        about: What must be said of them.
        configs: Which of the published configurations to write.
        pools: Further pools; each brings one more configuration per entry of `configs`, with the audio once more.
        add_clips: Gives a thread its clips when its turn comes, so that memory never holds them all.
        clip_plan: How it cuts them, for the card and the manifest.
        shard_bytes: Size at which a file ends.
        track: Wraps the loop over threads, for a progress bar.

    Returns:
        The folder. It takes its place in one step: a build that fails or is killed leaves the old one as it was.

    Raises:
        UserError: Threads or pools are not valid, or something else stands where the folder is to be.
    """
    target = Path(out) / about.loads_as
    _check_target(target)
    _check_names(configs, pools)
    pooled = {"": threads} | {entry.name: with_pools(threads, entry.pools) for entry in pools}
    for name, rows in pooled.items():
        _check_rows(rows, name)
    tracked = track(threads)
    complete = tracked if add_clips is None else map(add_clips, tracked)
    try:
        with replacing_folder(target) as folder:
            entries, light, audio_sha256 = _write_rows(folder, complete, configs, pooled, shard_bytes)
            hashes = {entry.name: entry.sha256 for entry in pools}
            pools_entries = (
                PoolsEntry(name, describe(rows), tuple(suspicious_rows(rows)), hashes.get(name))
                for name, rows in (pooled | {"": light}).items()
            )
            manifest = Manifest(about, entries, tuple(pools_entries), audio_sha256, clip_plan)
            manifest.write(folder)
            write_text(folder / "README.md", [card(manifest)])
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error})") from error
    return target


def without_bytes(thread: Thread) -> Thread:
    """The thread with what is known of its clips, and without their sound."""
    return replace(thread, clips=thread.clips and tuple(replace(clip, audio=b"") for clip in thread.clips))


def _write_rows(
    folder: Path,
    threads: Iterable[Thread],
    configs: Sequence[str],
    pooled: Mapping[str, Sequence[Thread]],
    shard_bytes: int,
) -> tuple[tuple[ConfigEntry, ...], list[Thread], str | None]:
    """Write all configurations in one pass; returns what they are, the threads without sound, the hash of the sound."""
    writers = {
        (pools, config): ShardWriter(folder / _joined(config, pools), arrow_schema(CONFIGS[config]), shard_bytes)
        for pools in pooled
        for config in configs
    }
    audio, light = AudioDigest(), []
    with ExitStack() as stack:
        for writer in writers.values():
            stack.enter_context(writer)
        for place, thread in enumerate(threads):
            for (pools, config), writer in writers.items():
                row = replace(thread, candidates=pooled[pools][place].candidates)
                writer.write(to_row(row, CONFIGS[config]))
            audio.update(thread)
            light.append(without_bytes(thread))
    entries = tuple(
        ConfigEntry(_joined(config, pools), CONFIGS[config], pools, writer.rows, shards_of(folder, writer.files))
        for (pools, config), writer in writers.items()
    )
    return entries, light, audio.value()


def _joined(config: str, pools: str) -> str:
    return f"{config}_{pools}" if pools else config


def _check_target(target: Path) -> None:
    if target.parent.exists() and not target.parent.is_dir():
        raise UserError(f"{target.parent}: a file, expected a directory to build in")
    if (target.parent / MANIFEST).exists():
        raise UserError(f"{target.parent}: a built dataset; give the directory that it lies in, {target.parent.parent}")
    if target.is_symlink():
        raise UserError(
            f"{target}: a link, which a build would replace; give the directory in which a folder is to be made"
        )
    if not target.exists():
        return
    # A build replaces the folder whole, so nothing may stand in it that no build has written.
    strangers = files_not_written(target)
    if strangers:
        raise UserError(
            f"{target}: holds {some(strangers, 3)}, which no build has written and this one would delete; "
            "move it away, or give another directory"
        )


def _check_names(configs: Sequence[str], pools: Sequence[NamedPools]) -> None:
    unknown = [name for name in configs if name not in CONFIGS]
    if unknown or not configs:
        raise UserError(f"configurations: found {some(unknown) or 'none'}, expected some of {', '.join(CONFIGS)}")
    names = [entry.name for entry in pools]
    bad = [name for name in names if not (name.isidentifier() and name.isascii()) or names.count(name) > 1]
    if bad:
        raise UserError(
            f"pools named {bad[0]!r}: expected different names of letters, digits and underscores, such as balanced"
        )


def _check_rows(threads: Sequence[Thread], pools: str) -> None:
    if not threads:
        raise UserError("there are no threads to build from")
    found = invalid_rows(threads)
    if found:
        where = f"with the pools {pools!r}, " if pools else ""
        told = "; ".join(f"{finding.count} {finding.what} ({some(finding.where, 3)})" for finding in found)
        raise UserError(f"{where}the threads are not a valid dataset: {told}; mend the source and build again")
