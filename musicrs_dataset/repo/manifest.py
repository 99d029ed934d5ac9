"""What a build wrote: counts, hashes and versions, kept as `manifest.json` beside the data."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json, to_json, write_text

from ..audio.clip_plan import ClipPlan
from ..checks import Finding
from ..describe import Description
from ..records import Thread
from ..schema import Config
from ..sources import About, file_sha256

MANIFEST = "manifest.json"
_PACKAGES = ("musicrs", "pyarrow", "numpy", "soundfile", "soxr", "av")


@dataclass(frozen=True)
class Shard:
    """One Parquet file: its path in the dataset folder, its size and its sha256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ConfigEntry:
    """One configuration as written.

    Attributes:
        name: What `load_dataset` asks for: that of a published configuration, or with the pools' name behind it.
        base: The published configuration whose columns it has.
        pools: Name of the pools in place of the published ones; "" for those.
        rows: Number of threads.
        shards: Its files.
    """

    name: str
    base: Config
    pools: str
    rows: int
    shards: tuple[Shard, ...]

    @property
    def content_sha256(self) -> str:
        """Hash of the hashes of the files: it changes whenever any byte of the configuration does."""
        return hashlib.sha256("".join(shard.sha256 for shard in self.shards).encode()).hexdigest()


@dataclass(frozen=True)
class PoolsEntry:
    """One set of pools as written.

    Attributes:
        name: "" for the pools that came with the threads.
        description: Statistics of the threads with these pools.
        odd: What is odd about them.
        sha256: Hash of the pool file; None for the pools that came with the threads.
    """

    name: str
    description: Description
    odd: tuple[Finding, ...]
    sha256: str | None = None


@dataclass(frozen=True)
class Manifest:
    """Everything that a build can say of itself; the same input and versions give the same manifest.

    Attributes:
        about: The source.
        configs: Configurations, the published ones first.
        pools: Sets of pools, the one that came with the threads first.
        audio_sha256: Hash of all clips in dataset order; None where there are none.
        clip_plan: How the clips were cut; None where they came with the threads, or none were cut.
    """

    about: About
    configs: tuple[ConfigEntry, ...]
    pools: tuple[PoolsEntry, ...]
    audio_sha256: str | None
    clip_plan: ClipPlan | None = None

    def fingerprint(self, config: ConfigEntry) -> str:
        """Fingerprint of a configuration; see `musicrs_metric.runs.references.fingerprint`."""
        return next(entry.description.fingerprint for entry in self.pools if entry.name == config.pools)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        configs = {
            config.name: {
                "rows": config.rows,
                "fingerprint": self.fingerprint(config),
                "content_sha256": config.content_sha256,
                "shards": [asdict(shard) for shard in config.shards],
            }
            for config in self.configs
        }
        pools = {
            entry.name or "published": {
                "pool_file_sha256": entry.sha256,
                "statistics": entry.description.to_dict(),
                "odd": {finding.name: finding.count for finding in entry.odd},
            }
            for entry in self.pools
        }
        return {
            "source": asdict(self.about),
            "configs": configs,
            "pools": pools,
            "audio_sha256": self.audio_sha256,
            "clip_plan": None if self.clip_plan is None else asdict(self.clip_plan),
            "versions": {"python": platform.python_version(), **_versions()},
        }

    def write(self, folder: Path) -> None:
        """Write it into a dataset folder."""
        write_text(folder / MANIFEST, [to_json(self.to_dict(), indent=2), "\n"])


def shards_of(folder: Path, files: Sequence[Path]) -> tuple[Shard, ...]:
    """Measure and hash the files of one configuration."""
    return tuple(Shard(file.relative_to(folder).as_posix(), file.stat().st_size, file_sha256(file)) for file in files)


def files_not_written(folder: Path) -> list[str]:
    """What stands in a folder that no build has put there, by its manifest.

    Args:
        folder: An existing folder or file. Without a readable manifest of a build, no build has written any of it.

    Returns:
        Paths within the folder, sorted; the path itself where it is a file.
    """
    if not folder.is_dir():
        return [str(folder)]
    written: set[str] = set()
    try:
        stated = strict_json((folder / MANIFEST).read_text(encoding="utf-8"))
        shards = [shard["path"] for config in stated["configs"].values() for shard in config["shards"]]
        written = {MANIFEST, "README.md", *shards} if {"source", "pools", "versions"} <= set(stated) else set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass  # none of ours, so that whatever is there is a stranger
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(name for path in found if (name := path.relative_to(folder).as_posix()) not in written)


class AudioDigest:
    """A running hash over clips and where they come from, so that audio can be told apart apart from its labels."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._n = 0

    def update(self, thread: Thread) -> None:
        """Add the clips of the next thread."""
        for clip in thread.clips or ():
            what = to_json([thread.thread_id, clip.video_id, clip.start_s, clip.duration_s, len(clip.audio)])
            self._hash.update(what.encode() + clip.audio)
            self._n += 1

    def value(self) -> str | None:
        """The hash in hexadecimal; None where there was no clip."""
        return self._hash.hexdigest() if self._n else None


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # the audio libraries are optional
            continue
    return found
