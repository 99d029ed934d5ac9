"""Demonstration on the embedded mini dataset: build it, run every baseline, and print one table."""

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
FUSED = ("minilm", "descriptors")  # text and audio


class DemoRow(NamedTuple):
    """A row of the table.

    Attributes:
        card: Card of the run.
        scores: Scores of the run.
    """

    card: RunCard
    scores: Scores


def run_demo(out: Path, console: Console, errors: Console) -> None:
    """Build the mini dataset, run the baselines on it and print their scores.

    Args:
        out: Folder for the dataset, the runs and the embeddings.
        console: Console of the table.
        errors: Console of the progress.
    """
    console.print(f"Building the mini dataset in {out / 'dataset'} ...", markup=False, highlight=False)
    folder = build_mini(out / "dataset")
    shutil.rmtree(out / RUNS, ignore_errors=True)  # runs of an earlier demonstration may differ in code or data
    rows = list(_rows(folder, out, Reporter(errors)))
    console.print(systems_table(rows))
    console.print(
        "The mini dataset is a toy: these scores show that the systems run, and nothing about music. chance is the "
        f"exact expectation of a random order of each pool. Verdict of recall: {VERDICT_RULE}."
    )
    console.print(f"The runs are in {out / RUNS}, each with predictions.jsonl and run.json.", markup=False)


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


def systems_table(rows: Sequence[DemoRow]) -> Table:
    """Return a table with one row per system, and chance at the top."""
    from rich.box import SIMPLE
    from rich.table import Table

    names = headline(rows[0].scores)
    table = Table(title="Baselines on the mini dataset, in %, with 95 % intervals", title_justify="left", box=SIMPLE)
    table.add_column("system", no_wrap=True)
    table.add_column("modality", no_wrap=True)
    table.add_column("reads")
    for heading in [heading for name in names for heading in (name, "interval")]:
        table.add_column(heading, justify="right")
    table.add_column("n", justify="right")
    table.add_column("to chance")
    chance = rows[0].scores.chance or {}
    table.add_row("chance", "", "", *[cell for name in names for cell in (percent(chance.get(name)), "")], "", "")
    for row in rows:
        values = [cell for name in names for cell in cells(row.scores, name)[:2]]
        system = (row.card.name, row.card.modality, row.card.reads)
        table.add_row(*system, *values, str(row.scores.n), row.scores.verdict(names[0]) or "–")
    return table


def _rows(folder: Path, out: Path, reporter: Reporter) -> Iterator[DemoRow]:
    runs = out / RUNS
    data = {modality: load_data(str(folder), modality) for _, modality, _ in SYSTEMS}
    for name, modality, arguments in SYSTEMS:
        system = build_system(name, modality, arguments, cache=out / "vectors")
        run_folder = runs / "_".join([name, *arguments]).replace("--", "")
        plan = Plan(system=system, system_name=name, data=data[modality], out=run_folder)
        result = run(plan, Processes(), reporter)
        assert result is not None  # noqa: S101 - there is one process, and it is the main one
        yield DemoRow(result.card, score_result(result, data[modality].references))
    text, audio = FUSED
    fused = runs / f"{text}_{audio}"
    card = fuse_runs([runs / text, runs / audio], fused)
    yield DemoRow(card, score_predictions(fused, load_references(folder, card.config)).scores)
