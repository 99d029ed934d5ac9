"""Times several ways to do one job in one run, taking turns, so that a busy machine slows all of them alike."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Contender:
    """One way to do the job.

    Attributes:
        name: Row of the table.
        run: What is timed; takes the input of the round, made anew for each contender.
        prepare: What is made of that input before the clock starts.
    """

    name: str
    run: Callable[[Any], object]
    prepare: Callable[[Any], Any] = lambda made: made


def compare(
    title: str,
    contenders: Sequence[Contender],
    make: Callable[[], Any],
    *,
    rounds: int,
    targets: dict[str, float],
    clock: Callable[[], float] = perf_counter,
) -> dict[str, float]:
    """Time all contenders in turns and print how many times as long as the first each takes.

    Args:
        title: What is measured.
        contenders: The first one is the unit.
        make: Makes the input; called before every single measurement.
        rounds: Turns of each contender.
        targets: Name to the most that its ratio may be, shown beside it.
        clock: Returns seconds.

    Returns:
        Name to the median over the rounds of its time divided by that of the first contender in the same round.
    """
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            prepared = contender.prepare(make())
            gc.collect()
            start = clock()
            result = contender.run(prepared)
            seconds[contender.name].append(clock() - start)
            del prepared, result
    unit = seconds[contenders[0].name]
    ratios = {name: median(t / u for t, u in zip(times, unit, strict=True)) for name, times in seconds.items()}
    print(title)
    for name, ratio in ratios.items():
        target = f"   at most {targets[name]:g}" if name in targets else ""
        print(f"  {name:44}{median(seconds[name]):9.3f} s{ratio:9.2f} x{target}")
    report("ratios", {"what": title, "seconds": {n: median(t) for n, t in seconds.items()}, "ratios": ratios})
    return ratios


def report(kind: str, values: dict[str, Any]) -> None:
    """Print one JSON line, for programs."""
    print(json.dumps({kind: values}), flush=True)


def peak_memory(job: Callable[[], object]) -> float | None:
    """Run a job and return how many MB its peak lay above what the process held before; None where not on Linux."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    gc.collect()
    before = _status_kb(status, "VmRSS")
    reset.write_text("5")  # sets the peak back to the present size
    job()
    return (_status_kb(status, "VmHWM") - before) / 1024


def _status_kb(status: Path, field: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(f"{field}:"))
