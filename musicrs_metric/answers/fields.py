"""Records (rows of a table, objects of a list): which field is the candidate, the rank and the score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from .candidates import Candidates
from .result import Item
from .scores import Meaning, in_order, to_number


class Table(NamedTuple):
    """A table in lines of text.

    Attributes:
        start: Its first line.
        end: The line behind its last.
        records: Its rows by column.
    """

    start: int
    end: int
    records: list[dict[str, str]]


Role = Literal["title", "id", "rank", "score", "distance"]
Record = Mapping[str, Any]
Ordered = tuple[list[Item], list[Item], bool]  # as listed, best first, whether the fields state this order

_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("distance", re.compile(r"distance|dissimilarity|error|loss|cost", re.IGNORECASE)),
    (
        "score",
        re.compile(
            r".*\b(?:scores?|relevan(?:ce|cy)|probability|prob|confidence|rating|similarity|likelihood|points"
            r"|percent\w*|weight|match|fit|suitability|certainty|grade"
            r"|punkte|puntuaci[oó]n|note)\b.*|p|评分|分数|得分|相关性|スコア|점수",
            re.IGNORECASE,
        ),
    ),
    (
        "id",
        re.compile(
            r"(?:(?:song|track|candidate|item|title|music|piece|original|option|list)\s)?(?:id|ids|number|no\.?"
            r"|num|nr\.?|index|idx|identifier)|nummer|número|编号|序号|番号|번호",
            re.IGNORECASE,
        ),
    ),
    (
        "rank",
        re.compile(
            r"(?:(?:final|new|my|overall)\s)?(?:rank(?:ing)?|position|pos\.?|place|order|#)|rang|platz|rango|排名"
            r"|名次|順位|순위",
            re.IGNORECASE,
        ),
    ),
    (
        "title",
        re.compile(
            r"(?:(?:song|track|candidate|item|music)\s)?(?:title|name|song|track|candidate|item|work|piece|music"
            r"|answer|choice|recommendation)|titel|título|titre|歌曲|曲名|标题|제목",
            re.IGNORECASE,
        ),
    ),
)


# Names of columns that may only count the rows.
_COUNTERS = ("#", "no", "no.", "")


def role(name: str) -> Role | None:
    """Meaning of a field, by its name."""
    words = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").split()).strip(
        "*:` "
    )
    return next((role for role, pattern in _ROLES if pattern.fullmatch(words)), None)


def from_records(records: Sequence[Record], candidates: Candidates) -> Ordered | None:
    """Order records by their ranks, or by their scores, or as listed.

    The candidate is in the field that names most of them: by title, or by number in a field that is no rank and no
    score. Where titles and numbers contradict each other and the numbers only count the records, titles have the last
    word.

    Args:
        records: Fields by name; a name may be empty.
        candidates: The pool.

    Returns:
        The items; None where no field holds candidates.
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    roles = {name: role(name) for name in names}
    columns = {
        name: _column(records, name, roles[name], candidates)
        for name in names
        if roles[name] not in ("rank", "score", "distance")
    }
    best = _candidate_column(columns, roles)
    if best is None and candidates.numbered:
        # A rank may be what numbers are called that nothing else explains.
        ranks = [name for name in names if roles[name] == "rank" and not any(roles[other] == "id" for other in names)]
        columns = {name: _column(records, name, "id", candidates) for name in ranks[:1] if len(names) == 1}
        best = _candidate_column(columns, roles)
    if best is None:
        titles = [name for name in names if roles[name] == "title"]
        best = titles[0] if titles else None
    if best is None or best not in columns:
        return None
    others = [name for name in columns if name != best and roles[name] in ("id", "title")]
    rows = [record for record in records if _is_something(record.get(best)) or any(record.get(name) for name in others)]
    items = (
        [columns[best][at] for at, record in enumerate(records) if record in rows]
        if len(rows) < len(records)
        else columns[best]
    )
    items = _completed(items, [columns[name] for name in others], roles[best]) if len(rows) == len(records) else items
    kinds: tuple[Meaning, ...] = ("rank", "score", "distance")
    for kind in kinds:
        for name in (name for name in names if roles[name] == kind and name != best):
            values = [to_number(record.get(name)) for record in rows]
            if sum(value is not None for value in values) * 2 > len(values):
                only_counts = name in _COUNTERS and values == list(range(1, len(values) + 1))
                return items, in_order(items, values, kind), not only_counts
    return items, items, False


def _is_something(value: Any) -> bool:
    return value is not None and any(map(str.isalnum, str(value)))


def _column(records: Sequence[Record], name: str, kind: Role | None, candidates: Candidates) -> list[Item]:
    values = [record.get(name) for record in records]
    return [
        candidates.value(value) if _may_name(value, name, kind, candidates) else Item(str(value or ""), None)
        for value in values
    ]


def _may_name(value: Any, name: str, kind: Role | None, candidates: Candidates) -> bool:
    """Check whether a value may be a candidate: a number in a field of another name counts something else."""
    if value is None or isinstance(value, bool):
        return False
    is_number = to_number(value) is not None
    return not is_number or not candidates.numbered or kind in ("id", "title") or not any(map(str.isalpha, name))


def _candidate_column(columns: Mapping[str, list[Item]], roles: Mapping[str, Role | None]) -> str | None:
    def worth(name: str) -> tuple[int, int, bool]:
        named = {item.place for item in columns[name]} - {None}
        return len(named), {"title": 2, "id": 1}.get(roles[name] or "", 0), not _counts(columns[name])

    names = [name for name in columns if worth(name)[0]]
    if not names:
        return None
    best = max(names, key=worth)
    titles = [name for name in names if roles[name] == "title" and name != best]
    if titles and roles[best] == "id" and _counts(columns[best]) and _contradict(columns[titles[0]], columns[best]):
        return titles[0]
    return best


def _counts(items: Sequence[Item]) -> bool:
    """Check whether numbers only count the records: 1, 2, 3."""
    return [item.text for item in items] == [str(number) for number in range(1, len(items) + 1)]


def _contradict(titles: Sequence[Item], numbers: Sequence[Item]) -> bool:
    both = [(a.place, b.place) for a, b in zip(titles, numbers, strict=True) if a.place is not None]
    return 2 * sum(a != b for a, b in both) > len(both)


def _completed(items: list[Item], others: Sequence[list[Item]], kind: Role | None) -> list[Item]:
    """Items, those that name nothing by the number beside them where numbers do not only count."""
    if kind != "title":
        return items
    for column in others:
        if not _counts(column) and not _contradict(items, column):
            items = [mine if mine.place is not None else other for mine, other in zip(items, column, strict=True)]
    return items
