"""Speed of mining relative to decompression alone, its memory, and the effect of a killed run.

    python -m benchmarks mining [--megabytes 1300] [--workers 2] [--rounds 3] [--kills 20]

The dumps are made for it, with every quirk that is known of real ones and windows of 2 GiB: monthly ones of all of
Reddit, of which 6 % is wanted, and two of one subreddit, a third as large, of which all is. Links are parsed. What
comes out of mining and filtering is compared with what went in. The floor is `zstd -dc --long=31 | wc -c` on the same
files.

`share` is of seconds on the clock, which say little on a machine that others use too; `by CPU` is of processor time:
what the share would be with as many free processors as workers, the start of the workers apart. A dump is one task, so
no number of workers is faster than the longest dump.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import NamedTuple

import pyarrow.parquet as pq

from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from builder_scripts.mine.dumps import find_dumps
from builder_scripts.mine.run import Mined, Mining
from builder_scripts.threads.options import ThreadsOptions
from builder_scripts.threads.run import run
from tests.builder_scripts.dumps import WANTED, Corpus, Truth

_THREADS_PER_MB = {"monthly": 8, "jazz": 126}  # of made dumps
_ROOT = Path(__file__).parents[1]


class Floor(NamedTuple):
    """Cost of decompression alone; `cpu_s` is the processor time of `zstd`."""

    wall_s: float
    cpu_s: float


def decompress(files: Sequence[Path]) -> Floor:
    """Decompress and count, with the command where there is one."""
    start = perf_counter()
    if shutil.which("zstd"):
        command = ["zstd", "-dc", "--long=31", *map(str, files)]
    else:
        code = (
            "import sys, zstandard\n"
            "for path in sys.argv[1:]:\n"
            "    decoder = zstandard.ZstdDecompressor(max_window_size=2**31)\n"
            "    with open(path, 'rb') as file, decoder.stream_reader(file, read_across_frames=True) as stream:\n"
            "        while block := stream.read(1 << 19): sys.stdout.buffer.write(block)\n"
        )
        command = [sys.executable, "-c", code, *map(str, files)]
    reader = subprocess.Popen(command, stdout=subprocess.PIPE)
    subprocess.run(["wc", "-c"], stdin=reader.stdout, stdout=subprocess.DEVNULL, check=True)
    _, status, used = os.wait4(reader.pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Floor(perf_counter() - start, used.ru_utime + used.ru_stime)


def mine(files: Sequence[Path], work: Work, workers: int) -> tuple[float, Mined]:
    """Measure the seconds that it takes to mine into an empty folder, the start of the workers included."""
    shutil.rmtree(work.bronze, ignore_errors=True)
    mining = Mining(find_dumps(files), work, WANTED)
    found: list[Mined] = []
    return _seconds(lambda: found.append(mining.run(workers))), found[0]


def is_true(work: Work, truth: Truth) -> bool:
    """Tell whether each line and row is accounted for as it was written, and the right threads and replies are kept."""
    counts = StageManifest.read(work.bronze, "mine").counts, run(work, ThreadsOptions())[0].counts
    for stage, expected in zip(counts, (truth.lines, truth.rows), strict=True):
        for kind, wanted in expected.items():
            if {"kept": stage[kind].kept, **stage[kind].dropped} != wanted:
                return False
    threads = {
        row["thread_id"]: [(link["video_id"], link["start_s"]) for link in row["links"]]
        for row in pq.read_table(work.threads).to_pylist()
    }
    replies = {row["comment_id"]: (row["body"], row["score"]) for row in pq.read_table(work.replies).to_pylist()}
    return threads == {name: row["links"] for name, row in truth.threads.items()} and replies == {
        name: (row["body"], row["score"]) for name, row in truth.replies.items()
    }


def kill(files: Sequence[Path], work: Work, workers: int, times: int, seconds: float) -> bool:
    """Kill the command at random moments, take it up again, and tell whether the files are those of `work`."""
    rng = random.Random(0)
    left = Work(work.root.with_name("killed"))
    options = ["mine", *map(str, files), "--work", str(left.root), "--workers", str(workers)]
    command = [sys.executable, "-m", "builder_scripts", *options]
    killed = 0
    same = True
    while killed < times:
        left.salt.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(work.salt, left.salt)
        process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = monotonic() + rng.uniform(0, seconds)
        while process.poll() is None and monotonic() < end:
            sleep(0.01)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        if process.returncode == 0:
            same &= _outputs(left) == _outputs(work)
            shutil.rmtree(left.root)
    subprocess.run(command, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return same and _outputs(left) == _outputs(work)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table.

    Args:
        argv: `--megabytes N`, `--workers N`, `--rounds N`, `--kills N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks mining")
    parser.add_argument("--megabytes", type=int, default=1_300, help="of monthly dumps, decompressed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="the best of which is shown")
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args(argv)
    os.environ["PYTHONPATH"] = str(_ROOT)
    with tempfile.TemporaryDirectory() as folder:
        print("dumps       MB  zstd MB/s  mine MB/s  share  by CPU  target  zstd CPU s  mine CPU s  peak MB  true")
        for name, target in (("monthly", 0.6), ("jazz", 0.2)):
            place = Path(folder, name)
            corpus = Corpus(window_log=31)
            threads = arguments.megabytes * _THREADS_PER_MB[name] // 3
            if name == "monthly":
                files = corpus.monthly(place / "dumps", threads, fillers=15)
            else:
                files = corpus.per_subreddit(place / "dumps", threads)
            work = Work(place / "work")
            floors: list[Floor] = []
            minings: list[tuple[float, Mined]] = []
            for _ in range(arguments.rounds):
                floors.append(decompress(files))
                minings.append(mine(files, work, arguments.workers))
            reports = min(minings, key=lambda one: _cpu(one[1]))[1].reports
            size, peak = (sum(report.raw_bytes for report in reports) / 1e6, max(r.peak_rss for r in reports) / 1e6)
            floor, best = min(one.wall_s for one in floors), min(seconds for seconds, _ in minings)
            floor_cpu, cpu = min(one.cpu_s for one in floors), sum(report.cpu_s for report in reports)
            at_best = max(cpu / arguments.workers, *(report.cpu_s for report in reports))
            print(
                f"{name:8}{size:6.0f}{size / floor:11.0f}{size / best:11.0f}{floor / best:7.2f}"
                f"{floor_cpu / at_best:8.2f}{target:8.2f}{floor_cpu:12.2f}{cpu:12.2f}{peak:9.0f}  "
                f"{is_true(work, corpus.truth)}",
                flush=True,
            )
            if name == "monthly" and arguments.kills:
                same = kill(files, work, arguments.workers, arguments.kills, 1.5 * best)
                print(f"killed {arguments.kills} times and taken up again: {'the same' if same else 'OTHER'} files")


def _cpu(mined: Mined) -> float:
    return sum(report.cpu_s for report in mined.reports)


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _outputs(work: Work) -> dict[str, str]:
    return {file.path: file.sha256 for file in StageManifest.read(work.bronze, "mine").outputs}


if __name__ == "__main__":
    main()
