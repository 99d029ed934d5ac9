"""Pool files: JSON lines of `{"thread_id": ..., "candidates": [...]}`, each with a manifest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError, plain, show, some
from musicrs_metric.runs.references import fingerprint

from ..jsonl import read_objects
from ..records import Thread
from .poolset import PoolSet

Pools = Mapping[str, tuple[str, ...]]


def manifest_path(path: str | Path) -> Path:
    """Return the path of the manifest of a pool file: `pools.manifest.json` for `pools.jsonl`."""
    return Path(path).with_suffix(".manifest.json")


def write_pools(path: str | Path, pool_set: PoolSet, threads: Sequence[Thread], *, source: str) -> dict[str, Any]:
    """Write pools as JSON lines, with a manifest next to them.

    The same pools give the same bytes in both files.

    Args:
        path: The file to write, usually `*.jsonl`.
        pool_set: The pools.
        threads: The threads of the pools.
        source: Name of the dataset as the user gave it.

    Returns:
        The manifest: design, seed, source and its fingerprint, fingerprint of the threads with these pools, sha256 of
        the file, and statistics per subreddit.

    Raises:
        UserError: A pool lacks a relevant candidate, or threads and pools do not belong together.
    """
    pooled = with_pools(threads, pool_set.pools)
    lines = [to_json({"thread_id": name, "candidates": list(pool)}) + "\n" for name, pool in pool_set.pools.items()]
    manifest = {
        "design": pool_set.design,
        "seed": pool_set.seed,
        "source": source,
        "source_fingerprint": fingerprint_of(threads),
        "fingerprint": fingerprint_of(pooled),
        "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
        "n_threads": len(pool_set.pools),
        "subreddits": {name: asdict(statistics) for name, statistics in pool_set.subreddits.items()},
        "notes": list(pool_set.notes),
    }
    write_text(path, lines)
    write_text(manifest_path(path), [to_json(manifest, indent=2), "\n"])
    return manifest


def read_pools(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read a pool file.

    Args:
        path: A file that `write_pools` wrote, or one of the same form.

    Returns:
        Thread id to candidates, in file order.

    Raises:
        UserError: The file is missing, not UTF-8 or not JSON lines. A field is missing or of another type. A thread
            appears twice. A pool is empty or holds a candidate twice.
    """
    pools: dict[str, tuple[str, ...]] = {}
    for row in read_objects(path):
        thread_id, candidates = row.string("thread_id"), row.strings("candidates")
        where = f"{row.where}, thread {plain(thread_id)}"
        if thread_id in pools:
            raise UserError(f"{where}: appears twice in this file, expected once")
        if not candidates:
            raise UserError(f"{where}: candidates is an empty list, expected titles")
        for candidate, times in Counter(candidates).items():
            if times > 1:
                raise UserError(f"{where}: the candidate {show(candidate)} appears {times} times, expected once")
            if not candidate.strip():
                raise UserError(f"{where}: the candidate {show(candidate)} is blank, expected a title")
        pools[thread_id] = tuple(candidates)
    if not pools:
        raise UserError(f"{path}: found no pools, expected at least one")
    return pools


def with_pools(threads: Sequence[Thread], pools: Pools) -> list[Thread]:
    """Replace the pools of threads; ground truth and all other fields stay.

    Args:
        threads: The threads of a dataset.
        pools: Thread id to candidates, one pool per thread.

    Returns:
        The threads in the same order, with their new candidates.

    Raises:
        UserError: A thread has no pool, a pool has no thread, or a pool lacks a title of its thread's ground truth.
    """
    known = {thread.thread_id for thread in threads}
    without = [thread.thread_id for thread in threads if thread.thread_id not in pools]
    unknown = [thread_id for thread_id in pools if thread_id not in known]
    if without or unknown:
        faults = [f"{len(without)} threads have no pool ({some(without, 3)})"] if without else []
        faults += [f"{len(unknown)} pools are for other threads ({some(unknown, 3)})"] if unknown else []
        raise UserError(f"the pools do not match this dataset: {' and '.join(faults)}; expected one pool per thread")
    pooled = []
    for thread in threads:
        pool = pools[thread.thread_id]
        lacking = [item for item in thread.ground_truth if item not in set(pool)]
        if lacking:
            raise UserError(
                f"thread {thread.thread_id}: its pool lacks {some([show(item) for item in lacking], 3)} of its ground "
                "truth, expected every title as an exact string"
            )
        pooled.append(replace(thread, candidates=pool))
    return pooled


def fingerprint_of(threads: Sequence[Thread]) -> str:
    """Compute the fingerprint of threads; see `musicrs_metric.runs.references.fingerprint`."""
    return fingerprint((thread.thread_id, thread.candidates, thread.ground_truth) for thread in threads)


@dataclass(frozen=True)
class NamedPools:
    """Pools with the name of their configurations.

    Attributes:
        name: Suffix of the configuration names, as in `query_only_balanced`.
        pools: Thread id to candidates.
        sha256: Hash of the pool file; None without a file.
    """

    name: str
    pools: Mapping[str, tuple[str, ...]]
    sha256: str | None = None


def read_named_pools(path: Path, name: str | None = None) -> NamedPools:
    """Read a pool file.

    Args:
        path: JSON lines of `{"thread_id", "candidates"}`, as `musicrs_dataset pools` writes them.
        name: Name of the pools; None for the pool design in the first line or in the manifest of the file.

    Returns:
        The pools.

    Raises:
        UserError: The file has another form, or neither a name nor a pool design is given.
    """
    pools = read_pools(path)
    return NamedPools(name or _design(path), pools, file_sha256(path))


def _design(path: Path) -> str:
    design = next(read_objects(path)).values.get("design")
    manifest = manifest_path(path)
    if design is None and manifest.is_file():
        try:
            design = strict_json(manifest.read_text(encoding="utf-8"))["design"]
        except (ValueError, LookupError, TypeError) as error:
            raise UserError(f"{manifest}: not the manifest of a pool file ({error!r}); give --pools-name") from error
    if not isinstance(design, str):
        raise UserError(f"{path}: found no pool design to name its configurations; give --pools-name")
    return design
