"""The evaluation of He et al. (2023, arXiv:2308.10053): titles of films that a language model wrote.

Each relevant title is a row of its own. Its rank is the first place of a written title whose nearest known title it is.
"filtered" keeps titles within edit distance 2. "unseen" drops titles that the dialogue named before. A repeated title
takes a place. recall@k is 1 if rank <= k, ndcg@k is 1 / log2(rank + 1), mrr@k is 1 / rank. The standard error is the
sample standard deviation divided by the root of the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, log2, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import UserError, show
from ..items import Catalogue, Item
from ..judge import judge_rankings
from ..measures import values as measure_values
from .result import Numbers, RuleScores, read_records, texts

CUTOFFS = (1, 5, 10, 20)
LARGEST_DISTANCE = 2
_CONDITIONS = ("all", "recommendation", "discussion")
_EXPECTED = (
    '{"rec_list": [{"movie_name": "...", "min_edit_distance": 0, "nearest_movie": "..."}], "gt_list": ["..."], '
    '"prev_list": ["..."]}'
)


class _Row(NamedTuple):
    title: str
    seen: frozenset[str]
    written: list[tuple[str, float]]


def score_as_he2023(path: Path) -> RuleScores:
    """Score a file of released answers. It holds the ground truth, so that no dataset is needed.

    Args:
        path: A JSON list, or one object per line.

    Returns:
        Means and standard errors of all conditions and settings. Columns are such as "recommendation filtered unseen".

    Raises:
        UserError: The file is not one.
    """
    records = read_records(path, _EXPECTED)
    rows = [row for number, record in enumerate(records, 1) for row in _rows(record, f"{path}, row {number}")]
    if not rows:
        raise UserError(f"{path}: no relevant title in its {len(records)} rows; expected some in gt_list")
    theirs: dict[str, Numbers] = {}
    counts: dict[str, Any] = {"answers": len(records), "rows": len(rows)}
    for condition in _CONDITIONS:
        chosen = [row for row in rows if condition == "all" or (row.title in row.seen) == (condition == "discussion")]
        counts[condition] = len(chosen)
        for filtered in (False, True):
            for unseen in (False, True):
                name = " ".join([condition, *["filtered"] * filtered, *["unseen"] * unseen])
                theirs[name] = _means([_rank(row, filtered, unseen) for row in chosen])
    lists = [[nearest for nearest, _ in row.written] for row in rows]
    n_repeats = sum(len(set(titles)) < len(titles) for titles in lists)
    n_empty = sum(not row.get("gt_list") for row in records)
    return RuleScores(
        "he2023",
        {name: numbers for name, numbers in theirs.items() if numbers},
        {"turns": _our_reading(records)},
        counts,
        differences=(
            f"{n_repeats} rows have a list with repeats, which take places here; our reading counts repeats once.",
            "Each relevant title is a row here. Our reading scores a turn with all its relevant titles, and removes "
            "the titles of prev_list from the list and from the relevant titles first.",
            f"{n_empty} answers without a relevant title: no row here; our reading counts them as 0.",
        ),
    )


def _rows(record: dict[str, Any], where: str) -> Iterator[_Row]:
    written = record.get("rec_list")
    if not isinstance(written, list):
        raise UserError(f"{where}: rec_list is {show(written)}, expected a list of objects")
    titles = []
    for item in written:
        nearest = item.get("nearest_movie") if isinstance(item, dict) else None
        distance = item.get("min_edit_distance") if isinstance(item, dict) else None
        if not isinstance(nearest, str) or isinstance(distance, bool) or not isinstance(distance, int | float):
            raise UserError(f"{where}: rec_list holds {show(item)}, expected nearest_movie and min_edit_distance")
        titles.append((nearest, float(distance)))
    seen = frozenset(texts(record, "prev_list", where))
    for title in texts(record, "gt_list", where):
        yield _Row(title, seen, titles)


def _our_reading(records: Sequence[dict[str, Any]]) -> Numbers:
    rankings = [[item["nearest_movie"] for item in record["rec_list"]] for record in records]
    columns = ([record[name] for record in records] for name in ("gt_list", "prev_list"))
    relevant, seen = columns
    names = dict.fromkeys(title for lists in (rankings, relevant, seen) for titles in lists for title in titles)
    judged = judge_rankings(rankings, relevant, seen, Catalogue(tuple(Item(name) for name in names)))
    # The number of all films is unknown here, so there are values without chance.
    values = measure_values(judged.hits, CUTOFFS)
    return {name: float(column.mean()) for name, column in values.items() if name.startswith(("recall", "ndcg", "mrr"))}


def _rank(row: _Row, filtered: bool, unseen: bool) -> int:
    """Return the rank of the relevant title, or 0."""
    left = [
        nearest
        for nearest, distance in row.written
        if not (filtered and distance > LARGEST_DISTANCE) and not (unseen and nearest in row.seen)
    ]
    return left.index(row.title) + 1 if row.title in left else 0


def _means(ranks: list[int]) -> Numbers:
    numbers: Numbers = {}
    for label in ("recall", "ndcg", "mrr"):
        for k in CUTOFFS:
            values = [_value(label, rank) if 0 < rank <= k else 0.0 for rank in ranks]
            n = len(values)
            if not n:
                continue
            mean = fsum(values) / n
            numbers[f"{label}@{k}"] = mean
            if n > 1:
                numbers[f"{label}@{k} se"] = sqrt(fsum((value - mean) ** 2 for value in values) / (n - 1)) / sqrt(n)
    return numbers


def _value(label: str, rank: int) -> float:
    return {"recall": 1.0, "ndcg": 1 / log2(rank + 1), "mrr": 1 / rank}[label]
