"""A leaderboard under load: many readers and some submitters at once, against the real server over HTTP.

    python -m benchmarks board_load [--readers 50] [--submitters 10] [--seconds 60] [--rows 60]

A reader asks for the table, reads it for a second, and asks again, for another genre each time: four of five open
/leaderboard.json, the fifth calls the endpoint /leaderboard. A submitter sends a new file as soon as the last one is
answered. "Try again in N s" is an answer, not an error. Beside the times stands how much of a processor the server got:
much less than one means that it waited for other work on the machine.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.board import fill, form, make_dataset, prediction_file
from musicrs_metric.base.genres import GENRES
from space.board.data import load_data

_STARTS_WITHIN_S = 180
_READS_FOR_S = 1.0


class Load:
    """Results of the calls.

    Attributes:
        seconds: Kind of call to how long each took.
        refused: How many were told to try again later.
        errors: What went wrong, in words.
    """

    def __init__(self, url: str, until: float) -> None:
        self.url, self.until = url, until
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.refused = 0
        self.errors: list[str] = []
        self._lock = threading.Lock()

    def time(self, kind: str, call: Callable[[], str | None]) -> None:
        """Make a call and note how it went."""
        start = time.perf_counter()
        try:
            outcome = call()
        except (OSError, ValueError) as error:
            outcome = f"{type(error).__name__}: {error}"
        taken = time.perf_counter() - start
        with self._lock:
            if outcome is None:
                self.seconds[kind].append(taken)
            elif "try again in" in outcome:
                self.refused += 1
            else:
                self.errors.append(f"{kind}: {outcome}")

    def read(self, number: int) -> None:
        """Be a reader."""
        rng = Random(number)
        time.sleep(rng.random() * _READS_FOR_S)  # they do not all come in the same moment
        while time.monotonic() < self.until:
            genre = rng.choice(["", "", *GENRES])
            if number % 5:
                self.time("table at its address", partial(_open, f"{self.url}/leaderboard.json?genre={genre}"))
            else:
                values = {"genre": genre}
                self.time("table by endpoint", partial(_call, self.url, "leaderboard", values))
            time.sleep(_READS_FOR_S)

    def submit(self, files: Callable[[], tuple[int, bytes]]) -> None:
        """Be a submitter."""
        while time.monotonic() < self.until:
            i, content = files()
            said = form(i)
            values = {
                "predictions": base64.b64encode(gzip.compress(content, 1)).decode(),
                "name": f"Under load {i}", "modality": said.modality, "paradigm": said.paradigm, "reads": said.reads,
            }  # fmt: skip
            self.time("submission", partial(_call, self.url, "submit", values))


def _open(address: str) -> str | None:
    """Open an address; None where it went well."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        json.load(answer)
    return None


def _call(url: str, endpoint: str, values: dict[str, Any]) -> str | None:
    """Call by two plain requests; None where it went well, what was said where it did not."""
    request = urllib.request.Request(
        f"{url}/gradio_api/call/v2/{endpoint}",
        data=json.dumps(values).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        event = json.load(answer)["event_id"]
    with urllib.request.urlopen(f"{url}/gradio_api/call/{endpoint}/{event}", timeout=60) as answer:
        stream = answer.read().decode()
    name, _, data = stream.rpartition("event: ")[2].partition("\ndata: ")
    if name != "complete":
        return f"{name}: {data.strip()[:200]}"
    (made,) = json.loads(data)
    return None if not isinstance(made, dict) or made["state"] in ("stored", "already") else str(made)[:200]


def main(argv: Sequence[str] | None = None) -> None:
    """Start the server on a filled board and load it.

    Args:
        argv: Command line, without the program.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks board_load")
    for name, standard in {"readers": 50, "submitters": 10, "seconds": 60, "rows": 60}.items():
        parser.add_argument(f"--{name}", type=int, default=standard)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="musicrs-load-") as folder:
        make_dataset(Path(folder) / "data")
        fill(Path(folder), given.rows)
        port = _free_port()
        environment = os.environ | {"SUBMISSIONS_PER_HOUR": "0", "CALLS_PER_HOUR": "0", "HF_HUB_OFFLINE": "1"}
        command = [sys.executable, "-m", "space", "--port", str(port), "--results", folder]
        command += ["--dataset", f"{folder}/data"]
        server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, server)
            before, start = _processor_seconds(server.pid), time.monotonic()
            _load(url, Path(folder), given)
            share = (_processor_seconds(server.pid) - before) / (time.monotonic() - start)
            print(f"the server got {share:.2f} processors")
        finally:
            server.terminate()
            server.wait()
        print(f"{len(list(Path(folder, 'submissions').glob('*.jsonl')))} submissions on disk afterwards")


def _load(url: str, folder: Path, given: argparse.Namespace) -> None:
    references = load_data(str(folder / "data")).designs[0].references
    ready = [prediction_file(references, 10_000 + i, 0.2) for i in range(8)]
    taken, lock = 0, threading.Lock()

    def next_file() -> tuple[int, bytes]:
        nonlocal taken
        with lock:
            taken += 1
            return taken, ready[taken % len(ready)]

    load = Load(url, time.monotonic() + given.seconds)
    people = [threading.Thread(target=load.read, args=(i,)) for i in range(given.readers)]
    people += [threading.Thread(target=load.submit, args=(next_file,)) for _ in range(given.submitters)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    for kind, seconds in sorted(load.seconds.items()):
        half, most, last = np.quantile(seconds, [0.5, 0.95, 1])
        print(f"{kind}: {len(seconds)} in {given.seconds} s; median {half:.2f} s, 95 % {most:.2f} s, last {last:.2f} s")
    print(f"{load.refused} told to try again, {len(load.errors)} errors")
    for error in load.errors[:5]:
        print(f"  {error}")


def _processor_seconds(process: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(_STARTS_WITHIN_S * 2):
        try:
            urllib.request.urlopen(f"{url}/gradio_api/info", timeout=5).close()
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.5)
    raise SystemExit("error: the server did not start")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
