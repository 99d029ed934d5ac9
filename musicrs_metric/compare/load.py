"""Systems from prediction files or run folders, joined to a dataset by thread id."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..catalogue.compare import cutoffs_for, unit_table
from ..catalogue.corpus import Corpus
from ..catalogue.read import judged_table
from ..errors import UserError, plain, show
from ..measures import DEFAULT_K, LARGEST_K, check_cutoffs, measure_names
from ..runs.filled_scores import score_filled
from ..runs.predictions import PREDICTIONS, Prediction
from ..runs.read import read_run
from ..runs.references import References
from ..runs.run_card import RunCard
from ..scoring import Empty, ThreadTable
from .shipped import is_shipped, shipped_names, shipped_run
from .systems import Mask, System


class Run(NamedTuple):
    """A system with its run card and the warnings of its prediction file.

    Attributes:
        system: Ready to compare.
        card: Its run card; None if there is no `run.json` next to the predictions.
        warnings: Lines that the reader set aside.
        threads: Values per thread. The table of the system has one row per dialogue if the threads are turns.
    """

    system: System
    card: RunCard | None
    warnings: tuple[str, ...]
    threads: ThreadTable


def load_runs(
    paths: Sequence[Path], references: References, metrics: Sequence[str], *, empty: Empty = "zero"
) -> list[Run]:
    """Read and judge the predictions of several systems.

    Args:
        paths: Prediction files, run folders that hold `predictions.jsonl`, or names of shipped systems
            (`musicrs_metric.compare.shipped`).
        references: The dataset. If its threads are turns of dialogues, a table has one row per dialogue.
        metrics: Measures to compute.
        empty: Whether a turn with an empty ground truth counts as "zero" or is "skip"ped.

    Returns:
        The runs in the order given. The name of a system is that of its run card, or else of its folder or file. A
        repeated name gets a number.

    Raises:
        UserError: An unknown metric, a file that is refused, or a run card of other data.
    """
    of_catalogue = isinstance(references, Corpus)
    cutoffs = cutoffs_for(metrics, references) if of_catalogue else cutoffs_of(metrics)
    runs: list[Run] = []
    for path in paths:
        shipped = is_shipped(path)
        if not shipped and not path.exists():
            names = ", ".join(shipped_names())
            raise UserError(f"{path}: no such file; expected a prediction file, a run folder, or one of {names}")
        card, read = shipped_run(str(path), references) if shipped else read_run(path, references)
        table, notes = judged_table(read, references, cutoffs)
        units = unit_table(table, references, empty)
        name = unused(plain(card.name) if card is not None else _name_of(read.path), {run.system.name for run in runs})
        reads = None if card is None else card.reads
        filled = no_audio = None
        if units is table:
            filled = score_filled(read.predictions, references, table)
            no_audio = _no_audio(read.predictions, references)
        system = System(name, units, reads, no_audio, filled)
        # The first note describes the catalogue, not the run.
        runs.append(Run(system, card, notes[1:] if of_catalogue else read.warnings, table))
    return runs


def cutoffs_of(metrics: Iterable[str]) -> tuple[int, ...]:
    """Return the cutoffs that a table needs to hold the metrics.

    Args:
        metrics: Measure names such as "recall@20" and "mrr".

    Returns:
        The cutoffs, ascending.

    Raises:
        UserError: A name that is no measure.
    """
    metrics = list(metrics)
    found = [int(match[1]) for metric in metrics if (match := re.fullmatch(r"[a-z]+@([1-9][0-9]{0,4})", metric))]
    cutoffs = check_cutoffs(found or DEFAULT_K)
    known = measure_names(cutoffs)
    for metric in metrics:
        if metric not in known:
            kinds = ", ".join(name.replace(f"@{cutoffs[0]}", "@K") for name in measure_names(cutoffs[:1]))
            raise UserError(f"unknown metric {show(metric)}; expected one of {kinds}, with K from 1 to {LARGEST_K}")
    return cutoffs


def _name_of(file: Path) -> str:
    return file.absolute().parent.name if file.name == PREDICTIONS else file.stem


def unused(name: str, taken: Collection[str]) -> str:
    """Return a name, with the first number that makes it unique among the names taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(candidate for candidate in chain([name], numbered) if candidate not in taken)


def _no_audio(predictions: Iterable[Prediction], references: References) -> Mask:
    silent = {prediction.thread_id for prediction in predictions if prediction.outcome == "no_audio"}
    return np.array([thread_id in silent for thread_id in references.thread_ids], dtype=bool)
