"""What became of one dump, kept as `_<dump>.json` beside its rows; a dump with a report is not mined again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json, to_json, write_text

from ..manifest import Counts, FileHash
from .dumps import Kind


@dataclass(frozen=True)
class DumpReport:
    """What became of one dump.

    Attributes:
        kind: What its lines are.
        dump: The compressed file, as far as it could be read.
        mtime_ns: When it was last changed; with its size, a dump is known by that, without reading it.
        rows: The Parquet file, below its folder.
        parameters: What it was mined with.
        counts: Where its lines went.
        withdrawn: How many of the kept lines were taken back, by the sign of it.
        repaired: How many of the lines a strict parser refuses were saved.
        raw_bytes: How much it holds decompressed.
        frames: How many zstd frames it has.
        window: Bytes of window that its decoder needed.
        peak_rss: Bytes of memory that the process had taken by its end at most.
        wall_s: Seconds that it took.
        cpu_s: Seconds of processor time that it took.
        damage: What is wrong with the file; "" where nothing is.
    """

    kind: Kind
    dump: FileHash
    mtime_ns: int
    rows: FileHash
    parameters: Mapping[str, Any]
    counts: Counts
    withdrawn: Mapping[str, int]
    repaired: int
    raw_bytes: int
    frames: int
    window: int
    peak_rss: int
    wall_s: float
    cpu_s: float
    damage: str

    @property
    def path(self) -> str:
        """The dump, as it was given."""
        return self.dump.path

    def write(self, folder: Path) -> None:
        """Write it into the folder of the rows, in one step."""
        value = asdict(self) | {"counts": self.counts.to_dict()}
        write_text(_path(folder, Path(self.path)), [to_json(value, indent=2), "\n"])


def read_report(folder: Path, dump: Path, parameters: Mapping[str, Any]) -> DumpReport | None:
    """Find the report of a dump that need not be mined again.

    Args:
        folder: Where its rows lie.
        dump: The compressed file.
        parameters: What it would be mined with.

    Returns:
        The report, or None where there is none, the dump has changed, it was mined otherwise, or its rows are gone.
    """
    try:
        value = strict_json(_path(folder, dump).read_text(encoding="utf-8"))
        found = DumpReport(**(value | {name: FileHash(**value[name]) for name in ("dump", "rows")} | _counts(value)))
    except (FileNotFoundError, ValueError, KeyError, TypeError):  # none, or one that another version wrote
        return None
    now, rows = dump.stat(), folder / found.rows.path
    same = (found.dump.bytes, found.mtime_ns) == (now.st_size, now.st_mtime_ns) and found.parameters == parameters
    return found if same and rows.is_file() and rows.stat().st_size == found.rows.bytes else None


def _path(folder: Path, dump: Path) -> Path:
    return folder / f"_{dump.stem}.json"


def _counts(value: Mapping[str, Any]) -> dict[str, Counts]:
    counts = value["counts"]
    return {"counts": Counts(counts["in"], counts["kept"], counts["dropped"])}
