"""The whole line on the embedded mini dataset: build, run every baseline, end in one table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from musicrs_metric.base.numbers import percent
from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import load_references
from musicrs_metric.runs.run_card import Modality, RunCard
from musicrs_metric.runs.score_tables import cells, headline
from musicrs_metric.scoring import Scores

from ..data import load_data
from ..fusion import fuse_runs
from ..launch import build_system
from ..run.processes import Processes
from ..run.reporter import Reporter
from ..run.runner import Plan, run
from .summary import score_result

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

RUNS = "demo-runs"

SYSTEMS: tuple[tuple[str, Modality, tuple[str, ...]], ...] = (
    ("random", "query_only", ()),
    ("file_order", "query_only", ()),
    ("popularity", "query_only", ()),
    ("neighborhood", "query_only", ()),
    ("lexical", "query_only", ()),
    ("minilm", "query_only", ()),
    ("minilm", "query_only", ("--center",)),
    ("descriptors", "audio_only", ()),
)
FUSED = ("minilm", "descriptors")  # words and sound


class Row(NamedTuple):
    """One system in the table.

    Attributes:
        card: What ran.
        scores: Its scores.
    """

    card: RunCard
    scores: Scores


def run_demo(out: Path, console: Console, errors: Console) -> None:
    """Build the mini dataset, run the baselines on it and print their scores.

    Args:
        out: Folder for the dataset, the runs and the embeddings.
        console: Where the table goes.
        errors: Where progress goes.
    """
    console.print(f"Building the mini dataset in {out / 'dataset'} ...", markup=False, highlight=False)
    folder = build_mini(out / "dataset")
    shutil.rmtree(out / RUNS, ignore_errors=True)  # a demonstration runs anew, whatever has changed since the last one
    rows = list(_rows(folder, out, Reporter(errors)))
    console.print(systems_table(rows))
    console.print(
        "A toy: the scores say that the systems run, and nothing about music. chance is the exact expectation of a "
        f"random order of each pool. Verdict of recall: {VERDICT_RULE}."
    )
    console.print(f"The runs lie in {out / RUNS}: predictions.jsonl and run.json each.", markup=False)


def build_mini(out: Path) -> Path:
    """Build the embedded dataset.

    Args:
        out: Folder to build in.

    Returns:
        The dataset folder.
    """
    from musicrs_dataset.repo.build import build
    from musicrs_dataset.sources import MINI, resolve_source

    source = resolve_source(MINI)
    return build(source.threads, out, about=source.about)


def systems_table(rows: Sequence[Row]) -> Table:
    """One row per system, chance on top."""
    from rich.box import SIMPLE
    from rich.table import Table

    names = headline(rows[0].scores)
    table = Table(title="Baselines on the mini dataset, in %, with 95 % intervals", title_justify="left", box=SIMPLE)
    table.add_column("system", no_wrap=True)
    table.add_column("given", no_wrap=True)
    table.add_column("reads")
    for heading in [heading for name in names for heading in (name, "interval")]:
        table.add_column(heading, justify="right")
    table.add_column("n", justify="right")
    table.add_column("to chance")
    chance = rows[0].scores.chance or {}
    table.add_row("chance", "", "", *[cell for name in names for cell in (percent(chance.get(name)), "")], "", "")
    for row in rows:
        values = [cell for name in names for cell in cells(row.scores, name)[:2]]
        about = (row.card.name, row.card.modality, row.card.reads)
        table.add_row(*about, *values, str(row.scores.n), row.scores.verdict(names[0]) or "–")
    return table


def _rows(folder: Path, out: Path, reporter: Reporter) -> Iterator[Row]:
    runs = out / RUNS
    data = {modality: load_data(str(folder), modality) for _, modality, _ in SYSTEMS}
    for name, modality, arguments in SYSTEMS:
        system = build_system(name, modality, arguments, cache=out / "vectors")
        run_folder = runs / "_".join([name, *arguments]).replace("--", "")
        plan = Plan(system=system, system_name=name, data=data[modality], out=run_folder)
        result = run(plan, Processes(), reporter)
        assert result is not None  # noqa: S101 - there is one process, and it is the main one
        yield Row(result.card, score_result(result, data[modality].references))
    words, sound = FUSED
    fused = runs / f"{words}_{sound}"
    card = fuse_runs(runs / words, runs / sound, fused)
    yield Row(card, score_predictions(fused, load_references(folder, card.config)).scores)
