"""The evaluation of CPCD (google-research-datasets/cpcd, eval.py): hit, precision, recall, mrr and map at k.

Their rules where they differ from ours: a dialogue without predictions is excluded; a turn whose ground truth is empty
without known items is skipped; fewer than 100 clusters, a missing turn or an id that the catalogue lacks is an error.
Predictions of surplus turns are cut. Turns 0 to 9 also get means of their own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import UserError, count, plain, show, some
from ...runs.prediction_line import Prediction
from ...runs.predictions import read_predictions
from ..corpus import DIALOGUE, TURN, Corpus
from ..judge import judge_rankings
from ..measures import CATALOGUE_K, catalogue_table
from ..scores import dialogue_scores
from .result import RuleScores, numbers_of, read_records, text

LABELS = ("hit", "mrr", "precision", "recall", "map")
MEASURES = tuple(f"{label}@{k}" for label in LABELS for k in CATALOGUE_K)
TURNS_SHOWN = 10
_EXPECTED = '{"docid": "<dialogue>:<turn>", "neighbor": [{"docid": "<track>"}, ...]}, or a predictions.jsonl'


def score_as_cpcd(path: Path, corpus: Corpus) -> RuleScores:
    """Score a released prediction file of CPCD, or a prediction file of this project, by their rules.

    Args:
        path: One object per line.
        corpus: The corpus, built with `--from cpcd:PATH`.

    Raises:
        UserError: Their script would stop: a missing turn, a short list, or an unknown id; or the file is not one.
    """
    rankings = _read(path, corpus)
    dialogue_of = dict(zip(corpus.thread_ids, corpus.groups[DIALOGUE], strict=True))
    present = {dialogue_of[thread_id] for thread_id in rankings}
    kept = [thread_id for thread_id in corpus.thread_ids if dialogue_of[thread_id] in present]
    part = corpus.subset(kept)
    missing = [thread_id for thread_id in kept if thread_id not in rankings]
    if missing:
        raise UserError(f"{path}: no ranking for {some(missing)}, and their script stops there; add these turns")
    for thread_id in kept:
        stranger = next((item for item in rankings[thread_id] if item not in corpus.catalogue.codes), None)
        if stranger is not None:
            raise UserError(
                f"{path}, {plain(thread_id)}: {show(stranger)} is not in the catalogue, and their script stops there"
            )
    judged = judge_rankings([rankings[name] for name in kept], part.ground_truth, part.known, corpus.catalogue)
    counted = judged.hits.n_relevant > 0
    short = [name for name, n, is_counted in zip(kept, judged.lengths, counted, strict=True) if is_counted and n < 100]
    if short:
        raise UserError(
            f"{path}: fewer than 100 clusters are left of {some(short)}, and their script stops there; rank deeper"
        )
    theirs = dialogue_scores(
        catalogue_table(judged.hits), part.groups[DIALOGUE], groups={TURN: part.groups[TURN]}, empty="skip",
        confidence=None,
    )  # fmt: skip
    everything = judge_rankings(
        [rankings.get(name) for name in corpus.thread_ids], corpus.ground_truth, corpus.known, corpus.catalogue
    )
    ours = dialogue_scores(catalogue_table(everything.hits), corpus.groups[DIALOGUE], confidence=None)
    numbers = np.arange(TURNS_SHOWN).astype(str).tolist()
    by_turn = {n: theirs.by[TURN][n] for n in numbers if n in theirs.by[TURN]}
    columns = {"macro": numbers_of(theirs.macro.values, MEASURES), "micro": numbers_of(theirs.micro.values, MEASURES)}
    columns |= {f"turn {n}": numbers_of(scores.micro.values, MEASURES) for n, scores in by_turn.items()}
    differences = []
    if ours.n_missing_dialogues:
        differences.append(
            f"{count(ours.n_missing_dialogues, 'dialogue')} without a prediction: excluded there, counted as 0 here."
        )
    if ours.n_empty:
        differences.append(
            f"{count(ours.n_empty, 'turn')} with an empty ground truth without known items: skipped there, counted as "
            "0 here."
        )
    if not differences:
        differences.append("Both readings agree on this file: no dialogue is missing, and no ground truth is empty.")
    return RuleScores(
        "cpcd",
        columns,
        {"macro": numbers_of(ours.macro.values, MEASURES), "micro": numbers_of(ours.micro.values, MEASURES)},
        {
            "dialogues": theirs.n_dialogues,
            "turns": theirs.n_turns,
            "dialogues of ours": ours.n_dialogues,
            "turns of ours": ours.n_turns,
        }
        | {f"turn {n}": scores.n_turns for n, scores in by_turn.items()},
        tuple(differences),
    )


def _read(path: Path, corpus: Corpus) -> dict[str, tuple[str, ...]]:
    file = path / "predictions.jsonl" if path.is_dir() else path
    rows = read_records(file, _EXPECTED)
    if "docid" not in rows[0]:
        predictions: tuple[Prediction, ...] = read_predictions(file, corpus).predictions
        return {prediction.thread_id: prediction.ranking for prediction in predictions}
    rankings: dict[str, tuple[str, ...]] = {}
    dialogues = set(corpus.groups[DIALOGUE])
    for number, row in enumerate(rows, 1):
        where = f"{file}, row {number}"
        name = text(row, "docid", where)
        neighbours = row.get("neighbor")
        if not isinstance(neighbours, list) or not all(isinstance(item, dict) for item in neighbours):
            raise UserError(f"{where}: neighbor is {show(neighbours)}, expected a list of objects with a docid")
        if name.rpartition(":")[0] not in dialogues:
            raise UserError(
                f"{where}: {show(name)} is no turn of {corpus.name}; expected such as {corpus.thread_ids[0]}"
            )
        if name in rankings:
            raise UserError(f"{where}: {show(name)} appears twice, expected one line per turn")
        if name in corpus.position:  # their script cuts surplus turns
            rankings[name] = tuple(text(item, "docid", where) for item in neighbours)
    if not rankings:
        raise UserError(f"{file}: no line is a turn of {corpus.name}")
    return rankings
