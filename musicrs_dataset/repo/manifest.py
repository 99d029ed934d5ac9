"""Manifest of a build: counts, hashes and versions, stored as `manifest.json` in the dataset folder."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import some

from ..audio.clip_plan import ClipPlan
from ..checks import Finding
from ..describe import Description
from ..records import Thread
from ..schema import Config
from ..sources import About

MANIFEST = "manifest.json"
_PACKAGES = ("musicrs", "pyarrow", "numpy", "soundfile", "soxr", "av")


@dataclass(frozen=True)
class Shard:
    """Parquet file: path in the dataset folder, size in bytes, and sha256."""

    path: str
    bytes: int
    sha256: str


def content_hash(shards: Iterable[Shard]) -> str:
    """Return the hash of the hashes of Parquet files."""
    return hashlib.sha256("".join(shard.sha256 for shard in shards).encode()).hexdigest()


@dataclass(frozen=True)
class ConfigEntry:
    """Configuration as written.

    Attributes:
        name: Name for `load_dataset`: a published configuration, perhaps followed by the name of other pools.
        base: The published configuration with the same columns.
        pools: Name of the pools; "" for the published pools.
        rows: Number of threads.
        shards: Files of the configuration.
    """

    name: str
    base: Config
    pools: str
    rows: int
    shards: tuple[Shard, ...]

    @property
    def content_sha256(self) -> str:
        """Hash of the hashes of the files. It changes with any byte of the configuration."""
        return content_hash(self.shards)


@dataclass(frozen=True)
class PoolsEntry:
    """Set of pools as written.

    Attributes:
        name: Name of the pools; "" for the pools of the source.
        description: Statistics of the threads with these pools.
        odd: Suspicious properties of the rows.
        sha256: Hash of the pool file; None for the pools of the source.
    """

    name: str
    description: Description
    odd: tuple[Finding, ...]
    sha256: str | None = None


@dataclass(frozen=True)
class Manifest:
    """Record of a build; the same input and versions give the same manifest.

    Attributes:
        about: The source.
        configs: Configurations, published configurations first.
        pools: Sets of pools, the pools of the source first.
        audio_sha256: Hash of all clips in dataset order; None without clips.
        clip_plan: Plan of the clips; None if the build cut no clips.
    """

    about: About
    configs: tuple[ConfigEntry, ...]
    pools: tuple[PoolsEntry, ...]
    audio_sha256: str | None
    clip_plan: ClipPlan | None = None

    def fingerprint(self, config: ConfigEntry) -> str:
        """Return the fingerprint of a configuration; see `musicrs_metric.runs.references.fingerprint`."""
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
            "versions": {"python": platform.python_version(), **installed_versions(_PACKAGES)},
        }

    def write(self, folder: Path) -> None:
        """Write the manifest into a dataset folder."""
        write_text(folder / MANIFEST, [to_json(self.to_dict(), indent=2), "\n"])


def shards_of(folder: Path, files: Sequence[Path]) -> tuple[Shard, ...]:
    """Measure and hash the files of one configuration."""
    return tuple(Shard(file.relative_to(folder).as_posix(), file.stat().st_size, file_sha256(file)) for file in files)


def files_not_written(folder: Path) -> list[str]:
    """List the files of a folder that its manifest does not name, so that no build wrote them.

    Args:
        folder: An existing folder or file. Without a readable manifest, all files count as foreign.

    Returns:
        Paths relative to the folder, sorted; the path itself if it is a file.
    """
    if not folder.is_dir():
        return [str(folder)]
    written: set[str] = set()
    manifest = manifest_of(folder) or {}
    if {"source", "pools", "versions"} <= set(manifest):
        with suppress(LookupError, TypeError, AttributeError):  # not a manifest of a build, so all files are foreign
            shards = [shard["path"] for config in manifest["configs"].values() for shard in config["shards"]]
            written = {MANIFEST, "README.md", *shards, *manifest.get("files", ())}
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(name for path in files if (name := path.relative_to(folder).as_posix()) not in written)


def manifest_of(folder: Path) -> dict[str, Any] | None:
    """Read the manifest of a dataset folder; None if it is missing or unreadable."""
    try:
        values = strict_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) and isinstance(values.get("configs"), dict) else None


def lost_in_rebuild(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[str]:
    """List the contents of a replaced dataset that the new dataset lacks or changes.

    Args:
        before: Manifest of the replaced dataset, or None.
        after: Manifest of the new dataset, or None.

    Yields:
        One sentence per loss.
    """
    if before is None or after is None:
        return
    lost = [name for name in before["configs"] if name not in after["configs"]]
    if lost:
        yield f"replaced a dataset that also had the configurations {some(lost)}"
    if before.get("audio_sha256") and not after.get("audio_sha256"):
        yield "replaced a dataset with audio by one without; build with --audio to keep the clips"
    changed = [
        name
        for name, config in after["configs"].items()
        if name in before["configs"] and before["configs"][name].get("fingerprint") != config["fingerprint"]
    ]
    if changed:
        yield f"replaced a dataset with other threads, pools or labels in {some(changed)}"


class AudioDigest:
    """Running hash over clips with their origin, which identifies the audio separately from the labels."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._n = 0

    def update(self, thread: Thread) -> None:
        """Add the clips of the next thread."""
        for clip in thread.clips or ():
            origin = to_json([thread.thread_id, clip.video_id, clip.start_s, clip.duration_s, len(clip.audio)])
            self._hash.update(origin.encode() + clip.audio)
            self._n += 1

    def value(self) -> str | None:
        """Return the hash in hexadecimal; None without clips."""
        return self._hash.hexdigest() if self._n else None


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Look up the versions of packages; packages that are not installed are skipped."""
    versions = {}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # such as an optional library for audio
            continue
    return versions
