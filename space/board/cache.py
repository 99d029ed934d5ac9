"""Cache of computed scores on disk. It is quick to read, safe to delete, and rebuilt where files are missing."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from musicrs_metric.base.files import replacing_derived, strict_json, to_json
from musicrs_metric.closed_forms import PoolKind
from musicrs_metric.compare.results import AgainstChance
from musicrs_metric.compare.standings import Alone
from musicrs_metric.hits import Hits
from musicrs_metric.scoring import Answered, Scores

from .data import PoolDesign
from .judging import table_of
from .rows import Judged

# The code that decides the digits of scores and standings.
_CODE = {
    "musicrs_metric": (
        "matching",
        "hits",
        "closed_forms",
        "measures",
        "chance",
        "random_orders",
        "intervals",
        "scoring",
    ),
    "musicrs_metric.compare": ("against_chance", "pairs", "ranks", "significance", "standings"),
    "space.board": ("judging",),
}
_PER_THREAD = ("thread", "rank", "n_unknown", "n_duplicate", "missing")


@cache
def code_version() -> str:
    """Return a hash of the code that computes scores, in hexadecimal. Results of other code are not read."""
    digest = hashlib.sha256()
    for package, names in _CODE.items():
        for name in names:
            digest.update(resources.files(package).joinpath(f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


class Cache:
    """Judged submissions in a folder, one file per submission, data and version of the code.

    Args:
        folder: The folder; None for no cache.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def load(self, key: str, design: PoolDesign) -> Judged | None:
        """Read the scores of a submission.

        Args:
            key: Key of the submission.
            design: The data on which it was judged.

        Returns:
            The same digits as `judge`; None without a usable file.
        """
        return None if self.folder is None else _read(self.folder / _name(key, design, code_version()), design)

    def latest(self, key: str, design: PoolDesign) -> Judged | None:
        """Read the last scores of a submission that any version of the code has computed."""
        if self.folder is None:
            return None
        files = sorted(self.folder.glob(_name(key, design, "*")), key=lambda path: path.stat().st_mtime_ns)
        return _read(files[-1], design) if files else None

    def save(self, key: str, design: PoolDesign, judged: Judged) -> None:
        """Write the scores of a submission. A disk that cannot be written costs time later, nothing else."""
        if self.folder is None:
            return
        content = io.BytesIO()
        np.savez_compressed(content, **_pack(judged))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_bytes(self.folder / _name(key, design, code_version()), content.getvalue())
        except OSError:
            return

    def forget_older(self, key: str, design: PoolDesign) -> None:
        """Delete the scores that other versions of the code have computed for a submission."""
        if self.folder is not None:
            for path in self.folder.glob(_name(key, design, "*")):
                if path.name != _name(key, design, code_version()):
                    path.unlink(missing_ok=True)


def _name(key: str, design: PoolDesign, code: str) -> str:
    return f"{key}-{design.fingerprint[:16]}-{code}.npz"


def _read(path: Path, design: PoolDesign) -> Judged | None:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _unpack({name: arrays[name] for name in arrays.files}, design)
    except (OSError, ValueError, LookupError, TypeError, EOFError, BadZipFile):  # missing, cut off, or of another form
        return None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file of derived data in one step."""
    with replacing_derived(path) as file:
        file.write(content)


def _pack(judged: Judged) -> dict[str, Any]:
    outcomes = [[name, count] for name, count in judged.outcomes.items()]
    words: dict[str, Any] = {"scores": asdict(judged.scores), "outcomes": outcomes, "answered": judged.answered}
    words["alone"] = {
        "interval": judged.alone.interval,
        "chance": [result and asdict(result) for result in judged.alone.chance],
    }
    arrays = {name: getattr(judged.table.hits, name) for name in _PER_THREAD}
    arrays |= {"no_audio": judged.no_audio, "draws": judged.alone.draws}
    return arrays | {"words": np.frombuffer(to_json(words).encode(), dtype=np.uint8)}


def _unpack(arrays: Mapping[str, Any], design: PoolDesign) -> Judged:
    words = strict_json(arrays["words"].tobytes().decode())
    blank = design.unanswered.hits
    hits = Hits(
        **{name: arrays[name] for name in _PER_THREAD},
        n_relevant=blank.n_relevant,
        n_reachable=blank.n_reachable,
        pool_size=blank.pool_size,
    )
    if len(hits.missing) != len(blank):
        raise ValueError("another number of threads")
    table = table_of(hits, design)
    return Judged(
        scores=_scores(words["scores"]),
        table=table,
        units=design.units(table),
        no_audio=arrays["no_audio"],
        outcomes=dict(words["outcomes"]),
        answered=words["answered"],
        alone=Alone(
            draws=arrays["draws"],
            interval=tuple(map(_pair, words["alone"]["interval"])),
            chance=tuple(
                result and AgainstChance(**result | {"interval": _pair(result["interval"])})
                for result in words["alone"]["chance"]
            ),
        ),
    )


def _pair(ends: list[float] | None) -> tuple[float, float] | None:
    return None if ends is None else (ends[0], ends[1])


def _scores(values: dict[str, Any]) -> Scores:
    interval, by, answered = values["interval"], values["by"], values["answered"]
    pools = None if answered is None else tuple(PoolKind(*kind) for kind in answered["pools"])
    known = values | {
        "interval": None if interval is None else {name: (low, high) for name, (low, high) in interval.items()},
        "answered": answered and Answered(**answered | {"pools": pools}),
        "by": {group: {label: _scores(part) for label, part in parts.items()} for group, parts in by.items()},
    }
    return Scores(**known)
