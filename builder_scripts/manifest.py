"""What a stage did, kept as `_<stage>.json` beside its output: inputs, parameters, versions, and where every row went.

A stage writes its manifest last, so a folder with a manifest is a finished one; `is_done` tells whether it was made
from the same inputs in the same way and may be left as it is.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from musicrs_metric import __version__
from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError


@dataclass(frozen=True)
class FileHash:
    """One file that a stage read or wrote.

    Attributes:
        path: Of an input as it was given, of an output below the folder of its manifest; with forward slashes.
        bytes: Its size.
        sha256: Hash of its content, in hexadecimal.
    """

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Counts:
    """Where the rows of one kind went.

    Attributes:
        seen: How many came in (`in` in the file).
        kept: How many went on.
        dropped: How many were left out, by reason, in the order in which the reasons were tried; each row has one.
    """

    seen: int
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    def add_up(self) -> bool:
        """Tell whether every row that came in was kept or has a reason."""
        return self.seen == self.kept + sum(self.dropped.values())

    def __add__(self, other: Counts) -> Counts:
        """Count two parts of the same input together."""
        reasons = dict.fromkeys((*self.dropped, *other.dropped))
        dropped = {reason: self.dropped.get(reason, 0) + other.dropped.get(reason, 0) for reason in reasons}
        return Counts(self.seen + other.seen, self.kept + other.kept, dropped)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"in": self.seen, "kept": self.kept, "dropped": dict(self.dropped)}


@dataclass(frozen=True)
class StageManifest:
    """What one stage did.

    Attributes:
        stage: Its name on the command line.
        inputs: The files that it read.
        outputs: The files that it wrote.
        parameters: Everything that changes its output, as plain JSON types.
        counts: Where the rows went, by kind of row (`submissions`, `comments`, `threads`, ...).
        wall_s: How long it took, in seconds.
        notes: Lines for the datasheet: what a reader of the data should know.
        versions: Of Python, musicrs and the libraries that the output depends on.
        created_at: When it ended, UTC, ISO 8601.
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
        """Write it into the folder of the stage's output, in one step.

        Args:
            folder: Where the output lies.

        Returns:
            The file.

        Raises:
            ValueError: Rows are unaccounted for: the stage has a fault, and its output is not to be trusted.
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
        """Read the manifest that a stage left in a folder.

        Raises:
            UserError: There is none (the stage was not run, or not to its end), or it is damaged.
        """
        path = manifest_path(folder, stage)
        try:
            return _from_dict(strict_json(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise UserError(f"{path}: no such file; run `python -m builder_scripts {stage}` to its end first") from None
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not a manifest of a stage ({error}); delete it and run {stage} again") from error


def manifest_path(folder: Path, stage: str) -> Path:
    """Say where a stage leaves its manifest."""
    return folder / f"_{stage}.json"


def is_done(folder: Path, stage: str, parameters: Mapping[str, Any], inputs: Sequence[FileHash]) -> bool:
    """Tell whether a stage has nothing to do.

    Args:
        folder: Where its output lies.
        stage: Its name.
        parameters: What it would be run with now, as plain JSON types.
        inputs: What it would read now; compared by file name and content, so that a work folder may be moved.

    Returns:
        True where the last run ended, read the same inputs with the same parameters, and its output still lies there
        in full. Versions are not compared: a new library is no reason to repeat days of work; delete the manifest
        where it is.
    """
    try:
        last = StageManifest.read(folder, stage)
    except UserError:
        return False
    same = dict(last.parameters) == json.loads(to_json(dict(parameters)))  # as they come back from a file
    return same and _contents(last.inputs) == _contents(inputs) and all(_stands(folder, file) for file in last.outputs)


def hash_files(paths: Iterable[Path], *, below: Path | None = None) -> tuple[FileHash, ...]:
    """Measure and hash files, in the given order; see `hash_file`."""
    return tuple(hash_file(path, below=below) for path in paths)


def hash_file(path: Path, *, below: Path | None = None) -> FileHash:
    """Measure and hash one file.

    Args:
        path: The file.
        below: The folder that the path is to be told from; None tells it as given.
    """
    size = path.stat().st_size
    return FileHash((path.relative_to(below) if below else path).as_posix(), size, file_sha256(path))


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Find the versions of Python, musicrs and the named packages, absent ones left out."""
    found = {"python": platform.python_version(), "musicrs": __version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an optional engine
            continue
    return found


def _from_dict(value: dict[str, Any]) -> StageManifest:
    counts = {kind: Counts(counts["in"], counts["kept"], counts["dropped"]) for kind, counts in value["counts"].items()}
    files = {name: tuple(FileHash(**file) for file in value[name]) for name in ("inputs", "outputs")}
    return StageManifest(**(value | files | {"counts": counts}))


def _contents(files: Sequence[FileHash]) -> list[tuple[str, str]]:
    return sorted((Path(file.path).name, file.sha256) for file in files)


def _stands(folder: Path, file: FileHash) -> bool:
    path = folder / file.path
    return path.is_file() and path.stat().st_size == file.bytes
