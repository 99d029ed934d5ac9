"""A leaderboard under load: many readers and some submitters at once, against the real server over HTTP.

    python -m benchmarks board_load [--readers 50] [--submitters 10] [--seconds 60] [--rows 305]

A reader asks for something, reads it for a second, and asks again, for another genre each time. Of five readers, one
opens the page, two open a tab, as the page does once its script runs, one opens /leaderboard.json, and one calls the
endpoint /leaderboard. A submitter sends a new file as soon as the last one is answered. "Try again in N s" is no error,
but an answer. Before that, as many readers open an empty page of Gradio, which is what no page made with Gradio can be
quicker than. Next to the times stands the processor time of the server: much less than one processor means that it
waited for other work on the machine.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
_TABS = ("leaderboard", "leaderboard", "compare", "genres", "threads", "trends")
_EMPTY = """
import gradio
with gradio.Blocks(analytics_enabled=False) as page:
    gradio.HTML("<p>empty</p>")
page.launch(server_name="127.0.0.1", server_port=PORT, quiet=True)
"""


class Load:
    """Results of the calls.

    Attributes:
        seconds: Kind of call to how long each took.
        refused: How many were told to try again later.
        errors: What went wrong, in words.
    """

    def __init__(self, url: str, until: float) -> None:
        self.url, self.until, self.event = url, until, _loading_event(url)
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
            if number % 5 == 0:
                self.time("page", partial(_open, f"{self.url}/?genre={genre}"))
            elif number % 5 in (1, 2):
                tab = rng.choice(_TABS)
                self.time(
                    "tab", partial(_open_tab, f"{self.url}/gradio_api/run/predict?tab={tab}&genre={genre}", self.event)
                )
            elif number % 5 == 3:
                self.time("table as JSON", partial(_open, f"{self.url}/leaderboard.json?genre={genre}"))
            else:
                self.time("table by endpoint", partial(_call, self.url, "leaderboard", {"genre": genre}))
            time.sleep(_READS_FOR_S)

    def open_page(self, number: int) -> None:
        """Be a reader of an empty page."""
        time.sleep(Random(number).random() * _READS_FOR_S)
        while time.monotonic() < self.until:
            self.time("empty page of Gradio", partial(_open, self.url))
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

    def print(self) -> None:
        """Print the times by kind of call."""
        for kind, seconds in sorted(self.seconds.items()):
            half, most, last = np.quantile(seconds, [0.5, 0.95, 1])
            print(f"{kind}: {len(seconds)} calls; median {half:.2f} s, 95 % {most:.2f} s, last {last:.2f} s")
        print(f"{self.refused} told to try again, {len(self.errors)} errors")
        for error in self.errors[:5]:
            print(f"  {error}")


def _open(address: str) -> str | None:
    """Open an address; None where it went well."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        answer.read()
    return None


def _open_tab(address: str, event: int) -> str | None:
    """Ask for what the page shows once its script runs; None where it went well."""
    request = urllib.request.Request(
        address,
        data=json.dumps({"fn_index": event, "data": [], "session_hash": "benchmark"}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        said = json.load(answer)
    return None if "data" in said else str(said)[:200]


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
    for name, standard in {"readers": 50, "submitters": 10, "seconds": 60, "rows": 305}.items():
        parser.add_argument(f"--{name}", type=int, default=standard)
    given = parser.parse_args(argv)
    port = _free_port()
    with _serving([sys.executable, "-c", _EMPTY.replace("PORT", str(port))], f"http://127.0.0.1:{port}") as url:
        load = Load(url, time.monotonic() + given.seconds / 4)
        _run([threading.Thread(target=load.open_page, args=(i,)) for i in range(given.readers)])
        load.print()
    with tempfile.TemporaryDirectory(prefix="musicrs-load-") as folder:
        make_dataset(Path(folder) / "data")
        fill(Path(folder), given.rows)
        port = _free_port()
        command = [sys.executable, "-m", "space", "--port", str(port), "--results", folder]
        command += ["--dataset", f"{folder}/data"]
        with _serving(command, f"http://127.0.0.1:{port}") as url:
            _wait_for_scores(url)
            _load(url, Path(folder), given)
        print(f"{len(list(Path(folder, 'submissions').glob('*.jsonl')))} submissions on disk afterwards")


@contextmanager
def _serving(command: list[str], url: str) -> Iterator[str]:
    """Run a server, and print the processors that it got while it was in use."""
    environment = os.environ | {"SUBMISSIONS_PER_HOUR": "0", "CALLS_PER_HOUR": "0", "HF_HUB_OFFLINE": "1"}
    asked = time.monotonic()
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        _wait(f"{url}/config", server)
        print(f"answers after {time.monotonic() - asked:.1f} s and {_processor_seconds(server.pid):.1f} CPU seconds")
        before, start = _processor_seconds(server.pid), time.monotonic()
        yield url
        share = (_processor_seconds(server.pid) - before) / (time.monotonic() - start)
        print(f"the server got {share:.2f} processors")
    finally:
        server.terminate()
        server.wait()


def _wait_for_scores(url: str) -> None:
    """Wait until the server has scored every row, and print how long that took."""
    start = time.monotonic()
    while True:
        with urllib.request.urlopen(f"{url}/healthz", timeout=60) as answer:
            if json.load(answer)["pending"] == 0:
                break
        time.sleep(0.5)
    print(f"all rows are scored {time.monotonic() - start:.1f} s later")
    start = time.monotonic()
    for genre in GENRES:
        _open(f"{url}/leaderboard.json?genre={genre}")
    print(f"the first reader of every genre waits {time.monotonic() - start:.1f} s for all of them")


def _run(people: Sequence[threading.Thread]) -> None:
    for person in people:
        person.start()
    for person in people:
        person.join()


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
    _run(people + [threading.Thread(target=load.submit, args=(next_file,)) for _ in range(given.submitters)])
    load.print()


def _processor_seconds(process: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _loading_event(url: str) -> int:
    """Return the number of the event by which the page asks for its tab; -1 if it has none."""
    with urllib.request.urlopen(f"{url}/config", timeout=60) as answer:
        events = json.load(answer)["dependencies"]
    return next((int(event["id"]) for event in events if any(on == "load" for _, on in event["targets"])), -1)


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(_STARTS_WITHIN_S * 2):
        try:
            urllib.request.urlopen(url, timeout=5).close()
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
