"""The evaluation of the RecSys Challenge 2026 (nlp4musa/music-crs-evaluator): nDCG with one relevant track per turn.

nDCG@k is 1 / log2(rank + 1) if rank <= k, else 0. The score is the mean over the sessions of each turn, then over the
turns. A repeated id or a missing row is an error. Unknown ids are misses, and no item is removed as known.
"""

from __future__ import annotations

from itertools import pairwise
from math import fsum, log2
from pathlib import Path

from ...errors import UserError, count, plain, show, some
from ..corpus import DIALOGUE, TURN, Corpus
from ..judge import judge_rankings
from ..measures import catalogue_table
from ..scores import dialogue_scores
from .result import RuleScores, numbers_of, read_records, text, texts

CUTOFFS = (1, 10, 20)
_EXPECTED = '{"session_id": "...", "turn_number": 1, "predicted_track_ids": ["...", ...]}'


def score_as_challenge2026(path: Path, corpus: Corpus) -> RuleScores:
    """Score a prediction file of the challenge by their rules.

    Args:
        path: A JSON list, or one object per line; or a prediction file of this project.
        corpus: The corpus, built with `--from challenge2026:PATH`.

    Raises:
        UserError: Their script would stop: a missing row or a repeated id; or the file is not one.
    """
    file = path / "predictions.jsonl" if path.is_dir() else path
    rankings: dict[str, list[str]] = {}
    responses: list[str] = []
    for number, row in enumerate(read_records(file, _EXPECTED), 1):
        where = f"{file}, row {number}"
        if "thread_id" in row:
            name, ranking = text(row, "thread_id", where), texts(row, "ranking", where)
        else:
            session = text(row, "session_id", where)
            turn = row.get("turn_number")
            if not isinstance(turn, int) or isinstance(turn, bool):
                raise UserError(f"{where}: turn_number is {show(turn)}, expected a whole number")
            name, ranking = f"{session}:{turn}", texts(row, "predicted_track_ids", where)
        if name in rankings:
            raise UserError(f"{where}: {plain(name)} appears twice, expected one row per turn")
        if len(set(ranking)) < len(ranking):
            raise UserError(f"{where}: {plain(name)} ranks an id twice, and their script stops there")
        rankings[name] = ranking
        response = row.get("predicted_response")
        responses.append(response if isinstance(response, str) else "")
    missing = [name for name in corpus.thread_ids if name not in rankings]
    if missing:
        raise UserError(
            f"{file}: {count(len(missing), 'turn')} without a row ({some(missing)}), and their script stops there"
        )
    by_turn: dict[str, list[list[float]]] = {}
    for name, turn, truth in zip(corpus.thread_ids, corpus.groups[TURN], corpus.ground_truth, strict=True):
        if len(truth) != 1:
            raise UserError(f"{plain(name)}: has {len(truth)} relevant items, expected one as in the challenge")
        ranking = rankings[name]
        rank = ranking.index(truth[0]) + 1 if truth[0] in ranking else 0
        by_turn.setdefault(turn, []).append([1 / log2(rank + 1) if 0 < rank <= k else 0.0 for k in CUTOFFS])
    names = [f"ndcg@{k}" for k in CUTOFFS]
    turns = {
        turn: {name: fsum(row[i] for row in rows) / len(rows) for i, name in enumerate(names)}
        for turn, rows in by_turn.items()
    }
    theirs = {name: fsum(values[name] for values in turns.values()) / len(turns) for name in names}
    recommended = {item for name in corpus.thread_ids for item in rankings[name]}
    theirs["catalog_diversity"] = len(recommended) / len(corpus.catalogue)
    theirs["lexical_diversity"] = lexical_diversity(responses)
    judged = judge_rankings(
        [rankings[name] for name in corpus.thread_ids], corpus.ground_truth, corpus.known, corpus.catalogue
    )
    ours = dialogue_scores(catalogue_table(judged.hits, CUTOFFS), corpus.groups[DIALOGUE], confidence=None)
    values = {
        "macro": numbers_of(ours.macro.values, names),
        "micro": numbers_of(ours.micro.values, names),
        "chance": numbers_of(ours.micro.chance or {}, names),
    }
    differ = any(abs(values["micro"][name] - theirs[name]) > 1e-12 for name in names)
    notes = (
        "The means differ: theirs averages turn numbers, ours turns (micro) or sessions (macro); ours merges clusters."
        if differ
        else "Both readings agree on this file.",
    )
    surplus = len(rankings.keys() - set(corpus.thread_ids))
    extra = (f"{count(surplus, 'row')} of turns that the corpus does not have: ignored by both.",) if surplus else ()
    return RuleScores(
        "challenge2026",
        {"mean": theirs, **{f"turn {turn}": numbers for turn, numbers in turns.items()}},
        values,
        {"sessions": ours.n_dialogues, "turns": ours.n_turns, "distinct recommended ids": len(recommended)},
        (*notes, *extra),
    )


def lexical_diversity(responses: list[str]) -> float:
    """Return distinct word pairs / word pairs over all responses, in lower case, split at blanks; 0 without a pair."""
    pairs = [pair for response in responses for pair in _pairs(response.lower().split())]
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(pairwise(words))
