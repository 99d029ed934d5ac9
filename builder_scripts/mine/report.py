"""Report of one dump, `_<dump>.json` in the folder of its rows. A dump with a report is not mined again."""

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
    """Report of one dump.

    Attributes:
        kind: Kind of its lines.
        dump: The compressed file, up to its damage.
        mtime_ns: Time of its last change. With the size it identifies a dump without reading it.
        rows: The Parquet file, relative to its folder.
        parameters: Parameters of `mine`.
        counts: Counts of its lines.
        withdrawn: Kept lines whose texts were withdrawn, by sign.
        repaired: Lines that a strict parser refuses and that were saved.
        raw_bytes: Decompressed size.
        frames: Number of zstd frames.
        window: Window of the decoder in bytes.
        peak_rss: Peak memory of the process in bytes.
        wall_s: Duration in seconds.
        cpu_s: Processor time in seconds.
        damage: Damage of the file. "" for none.
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
        """Path of the dump, as given."""
        return self.dump.path

    def write(self, folder: Path) -> None:
        """Write the report into the folder of the rows, in one step."""
        value = asdict(self) | {"counts": self.counts.to_dict()}
        write_text(_path(folder, Path(self.path)), [to_json(value, indent=2), "\n"])


def read_report(folder: Path, dump: Path, parameters: Mapping[str, Any]) -> DumpReport | None:
    """Read the report of a finished dump.

    Args:
        folder: Folder of its rows.
        dump: The compressed file.
        parameters: Parameters of the next run.

    Returns:
        The report. None if it is missing, if dump or parameters have changed, or if the rows are missing.
    """
    try:
        value = strict_json(_path(folder, dump).read_text(encoding="utf-8"))
        report = DumpReport(**(value | {name: FileHash(**value[name]) for name in ("dump", "rows")} | _counts(value)))
    except (FileNotFoundError, ValueError, KeyError, TypeError):  # missing, or of another version
        return None
    now, rows = dump.stat(), folder / report.rows.path
    same = (report.dump.bytes, report.mtime_ns) == (now.st_size, now.st_mtime_ns) and report.parameters == parameters
    return report if same and rows.is_file() and rows.stat().st_size == report.rows.bytes else None


def _path(folder: Path, dump: Path) -> Path:
    return folder / f"_{dump.stem}.json"


def _counts(value: Mapping[str, Any]) -> dict[str, Counts]:
    counts = value["counts"]
    return {"counts": Counts(counts["in"], counts["kept"], counts["dropped"])}
