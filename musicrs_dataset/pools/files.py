"""Pool files: JSON lines of `{"thread_id": ..., "candidates": [...]}`, with a manifest beside them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.errors import UserError, plain, show, some
from musicrs_metric.runs.references import fingerprint

from ..jsonl import read_objects
from ..records import Thread
from .poolset import PoolSet

Pools = Mapping[str, tuple[str, ...]]


def manifest_path(path: str | Path) -> Path:
    """Where the manifest of a pool file lies: `pools.jsonl` has `pools.manifest.json`."""
    return Path(path).with_suffix(".manifest.json")


def write_pools(path: str | Path, made: PoolSet, threads: Sequence[Thread], *, source: str) -> dict[str, Any]:
    """Write pools as JSON lines, and beside them a manifest of what they are and what they were made from.

    The same pools give the same bytes in both files.

    Args:
        path: The file to write, by custom `*.jsonl`.
        made: The pools.
        threads: The threads that they are for.
        source: What the user called the dataset.

    Returns:
        The manifest: design, seed, source and its fingerprint, fingerprint of the threads with these pools, sha256 of
        the file, and per subreddit how the pools came out.

    Raises:
        UserError: A pool lacks a right answer, or threads and pools do not belong together.
    """
    pooled = with_pools(threads, made.pools)
    lines = [to_json({"thread_id": name, "candidates": list(pool)}) + "\n" for name, pool in made.pools.items()]
    manifest = {
        "design": made.design,
        "seed": made.seed,
        "source": source,
        "source_fingerprint": fingerprint_of(threads),
        "fingerprint": fingerprint_of(pooled),
        "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
        "n_threads": len(made.pools),
        "subreddits": {name: asdict(told) for name, told in made.subreddits.items()},
        "notes": list(made.notes),
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
        UserError: The file is missing, not UTF-8 or not JSON lines; a field is missing or of another type; a thread
            stands twice; a pool is empty or holds a candidate twice.
    """
    pools: dict[str, tuple[str, ...]] = {}
    for row in read_objects(path):
        thread_id, candidates = row.string("thread_id"), row.strings("candidates")
        where = f"{row.where}, thread {plain(thread_id)}"
        if thread_id in pools:
            raise UserError(f"{where}: it stands twice in this file, expected once")
        if not candidates:
            raise UserError(f"{where}: candidates is an empty list, expected titles")
        for candidate, times in Counter(candidates).items():
            if times > 1:
                raise UserError(f"{where}: the candidate {show(candidate)} stands {times} times, expected once")
            if not candidate.strip():
                raise UserError(f"{where}: the candidate {show(candidate)} is blank, expected a title")
        pools[thread_id] = tuple(candidates)
    if not pools:
        raise UserError(f"{path}: the file holds no pools")
    return pools


def with_pools(threads: Sequence[Thread], pools: Pools) -> list[Thread]:
    """Give threads other pools; ground truth and everything else stays.

    Args:
        threads: The threads of a dataset.
        pools: Thread id to candidates, one for every thread.

    Returns:
        The threads, in the order given, with their new candidates.

    Raises:
        UserError: A thread has no pool, a pool no thread, or a pool lacks an item of its thread's ground truth.
    """
    known = {thread.thread_id for thread in threads}
    without = [thread.thread_id for thread in threads if thread.thread_id not in pools]
    unknown = [thread_id for thread_id in pools if thread_id not in known]
    if without or unknown:
        faults = [f"{len(without)} threads have no pool ({some(without, 3)})"] if without else []
        faults += [f"{len(unknown)} pools are for other threads ({some(unknown, 3)})"] if unknown else []
        raise UserError(
            f"the pools are not those of this dataset: {' and '.join(faults)}; expected one for each thread"
        )
    pooled = []
    for thread in threads:
        pool = pools[thread.thread_id]
        lacking = [item for item in thread.ground_truth if item not in set(pool)]
        if lacking:
            raise UserError(
                f"thread {thread.thread_id}: its pool lacks {some([show(item) for item in lacking], 3)} of its ground "
                "truth, expected every item letter for letter"
            )
        pooled.append(replace(thread, candidates=pool))
    return pooled


def fingerprint_of(threads: Sequence[Thread]) -> str:
    """Fingerprint of threads with their pools and labels; see `musicrs_metric.runs.references.fingerprint`."""
    return fingerprint((thread.thread_id, thread.candidates, thread.ground_truth) for thread in threads)
