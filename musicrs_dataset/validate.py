"""Check a dataset: its files, columns, rows and, on request, clips. Faults are missing, invalid or suspicious."""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import CATALOGUE, dataset_folder, fingerprint

from .checks import Finding, invalid_rows, missing_audio, suspicious_rows
from .loading import available_configs, iter_threads
from .personal import personal_data
from .records import Clip, Thread
from .repo.manifest import MANIFEST
from .schema import CLIP_RATE, SPLIT, base_config

_TOLERANCE = 0.05  # seconds


@dataclass(frozen=True)
class Validation:
    """Findings of a validation.

    Attributes:
        dataset: Name of the dataset as the user gave it.
        rows: Configuration to number of threads, without unreadable configurations.
        missing: Missing files.
        invalid: Faults that make the dataset unusable.
        odd: Suspicious properties that readers of scores should know. The published data has many.
    """

    dataset: str
    rows: dict[str, int]
    missing: tuple[Finding, ...]
    invalid: tuple[Finding, ...]
    odd: tuple[Finding, ...]

    @property
    def is_valid(self) -> bool:
        """True if nothing is missing or invalid."""
        return not self.missing and not self.invalid

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"is_valid": self.is_valid, **asdict(self)}


def validate(
    dataset: str | Path, *, clips: bool = False, track: Callable[[Sequence[str]], Iterable[str]] = iter
) -> Validation:
    """Check a dataset.

    Args:
        dataset: The directory given to `build`, the folder in it, the installed name "musicrs", or a Hub id. Files are
            checked for the first two only.
        clips: True to decode every clip too.
        track: Wraps the loop over configurations, for a progress bar.

    Returns:
        The findings.

    Raises:
        UserError: The dataset is missing.
    """
    folder = dataset_folder(dataset)
    if folder is not None and (folder / CATALOGUE).is_file():
        raise UserError(
            f"{folder}: its systems rank a catalogue, expected a dataset with pools; rebuild it to check it"
        )
    missing, invalid = ([], []) if folder is None else (_missing_files(folder), _wrong_files(folder))
    suspicious: list[Finding] = []
    texts: list[Thread] = []  # of the first configuration with text; all have the same texts
    rows: dict[str, int] = {}
    fingerprints: dict[str, dict[str, str]] = defaultdict(dict)
    for name in track(available_configs(dataset)):
        try:
            config = base_config(name)
            threads = list(iter_threads(dataset, name, audio=False))
        except UserError as error:
            invalid.append(Finding("unreadable", str(error), 1, (name,)))
            continue
        pools = name.removeprefix(config.name)
        texts = texts or threads * config.with_text
        rows[name] = len(threads)
        fingerprints[pools][name] = fingerprint((t.thread_id, t.candidates, t.ground_truth) for t in threads)
        invalid += _named(invalid_rows(threads), pools, invalid)
        suspicious += _named(suspicious_rows(threads), pools, suspicious)
        if config.with_text:
            silent = tuple(thread.thread_id for thread in threads if not thread.query)
            invalid += [Finding("no_query", "threads without a query", len(silent), silent)] if silent else []
        if config.with_audio:
            suspicious += missing_audio(threads)
            invalid += _bad_clips(iter_threads(dataset, name)) if clips else []
    if folder is None and not rows:
        raise UserError(invalid[0].what)
    if texts:
        suspicious += personal_data(texts).findings()
    for by_config in fingerprints.values():
        if len(set(by_config.values())) > 1:
            what = "configurations of one pool design with different pools or labels"
            invalid.append(Finding("disagreement", what, len(set(by_config.values())), tuple(by_config)))
    # The configurations share their labels, so each returns most findings again.
    return Validation(str(dataset), rows, *(tuple(dict.fromkeys(kind)) for kind in (missing, invalid, suspicious)))


def _named(findings: Iterable[Finding], pools: str, known: Sequence[Finding]) -> list[Finding]:
    """Add the name of the pools to findings, except to findings that do not depend on the pools."""
    new = [finding for finding in findings if finding not in known]
    return [replace(finding, name=finding.name + pools.replace("_", "@", 1)) for finding in new]


def _manifest_shards(folder: Path) -> dict[str, str]:
    """Map paths of the shards in the manifest to their sha256; empty without a manifest."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        configs = strict_json(path.read_text(encoding="utf-8"))["configs"].values()
        return {shard["path"]: shard["sha256"] for config in configs for shard in config["shards"]}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: not the manifest of a build ({error!r}); rebuild the dataset") from error


def _missing_files(folder: Path) -> list[Finding]:
    expected = {"README.md", MANIFEST, *_manifest_shards(folder)}
    absent = tuple(sorted(name for name in expected if not (folder / name).exists()))
    return [Finding("missing_file", "files that a build writes", len(absent), absent)] if absent else []


def _wrong_files(folder: Path) -> list[Finding]:
    hashes = _manifest_shards(folder)
    shards = {path.relative_to(folder).as_posix(): path for path in sorted(folder.glob(f"*/{SPLIT}-*.parquet"))}
    changed = tuple(name for name, path in shards.items() if name in hashes and file_sha256(path) != hashes[name])
    stray = tuple(name for name in shards if hashes and name not in hashes)
    findings = (
        Finding("changed_file", "files with another hash than in the manifest", len(changed), changed),
        Finding("stray_file", "data files that are not in the manifest", len(stray), stray),
    )
    return [finding for finding in findings if finding.count]


def _bad_clips(threads: Iterable[Thread]) -> list[Finding]:
    bad = [thread.thread_id for thread in threads for clip in thread.clips or () if not _is_valid_clip(clip)]
    what = f"clips that are not mono FLAC or WAV at {CLIP_RATE} Hz of the stated length and checksum"
    return [Finding("bad_clip", what, len(bad), tuple(dict.fromkeys(bad)))] if bad else []


def _is_valid_clip(clip: Clip) -> bool:
    import soundfile

    try:
        samples, rate = soundfile.read(io.BytesIO(clip.audio), always_2d=True)
    except soundfile.SoundFileError:
        return False
    if clip.sha256 not in (None, hashlib.sha256(clip.audio).hexdigest()):
        return False
    seconds = len(samples) / rate
    return bool(rate == CLIP_RATE and samples.shape[1] == 1 and abs(seconds - clip.duration_s) <= _TOLERANCE)
