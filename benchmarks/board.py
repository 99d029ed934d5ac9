"""Time of a leaderboard of many submissions: to fill, to restart, to answer.

    python -m benchmarks board [--submissions 200]

On made-up titles in pools of the published sizes. "restarted" is a new process that finds the scores on disk; it is
what stands between the start of a Space and its first page, beside the reading of the dataset. Beside the time on the
clock stands that of the processor, which other work on the machine does not lengthen.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np

from benchmarks.simulations import published_threads
from musicrs_dataset.records import Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import About
from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.runs.predictions import Prediction, format_line
from musicrs_metric.runs.references import References
from space.board.board import Board
from space.board.data import load_data
from space.board.pairing import Pairing
from space.board.table_rows import RowQuery, table_rows
from space.board.threads import rankings_of
from space.intake import SubmissionForm, take
from space.settings import Limits
from space.store.local import LocalStore

T = TypeVar("T")
_MODALITIES = ("audio_query", "query_only", "audio_only")


def main(argv: Sequence[str] | None = None) -> None:
    """Fill a board, then read it in this process and in a new one.

    Args:
        argv: Command line, without the program.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks board")
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--reopen", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.reopen is not None:
        _read(given.reopen, "restarted")
        return
    with tempfile.TemporaryDirectory(prefix="musicrs-board-") as folder:
        make_dataset(Path(folder) / "data")
        fill(Path(folder), given.submissions)
        _read(Path(folder), "first computed")
        command = [sys.executable, "-m", "benchmarks.board", "--reopen", folder]
        subprocess.run(command, check=True)


def make_dataset(out: Path) -> None:
    """Build a dataset of made-up titles in pools of the published sizes."""
    subreddits = list(GENRE_OF_SUBREDDIT)
    threads = []
    for i, (size, relevant) in enumerate(zip(*published_threads(), strict=True)):
        pool = tuple(f"Artist {i % 97} - Title {i}.{place}" for place in range(size))
        subreddit = subreddits[i % len(subreddits)]
        threads.append(
            Thread(
                thread_id=f"t3_{i:06}", subreddit=subreddit, genre=GENRE_OF_SUBREDDIT[subreddit],
                query=f"Something like number {i}?", post="Words.", submission_entities=(), comments=(),
                candidates=pool, ground_truth=pool[:relevant], all_entities=pool[:relevant], links=(),
            )
        )  # fmt: skip
    build(threads, out, about=About(name="made up", license="cc0-1.0", attribution="Made by a program.", toy=True))


def prediction_file(references: References, seed: int, skill: float) -> bytes:
    """A prediction file: pools in random order, relevant titles moved up by `skill` between 0 and 1."""
    rng = np.random.default_rng(seed)
    made = []
    for thread, pool, right in zip(references.thread_ids, references.candidates, references.ground_truth, strict=True):
        drawn = rng.random(len(pool))
        drawn[: len(right)] -= skill  # the right ones stand first in these pools
        made.append(format_line(Prediction(thread, tuple(pool[place] for place in np.argsort(drawn)))))
    return "".join(made).encode()


def form(i: int) -> SubmissionForm:
    """Fields of the submission of number i: every third is another modality of one system."""
    return SubmissionForm(name=f"System {i // 3}", modality=_MODALITIES[i % 3], paradigm="retrieval", reads="thread")


def fill(folder: Path, submissions: int) -> None:
    """Send submissions through the door into a store."""
    data, store = load_data(str(folder / "data")), LocalStore(folder / "submissions")
    judging, storing = [], []
    for i in range(submissions):
        upload = prediction_file(data.designs[0].references, i, (i % 50) / 100)
        start = perf_counter()
        taken = take(upload, form(i), data, Limits())
        between = perf_counter()
        store.put(taken.submission)
        judging.append(between - start)
        storing.append(perf_counter() - between)
    megabytes = len(upload) / 1e6
    print(f"{submissions} submissions of {megabytes:.1f} MB; of one, the median in ms: ", end="")
    print(f"judged {1000 * np.median(judging):.0f}, stored {1000 * np.median(storing):.0f}")


def _read(folder: Path, state: str) -> None:
    data = load_data(str(folder / "data"))
    board = Board(data, LocalStore(folder / "submissions"), folder / "cache")
    print(f"{state}:")
    snapshot = _timed("  ready", board.snapshot)
    keys = [row.key for row in snapshot.rows]
    thread = data.designs[0].references.thread_ids[0]
    _timed("  table", lambda: table_rows(board, RowQuery()))
    _timed("  table of a genre", lambda: table_rows(board, RowQuery(genre="Jazz")))
    _timed("  the same again", lambda: table_rows(board, RowQuery(genre="Jazz")))
    _timed("  two rows compared", lambda: Pairing(board)(keys[0], keys[-1]))
    _timed("  one thread by all", lambda: rankings_of(board, thread))
    print(f"  {'peak memory':<20}{_peak_megabytes():9.0f} MB")


def _timed(what: str, work: Callable[[], T]) -> T:
    start, started = perf_counter(), process_time()
    made = work()
    print(
        f"{what:<22}{1000 * (perf_counter() - start):9.1f} ms{1000 * (process_time() - started):9.1f} ms of processor"
    )
    return made


def _peak_megabytes() -> float:
    """Peak memory of this process; `getrusage` would include the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
