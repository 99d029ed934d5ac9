"""Run a system on a corpus with a catalogue: rank every turn, and write predictions and run card."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from musicrs_metric.catalogue.corpus import load_corpus
from musicrs_metric.catalogue.read import ScoredDialogues, score_dialogues
from musicrs_metric.errors import UserError, some
from musicrs_metric.runs.predictions import PREDICTIONS, Prediction, read_predictions, write_predictions
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, read_run_card, write_run_card

from ..launch import default_cache
from ..registry import find_spec_missing
from ..run.card import code_version
from ..system import Context
from .retrievers import RETRIEVERS

if TYPE_CHECKING:
    from rich.console import Console


def run_on_catalogue(
    system: str, dataset: str, out: Path, *, seed: int, limit: int | None, name: str | None, cache: Path | None
) -> tuple[RunCard, ScoredDialogues]:
    """Rank the catalogue of a corpus at every turn, or read such a run if the folder holds it.

    Args:
        system: A key of `RETRIEVERS`.
        dataset: Directory of the corpus.
        out: The run folder.
        seed: Seed of all random choices.
        limit: Rank only the first turns, this many; None for all.
        name: Name of the run in tables; None for the name of the system.
        cache: Folder of embeddings.

    Returns:
        The run card, and the scores of the turns that were ranked.

    Raises:
        UserError: The system does not rank a catalogue or lacks a package, or the folder holds something else.
    """
    retriever_class = RETRIEVERS.get(system)
    if retriever_class is None:
        raise UserError(f"--model {system}: cannot rank a catalogue; the systems that can are {', '.join(RETRIEVERS)}")
    missing = find_spec_missing(retriever_class.needs)
    if missing:
        raise UserError(f"{system} needs {', '.join(missing)}; pip install 'musicrs[baselines]'")
    corpus = load_corpus(dataset)
    ranked = corpus if limit is None else corpus.subset(corpus.thread_ids[:limit])
    facts = {"system": system, "protocol": "catalogue", "turns": len(ranked)}
    if _is_finished(out, facts, corpus.fingerprint, seed):
        return read_run_card(out), score_dialogues(read_predictions(out / PREDICTIONS, corpus), ranked)
    started = time.monotonic()
    retriever = retriever_class(corpus, Context(modality="query_only", seed=seed, cache=cache or default_cache()))
    rankings = islice(retriever.rankings(), len(ranked))
    write_predictions(
        out / PREDICTIONS,
        (Prediction(thread_id, ranking) for thread_id, ranking in zip(ranked.thread_ids, rankings, strict=True)),
    )
    card = RunCard(
        name=name or system,
        paradigm=retriever.paradigm,
        modality="query_only",
        dataset=dataset,
        config=corpus.config,
        fingerprint=corpus.fingerprint,
        reads=retriever.reads,
        model_id=retriever.model_id,
        model_revision=retriever.model_revision,
        trained=False,
        seed=seed,
        code_version=code_version(),
        wall_time_s=round(time.monotonic() - started, 3),
        hardware=f"{platform.machine()}, {os.cpu_count()} CPU cores",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        extra={**facts, "depth": retriever.depth, "index_bytes": retriever.index_bytes},
    )
    write_run_card(out / RUN_CARD, card)
    return card, score_dialogues(read_predictions(out / PREDICTIONS, corpus), ranked)


def print_run(console: Console, card: RunCard, scored: ScoredDialogues, title: str) -> None:
    """Print the scores of a run, its depth and the memory of its index."""
    for line in scored.lines(title):
        if isinstance(line, str):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(line)
    megabytes = card.extra["index_bytes"] / 2**20
    line = f"{card.extra['turns']} turns ranked to depth {card.extra['depth']}; index {megabytes:.1f} MiB"
    console.print(f"{line}, {card.wall_time_s} s ({card.hardware}).", markup=False, highlight=False, soft_wrap=True)


def _is_finished(out: Path, facts: Mapping[str, object], fingerprint: str, seed: int) -> bool:
    """Return whether the folder holds this very run; refuse a folder with anything else."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out}: is a file, expected a folder for the run")
    files = sorted(path.name for path in out.iterdir()) if out.exists() else []
    if not files:
        out.mkdir(parents=True, exist_ok=True)
        return False
    if {PREDICTIONS, RUN_CARD} <= set(files):
        card = read_run_card(out)
        same = (card.fingerprint, card.seed) == (fingerprint, seed)
        if same and all(card.extra.get(key) == value for key, value in facts.items()):
            return True
    raise UserError(f"{out}: holds {some(files)} of something else; name another folder for this run")
