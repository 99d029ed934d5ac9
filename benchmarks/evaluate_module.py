"""Time of `evaluate.load(...).compute`, relative to an `evaluate` metric that takes the same columns and does nothing.

    python -m benchmarks evaluate_module [--threads 10000] [--rounds 5]

Strings are read anew for every measurement, as in `benchmarks.scoring`. Confidence intervals are on, as by default.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .scoring import N_CANDIDATES, Threads, json_lines, read
from .side_by_side import Contender, compare

_MODULE = Path(__file__).parent.parent / "musicrs_metric" / "musicrs.py"
_EMPTY = """
import datasets
import evaluate

TEXTS = datasets.Sequence(datasets.Value("string"))


class Empty(evaluate.Metric):
    def _info(self):
        columns = {"predictions": TEXTS, "references": TEXTS, "candidates": TEXTS, "groups": datasets.Value("string")}
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=datasets.Features(columns)
        )

    def _compute(self, predictions, references, candidates, groups):
        return {}
"""


def compute(threads: Threads, metric: Any) -> object:
    """Hand all rows to a metric at once."""
    labels = [str(i % 7) for i in range(len(threads.rankings))]
    return metric.compute(
        predictions=threads.rankings, references=threads.relevant, candidates=threads.candidates, groups=labels
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the ratio.

    Args:
        argv: `--threads N` and `--rounds N`.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks evaluate_module")
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_EVALUATE_OFFLINE": "1", "HF_MODULES_CACHE": f"{folder}/modules"}  # before the import
        import evaluate

        empty = Path(folder, "empty.py")
        empty.write_text(_EMPTY, encoding="utf-8")
        metrics = {
            name: evaluate.load(str(path), cache_dir=f"{folder}/cache", experiment_id=name)
            for name, path in (("empty", empty), ("musicrs", _MODULE))
        }
        compare(
            f"evaluate, {arguments.threads:,} threads x {N_CANDIDATES} strings, {arguments.rounds} rounds",
            [
                Contender("an empty metric with the same columns", partial(compute, metric=metrics["empty"])),
                Contender("evaluate.load(musicrs).compute", partial(compute, metric=metrics["musicrs"])),
            ],
            partial(read, list(json_lines(arguments.threads))),
            rounds=arguments.rounds,
            targets={"evaluate.load(musicrs).compute": 1.3},
        )


if __name__ == "__main__":
    main()
