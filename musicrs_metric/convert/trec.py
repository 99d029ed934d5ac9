"""TREC files: a run and its relevance judgements (qrels), by ids of titles, and the table of these ids.

Formats: `thread_id Q0 id rank score tag` and `thread_id 0 id 1` (https://trec.nist.gov/, trec_eval). Programs order a
run by score and ignore the rank. trec_eval breaks ties by id, highest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, count, plain, show, some
from ..matching import Pool
from ..runs.prediction_line import Prediction
from ..runs.predictions import rankings_for
from ..runs.references import References
from .rankings import Rankings, text_of, title_ids
from .scored import number

RUN, QRELS, IDS = "run.trec", "qrels.trec", "docids.tsv"
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_FORM = "expected six columns between blanks: thread_id Q0 docid rank score tag"


@dataclass(frozen=True)
class TrecTables:
    """A run with its judgements, as pytrec_eval, ir_measures and ranx take them.

    Attributes:
        run: Thread to id to score; the scores fall by 1 per rank and end at 1.
        qrels: Thread to id to 1. A thread with an empty ground truth has no entry.
        titles: Id to title.
        notes: Sentences about all that the tables cannot hold.
    """

    run: dict[str, dict[str, float]]
    qrels: dict[str, dict[str, int]]
    titles: dict[str, str]
    notes: tuple[str, ...] = ()


def trec_tables(predictions: Iterable[Prediction], references: References) -> TrecTables:
    """Write rankings by ids, under the matching rule of the metric, so that other programs compute the same scores.

    A title becomes the candidate that it names. Its repeats are dropped, as the metric does. A title that names no
    candidate keeps its rank under an id that is never relevant.

    Args:
        predictions: At most one per thread of the dataset.
        references: The dataset.

    Returns:
        The tables. Means of other programs are over the threads in `qrels`.

    Raises:
        UserError: A thread that the dataset does not have, or one given twice. Two titles share an id, or a thread id
            holds a blank, which these formats cannot store.
    """
    predictions = list(predictions)
    rankings_for(predictions, references)  # refuses other threads, and threads given twice
    ids = title_ids({title for titles in (*references.candidates, *references.ground_truth) for title in titles})
    titles = {identity: title for title, identity in ids.items()}
    pools = [Pool(candidates) for candidates in references.candidates]
    for thread in references.thread_ids:
        if thread.split() != [thread]:
            raise UserError(
                f"thread {show(thread)} holds a blank, which a TREC file cannot store; expected an id without"
            )
    run: dict[str, dict[str, float]] = {}
    n_respelt = n_repeated = 0
    for prediction in predictions:
        place = references.position[prediction.thread_id]
        pool, candidates = pools[place], references.candidates[place]
        ranked: dict[str, str] = {}
        for title in prediction.ranking:
            position = pool.resolve(title)
            candidate = title if position is None else candidates[position]
            identity = (
                ids[candidate] if position is not None else _unused(f"unknown-{title_ids({title})[title]}", ranked)
            )
            n_respelt += candidate != title
            n_repeated += identity in ranked
            ranked.setdefault(identity, candidate)
        titles |= ranked
        run[prediction.thread_id] = {identity: float(len(ranked) - i) for i, identity in enumerate(ranked)}
    qrels = {}
    for thread, pool, candidates, relevant in zip(
        references.thread_ids, pools, references.candidates, references.ground_truth, strict=True
    ):
        places = [(title, pool.resolve(title)) for title in relevant]
        judged = {ids[title if place is None else candidates[place]]: 1 for title, place in places}
        if judged:
            qrels[thread] = judged
    return TrecTables(run, qrels, titles, tuple(_losses(predictions, references, n_respelt, n_repeated, len(qrels))))


def to_ranx(tables: TrecTables) -> tuple[Any, Any]:
    """Return the judgements and the run as objects of ranx, for `ranx.evaluate(qrels, run, ..., make_comparable=True)`.

    Args:
        tables: See `trec_tables`.

    Returns:
        `ranx.Qrels` and `ranx.Run`.
    """
    import ranx

    return ranx.Qrels(tables.qrels), ranx.Run({thread: ranked for thread, ranked in tables.run.items() if ranked})


def to_ir_measures(tables: TrecTables) -> tuple[list[Any], list[Any]]:
    """Return the judgements and the run as objects of ir_measures, for `ir_measures.calc_aggregate(..., qrels, run)`.

    Args:
        tables: See `trec_tables`.

    Returns:
        Lists of `ir_measures.Qrel` and of `ir_measures.ScoredDoc`.
    """
    import ir_measures

    qrels = [ir_measures.Qrel(thread, title, 1) for thread, judged in tables.qrels.items() for title in judged]
    run = [
        ir_measures.ScoredDoc(thread, title, score)
        for thread, ranked in tables.run.items()
        for title, score in ranked.items()
    ]
    return qrels, run


def run_lines(tables: TrecTables, tag: str) -> Iterator[str]:
    """Yield the lines of the run file.

    Args:
        tables: See `trec_tables`.
        tag: Name of the system. Blanks become `_`.
    """
    word = "_".join(tag.split()) or "musicrs"
    for thread, ranked in tables.run.items():
        for rank, (identity, score) in enumerate(ranked.items(), 1):
            yield f"{thread} Q0 {identity} {rank} {score:g} {word}\n"


def qrels_lines(tables: TrecTables) -> Iterator[str]:
    """Yield the lines of the judgement file."""
    for thread, judged in tables.qrels.items():
        for identity in judged:
            yield f"{thread} 0 {identity} 1\n"


def id_lines(tables: TrecTables) -> Iterator[str]:
    r"""Yield the lines `id<tab>title`. Titles have `\t`, `\n` and `\r` for tabs and line ends, and `\\` for `\`."""
    for identity, title in tables.titles.items():
        yield f"{identity}\t{''.join(_ESCAPES.get(sign, sign) for sign in title)}\n"


def read(path: Path, references: References) -> Rankings:
    """Read a TREC run. Scores decide, and ids break ties, highest first, as in trec_eval.

    Args:
        path: The run, or the folder that holds `run.trec`. A `docids.tsv` next to it gives the titles of its ids. Ids
            of candidates (`convert --to trec`, or mteb) need no such table.
        references: The dataset.

    Returns:
        The rankings. The tag of the run is the name of the system.

    Raises:
        UserError: A line has another form, an id appears twice in a thread, or no id is known.
    """
    path = path / RUN if path.is_dir() else path
    scores: dict[str, dict[str, float]] = {}
    ranks: dict[str, dict[str, int]] = {}
    tags: dict[str, str] = {}  # of each thread
    for i, line in enumerate(text_of(path).replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.strip():
            continue
        cells = line.split()
        where = f"{path}, line {i}"
        if len(cells) != 6:
            raise UserError(f"{where}: found {count(len(cells), 'column')}; {_FORM} (titles need ids without blanks)")
        thread, _, identity, rank, score, tag = cells
        of_thread = scores.setdefault(thread, {})
        if tags.setdefault(thread, tag) != tag:
            raise UserError(
                f"{where}: thread {plain(thread)} has lines of the runs {plain(tags[thread])} and {plain(tag)}; "
                "expected one run per file"
            )
        if identity in of_thread:
            raise UserError(f"{where}: thread {plain(thread)} ranks {plain(identity)} twice, expected it once")
        of_thread[identity] = number(score, f"{where}, column score")
        ranks.setdefault(thread, {})[identity] = int(number(rank, f"{where}, column rank"))
    table = _read_ids(path.with_name(IDS))
    known = {title for candidates in references.candidates for title in candidates}
    known_ids = {*table, *title_ids(known).values()}
    found = {identity for of_thread in scores.values() for identity in of_thread}
    if found and found.isdisjoint(known_ids) and found.isdisjoint(known):
        raise UserError(
            f"{path}: no docid is known, such as {show(next(iter(found)))}; expected a table {IDS} (id, tab, title) "
            "next to it, or ids of `python -m musicrs_metric convert --to trec`"
        )
    predictions, n_against = [], 0
    for thread, of_thread in scores.items():
        ordered = sorted(of_thread, key=lambda identity: (of_thread[identity], identity), reverse=True)
        n_against += ordered != sorted(ordered, key=ranks[thread].__getitem__)
        titles = tuple(table.get(identity, identity) for identity in ordered)
        predictions.append(Prediction(thread, titles, tuple(of_thread[identity] for identity in ordered)))
    notes = []
    if n_against:
        notes.append(
            f"{path}: the column rank contradicts the scores in {count(n_against, 'thread')}; the scores count, and "
            "ids break ties, as in trec_eval."
        )
    names = set(tags.values())
    return Rankings(predictions, {"name": names.pop()} if len(names) == 1 else {}, notes)


def _read_ids(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    table: dict[str, str] = {}
    for i, line in enumerate(text_of(path).removesuffix("\n").split("\n"), 1):
        identity, tab, title = line.removesuffix("\r").partition("\t")
        if not tab:
            raise UserError(f"{path}, line {i}: found no tab, expected an id, a tab and a title")
        title = _unescaped(title)
        if table.setdefault(identity, title) != title:
            raise UserError(f"{path}, line {i}: the id {plain(identity)} has two titles, expected one")
    return table


def _unescaped(text: str) -> str:
    """Undo `id_lines`. Any other sign after a backslash stays, as other programs escape nothing."""
    signs = {escape: sign for sign, escape in _ESCAPES.items()}
    return re.sub(r"\\.", lambda match: signs.get(match[0], match[0]), text)


def _unused(identity: str, taken: dict[str, str]) -> str:
    """Number the repeats of a title that names no candidate: each keeps its rank."""
    n, numbered = 1, identity
    while numbered in taken:
        n += 1
        numbered = f"{identity}-{n}"
    return numbered


def _losses(
    predictions: list[Prediction], references: References, n_respelt: int, n_repeated: int, n_judged: int
) -> Iterator[str]:
    empty = [prediction.thread_id for prediction in predictions if not prediction.ranking]
    if n_respelt:
        yield f"{count(n_respelt, 'title')} written as the candidate that each names."
    if n_repeated:
        yield f"{count(n_repeated, 'repeat')} of a candidate dropped, as the metric does."
    if empty:
        yield f"A TREC run holds no empty ranking: {some(empty)} will be missing."
    if any(prediction.n_answered is not None or prediction.outcome is not None for prediction in predictions):
        yield "A TREC run holds neither outcome nor n_answered; keep the prediction file."
    if n_judged < len(references):
        yield (
            f"{len(references) - n_judged} of {count(len(references), 'thread')} have an empty ground truth. "
            f"Other programs average over {n_judged} threads: multiply their means by {n_judged}/{len(references)}."
        )
