"""Which files are dumps, and whether a dump holds submissions or comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from musicrs_metric.errors import UserError, some

Kind = Literal["submissions", "comments"]

NAMES = "RS_*.zst or *_submissions.zst, RC_*.zst or *_comments.zst"


@dataclass(frozen=True)
class Dump:
    """One compressed file of JSON lines.

    Attributes:
        path: The file.
        kind: What its lines are.
    """

    path: Path
    kind: Kind

    @property
    def name(self) -> str:
        """What its rows are filed under."""
        return self.path.stem


def find_dumps(places: Sequence[Path]) -> list[Dump]:
    """Find dumps, largest first, so that no long file is left for the end.

    Args:
        places: Files, and folders to look through at any depth.

    Raises:
        UserError: A place does not exist or holds no dump, a file tells by its name of neither kind, or two dumps have
            the same name.
    """
    paths = dict.fromkeys(path for place in places for path in _files(place))
    dumps = [Dump(path, _kind(path)) for path in paths]
    by_name: dict[tuple[Kind, str], Path] = {}
    for dump in dumps:
        other = by_name.setdefault((dump.kind, dump.name), dump.path)
        if other != dump.path:
            raise UserError(f"{dump.path}: a dump of the same name is {other}; give one of them, or rename one")
    return sorted(dumps, key=lambda dump: (-dump.path.stat().st_size, dump.name))


def _files(place: Path) -> Iterable[Path]:
    if not place.is_dir():
        if not place.exists():
            raise UserError(f"{place}: no such file or folder; expected dumps ({NAMES})")
        return [place]
    found = sorted(place.rglob("*.zst"))
    if not found:
        inside = some(sorted(path.name for path in place.iterdir())) or "nothing"
        raise UserError(f"{place}: no dump in it (it holds {inside}); expected {NAMES}")
    return found


def _kind(path: Path) -> Kind:
    name = path.name.lower()
    if path.suffix == ".zst":
        if name.startswith("rs_") or name.endswith("_submissions.zst"):
            return "submissions"
        if name.startswith("rc_") or name.endswith("_comments.zst"):
            return "comments"
    raise UserError(f"{path}: the name tells neither submissions nor comments; expected {NAMES}")
