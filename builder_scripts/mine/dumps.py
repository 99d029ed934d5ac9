"""Dumps: their file names, and their kind (submissions or comments).

| source | names |
|---|---|
| monthly torrents of all of Reddit (Pushshift, Arctic Shift) | `RS_2023-01.zst`, `RC_2023-01.zst` |
| torrents of single subreddits | `jazz_submissions.zst`, `jazz_comments.zst` |
| download tool of Arctic Shift | `r_jazz_posts.jsonl`, `r_jazz_comments.jsonl` |

Each may be compressed (`.zst`) or plain (`.jsonl`, `.ndjson`), and a copy that a browser numbered, as in
`r_jazz_posts (1).jsonl`, is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from musicrs_metric.errors import UserError, some

from .dump_reader import is_compressed

Kind = Literal["submissions", "comments"]

NAMES = "RS_*, *_submissions or *_posts, RC_* or *_comments, each .zst or .jsonl"
_SUFFIXES = (".zst", ".jsonl", ".ndjson")
_NAME = re.compile(
    r"(?i)(?:(?P<submissions>rs_.*|.*_(?:submissions|posts))|(?P<comments>rc_.*|.*_comments))(?: ?\(\d+\))?"
    r"(?:\.jsonl|\.ndjson)?(?:\.zst)?"
)
# Names of dumps in another compression or format, or that a download has not finished.
_OTHER_FORM = re.compile(r"(?i)(?:r[sc]_\d{4}.*|.*_(?:submissions|posts|comments))\.[\w!.]+")


@dataclass(frozen=True)
class Dump:
    """One file of JSON lines, compressed or not.

    Attributes:
        path: The file.
        kind: Kind of its lines.
    """

    path: Path
    kind: Kind

    @property
    def name(self) -> str:
        """Name of the file of its rows."""
        return self.path.stem


def find_dumps(places: Sequence[Path]) -> list[Dump]:
    """Find dumps, largest first, so that no long file starts last.

    Args:
        places: Files, and folders to search at any depth.

    Raises:
        UserError: A place does not exist or holds no dump, a file name gives no kind, or two dumps have the same name.
    """
    paths = dict.fromkeys(path for place in places for path in _files(place))
    dumps = [Dump(path, _kind(path)) for path in paths]
    by_name: dict[tuple[Kind, str], Path] = {}
    for dump in dumps:
        other = by_name.setdefault((dump.kind, dump.name), dump.path)
        if other != dump.path:
            raise UserError(f"{dump.path}: a dump of the same name is {other}; give one of them, or rename one")
    return sorted(dumps, key=lambda dump: (-dump.path.stat().st_size, dump.name))


def unnamed(places: Sequence[Path]) -> list[Path]:
    """Find the files in folders that `mine` skips: their names give no kind, or they have another form."""
    files = (path for place in places if place.is_dir() for path in sorted(place.rglob("*")) if path.is_file())
    return [
        path
        for path in files
        if _kind_of(path) is None and (path.suffix.lower() in _SUFFIXES or _OTHER_FORM.fullmatch(path.name))
    ]


def _files(place: Path) -> Iterable[Path]:
    if not place.is_dir():
        if not place.exists():
            raise UserError(f"{place}: no such file or folder; expected dumps ({NAMES})")
        return [place]
    # Every `.zst` in a folder is taken for a dump. Other files of JSON lines may be there, too.
    dumps = [path for path in _listed(place) if is_compressed(path) or _kind_of(path)]
    if not dumps:
        inside = some(sorted(path.name for path in place.iterdir())) or "nothing"
        raise UserError(f"{place}: no dump in it (it holds {inside}); expected {NAMES}")
    return dumps


def _listed(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())


def _kind(path: Path) -> Kind:
    kind = _kind_of(path)
    if kind is None:
        raise UserError(f"{path}: the name says neither submissions nor comments; expected {NAMES}")
    return kind


def _kind_of(path: Path) -> Kind | None:
    name = _NAME.fullmatch(path.name)
    if name is None or path.suffix.lower() not in _SUFFIXES:
        return None
    return "submissions" if name["submissions"] else "comments"
