"""Manifest of a stage, `_<stage>.json` in the folder of its output: inputs, parameters, versions, and counts of rows.

A stage writes its manifest last, so a folder with a manifest is finished. `is_done` tests whether inputs and parameters
are still the same.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from musicrs_dataset.repo.manifest import installed_versions
from musicrs_metric import __version__
from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError


@dataclass(frozen=True)
class FileHash:
    """One file that a stage read or wrote.

    Attributes:
        path: Of an input as given, of an output relative to the folder of the manifest. With forward slashes.
        bytes: Size.
        sha256: Hash of the content, in hexadecimal.
    """

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Counts:
    """Rows of one kind: read, kept, and dropped by reason.

    Attributes:
        seen: Rows read (`in` in the file).
        kept: Rows kept.
        dropped: Rows dropped, by reason, in the order of the tests. Each row has one reason.
    """

    seen: int
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def by_reason(rows: Mapping[str, int]) -> Counts:
        """Count rows by the reason that dropped them, in the given order. The kept rows have the reason ""."""
        return Counts(sum(rows.values()), rows.get("", 0), {reason: n for reason, n in rows.items() if reason})

    def add_up(self) -> bool:
        """Return True if every row was kept or has a reason."""
        return self.seen == self.kept + sum(self.dropped.values())

    def __add__(self, other: Counts) -> Counts:
        """Add the counts of two parts of one input."""
        reasons = dict.fromkeys((*self.dropped, *other.dropped))
        dropped = {reason: self.dropped.get(reason, 0) + other.dropped.get(reason, 0) for reason in reasons}
        return Counts(self.seen + other.seen, self.kept + other.kept, dropped)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"in": self.seen, "kept": self.kept, "dropped": dict(self.dropped)}


@dataclass(frozen=True)
class StageManifest:
    """Manifest of one stage.

    Attributes:
        stage: Name on the command line.
        inputs: Files that the stage read.
        outputs: Files that the stage wrote.
        parameters: Everything that changes the output, as plain JSON types.
        counts: Counts by kind of row (`submissions`, `comments`, `threads`, ...).
        wall_s: Duration in seconds.
        notes: Lines for the datasheet.
        versions: Versions of Python, musicrs and the libraries that affect the output.
        created_at: Time of the end, UTC, ISO 8601.
    """

    stage: str
    inputs: Sequence[FileHash]
    outputs: Sequence[FileHash]
    parameters: Mapping[str, Any]
    counts: Mapping[str, Counts]
    wall_s: float
    notes: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: versions_of(()))
    created_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def write(self, folder: Path) -> Path:
        """Write the manifest in one step.

        Args:
            folder: Folder of the output.

        Returns:
            The file.

        Raises:
            ValueError: Counts do not add up. The stage has a bug, and its output cannot be trusted.
        """
        for kind, counts in self.counts.items():
            if not counts.add_up():
                raise ValueError(f"{self.stage}: the {kind} do not add up: {to_json(counts.to_dict())}")
        path = manifest_path(folder, self.stage)
        write_text(path, [to_json(self.to_dict(), indent=2), "\n"])
        return path

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "stage": self.stage,
            "inputs": [vars(file) for file in self.inputs],
            "outputs": [vars(file) for file in self.outputs],
            "parameters": dict(self.parameters),
            "counts": {kind: counts.to_dict() for kind, counts in self.counts.items()},
            "wall_s": round(self.wall_s, 3),
            "notes": list(self.notes),
            "versions": dict(self.versions),
            "created_at": self.created_at,
        }

    @staticmethod
    def read(folder: Path, stage: str) -> StageManifest:
        """Read the manifest of a stage.

        Raises:
            UserError: The manifest is missing (the stage has not ended), or damaged.
        """
        path = manifest_path(folder, stage)
        try:
            return _from_dict(strict_json(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise UserError(f"{path}: no such file; run `python -m builder_scripts {stage}` to its end first") from None
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not a manifest of a stage ({error}); delete it and run {stage} again") from error


def manifest_path(folder: Path, stage: str) -> Path:
    """Return the file of a manifest."""
    return folder / f"_{stage}.json"


def is_done(folder: Path, stage: str, parameters: Mapping[str, Any], inputs: Sequence[FileHash]) -> bool:
    """Return True if a stage is finished.

    Args:
        folder: Folder of the output.
        stage: Name of the stage.
        parameters: Parameters of the next run, as plain JSON types.
        inputs: Inputs of the next run, compared by file name and content, so that a work folder may be moved.

    Returns:
        True if the last run ended with the same inputs and parameters, and its output is complete. Versions are not
        compared, because a new library is no reason to repeat days of work. To repeat a stage, delete its manifest.
    """
    try:
        last = StageManifest.read(folder, stage)
    except UserError:
        return False
    same = dict(last.parameters) == json.loads(to_json(dict(parameters)))  # as a file returns them
    return (
        same and _contents(last.inputs) == _contents(inputs) and all(_is_intact(folder, file) for file in last.outputs)
    )


def hash_files(paths: Iterable[Path], *, below: Path | None = None) -> tuple[FileHash, ...]:
    """Measure and hash files, in the given order; see `hash_file`."""
    return tuple(hash_file(path, below=below) for path in paths)


def hash_file(path: Path, *, below: Path | None = None) -> FileHash:
    """Measure and hash one file.

    Args:
        path: The file.
        below: Folder that the path is relative to. None keeps the path as given.
    """
    size = path.stat().st_size
    return FileHash((path.relative_to(below) if below else path).as_posix(), size, file_sha256(path))


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, musicrs and the named packages that are installed."""
    return {"python": platform.python_version(), "musicrs": __version__} | installed_versions(packages)


def _from_dict(value: dict[str, Any]) -> StageManifest:
    counts = {kind: Counts(counts["in"], counts["kept"], counts["dropped"]) for kind, counts in value["counts"].items()}
    files = {name: tuple(FileHash(**file) for file in value[name]) for name in ("inputs", "outputs")}
    return StageManifest(**(value | files | {"counts": counts}))


def _contents(files: Sequence[FileHash]) -> list[tuple[str, str]]:
    return sorted((Path(file.path).name, file.sha256) for file in files)


def _is_intact(folder: Path, file: FileHash) -> bool:
    path = folder / file.path
    return path.is_file() and path.stat().st_size == file.bytes
