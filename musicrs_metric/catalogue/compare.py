"""Systems on a corpus of dialogues, with one row per dialogue, so that intervals and tests draw dialogues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..errors import UserError, plain, show
from ..hits import Hits
from ..measures import DEFAULT_K, check_cutoffs
from ..runs.references import References
from ..scoring import Empty, ThreadTable
from .corpus import DIALOGUE
from .measures import LABELS
from .null import run_null
from .scores import per_dialogue

CATALOGUE_HEADLINE = ("recall@20", "ndcg@20", "mrr@20")


def unit_table(table: ThreadTable, references: References, empty: Empty = "zero") -> ThreadTable:
    """Return the table whose rows intervals and tests draw: one row per dialogue if threads are turns, else `table`."""
    if DIALOGUE not in references.groups:
        return table
    return replace(dialogue_table(table, references.groups[DIALOGUE], empty), null=run_null(table, references, empty))


def dialogue_table(table: ThreadTable, dialogues: Sequence[str], empty: Empty = "zero") -> ThreadTable:
    """Average a table of turns per dialogue.

    The result has no pools, because a random order of one dialogue has no closed form. It keeps chance levels.

    Args:
        table: Values of n turns.
        dialogues: The dialogue of each turn.
        empty: Whether turns with an empty ground truth count as "zero" or are "skip"ped.

    Returns:
        The same measures of d dialogues, in order of their first turn.
    """
    hits = table.hits
    skipped = (hits.n_relevant == 0) if empty == "skip" else np.zeros(len(hits), dtype=bool)
    owner = np.unique(np.asarray(dialogues, dtype=object), return_inverse=True)[1]
    order = np.unique(owner, return_index=True)[1].argsort().argsort()
    owner = order[owner]
    n = int(owner.max()) + 1
    ones = np.column_stack(
        [~skipped, hits.n_relevant, hits.n_reachable, hits.n_unknown, hits.n_duplicate, ~hits.missing]
    )
    sums = per_dialogue(ones.astype(np.float64), dialogues)[0].astype(np.int64)
    turns = np.maximum(sums[:, 0], 1)

    def mean(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        weights = {name: np.where(skipped, 0.0, column) for name, column in columns.items()}
        return {name: np.bincount(owner, weights=column, minlength=n) / turns for name, column in weights.items()}

    # Ranks of different turns must differ, so that equal hits mean equal rankings.
    shift = np.arange(len(hits)) * (int(hits.rank.max(initial=0)) + 1)
    by_dialogue = np.lexsort((hits.rank + shift[hits.thread], owner[hits.thread]))
    thread, rank = owner[hits.thread][by_dialogue], (hits.rank + shift[hits.thread])[by_dialogue]
    collapsed = Hits(thread, rank, sums[:, 1], sums[:, 2], None, sums[:, 3], sums[:, 4], missing=sums[:, 5] == 0)
    chance = None if table.chance is None else mean(table.chance)
    return ThreadTable(collapsed, table.k, mean(table.values), chance, mean(table.ceiling))


def group_labels(references: References, by: Sequence[str]) -> dict[str, list[str]]:
    """Return the labels per row of a comparison: per dialogue on a corpus of dialogues, else per thread.

    Raises:
        UserError: A column differs within a dialogue.
    """
    if DIALOGUE not in references.groups:
        return {column: references.groups[column] for column in by}
    labels = {}
    for column in by:
        of_dialogue: dict[str, str] = {}
        for dialogue, label in zip(references.groups[DIALOGUE], references.groups[column], strict=True):
            if of_dialogue.setdefault(dialogue, label) != label:
                raise UserError(
                    f"column {plain(column)}: differs within dialogue {plain(dialogue)}, and comparisons, reports and "
                    "leaderboards draw dialogues; expected one label per dialogue. `score --by` takes any column"
                )
        labels[column] = list(of_dialogue.values())
    return labels


def cutoffs_for(metrics: Iterable[str], references: References) -> tuple[int, ...]:
    """Return the cutoffs that a table of a catalogue needs to hold the metrics.

    Raises:
        UserError: A name that is no measure of a catalogue.
    """
    metrics = list(metrics)
    labels = "|".join(LABELS)
    cutoffs = []
    for metric in metrics:
        match = re.fullmatch(rf"(?:{labels})@([1-9][0-9]{{0,4}})", metric)
        if match is None:
            kinds = ", ".join(f"{label}@K" for label in LABELS)
            raise UserError(f"unknown metric {show(metric)} for {references.name}; expected one of {kinds}")
        cutoffs.append(int(match[1]))
    return check_cutoffs(cutoffs or DEFAULT_K)
