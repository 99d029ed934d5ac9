"""Rankings in a table: long (one row per ranked title) or wide (one row per thread)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from ..base.files import strict_json
from ..errors import UserError, count, plain, show, some
from ..runs.prediction_line import Prediction
from ..runs.references import References
from .rankings import Rankings
from .scored import by_score, number, rank_warning

# Names of columns, in lower case with `_` for blanks and hyphens.
_THREAD = ("thread_id", "thread", "qid", "q_id", "query_id", "topic", "topic_id", "id", "name", "query")
_TITLE = (
    "title", "item", "candidate", "document", "doc", "docid", "doc_id", "docno", "corpus_id", "item_id", "prediction",
    "text", "name", "track", "song",
)  # fmt: skip
_RANK = ("rank", "position", "place", "ranking_position", "ranking")
_SCORE = ("score", "similarity", "relevance", "sim", "scores")
_LIST = ("ranking", "predicted", "predictions", "titles", "items", "ranked", "ranked_list")
_NUMBERED = re.compile(r"(?:(?:rank|top|title|item|candidate|prediction|position|doc)?[ _.@#-]*)(\d+)", re.IGNORECASE)
FORMS = (
    "expected one row per ranked title (columns thread_id, title, and rank or score), or one row per thread "
    "(column thread_id, and the titles in columns 1, 2, 3, ... or in a column ranking)"
)

Columns = Mapping[str, Sequence[Any]]
Row = Callable[[int], str]  # names a row in messages


def from_columns(columns: Columns, place: str, references: References, row: Row | None = None) -> Rankings:
    """Read rankings from columns.

    Args:
        columns: Name to values, all of one length.
        place: Name of the table in messages.
        references: The dataset. Its pools decide the order of equal scores.
        row: Function from the position of a row to its name in messages.

    Returns:
        The rankings, in the order in which threads appear.

    Raises:
        UserError: The table has no such form, or a cell does not fit. The message names row and column.
    """
    row = row or (lambda position: f"row {position + 1}")
    thread = _find(columns, _THREAD)
    if thread is None:
        if any(str(name) in references.position for name in columns):
            return _threads_as_columns(columns, place, references)
        raise UserError(f"{place}: found the columns {_names(columns)}; {FORMS}")
    ids = [_text(value, place, row(i), thread) for i, value in enumerate(columns[thread])]
    rest = {name: values for name, values in columns.items() if name != thread}
    title = _find(rest, _TITLE)
    lists = _find(rest, _LIST)
    if lists is not None and (title is None or _holds_lists(rest[lists])):
        return _lists(ids, rest, lists, place, row)
    if title is not None:
        return _long(ids, rest, title, place, references, row)
    numbered = [(int(match[1]), name) for name in rest if (match := _NUMBERED.fullmatch(str(name).strip()))]
    if not numbered:
        raise UserError(f"{place}: found the columns {_names(columns)}; {FORMS}")
    wide = [name for _, name in sorted(numbered)]
    ranks = [position for position, _ in sorted(numbered)]
    if _has_gap(ranks):
        names = some([plain(str(name)) for name in wide])
        raise UserError(f"{place}: the columns {names} have a gap or the same rank twice; expected 1, 2, 3, ...")
    return _wide(ids, rest, wide, place, row)


def _long(ids: list[str], rest: Columns, title: str, place: str, references: References, row: Row) -> Rankings:
    rank, score = _find(rest, _RANK), _find(rest, _SCORE)
    groups: dict[str, list[int]] = {}
    for i, thread in enumerate(ids):
        groups.setdefault(thread, []).append(i)
    predictions, gaps = [], []
    for thread, rows in groups.items():
        filled = [i for i in rows if not _is_blank(rest[title][i])]
        for i in rows:
            if _is_blank(rest[title][i]) and not all(_is_blank(rest[name][i]) for name in (rank, score) if name):
                raise UserError(
                    f"{place}, {row(i)}: thread {plain(thread)}: column {title!r} is blank, expected a title"
                )
        titles = [_text(rest[title][i], place, row(i), title) for i in filled]
        scores = None
        if score is not None and any(not _is_blank(rest[score][i]) for i in filled):
            scores = [number(rest[score][i], f"{place}, {row(i)}, column {score!r}") for i in filled]
        if rank is not None:
            ranks = [_rank(rest[rank][i], place, row(i), rank) for i in filled]
            order = _by_rank(ranks, thread, place)
            gaps += [thread] * _has_gap(sorted(ranks))
            titles = [titles[i] for i in order]
            scores = None if scores is None else [scores[i] for i in order]
        elif scores is not None:
            if twice := [title for title in titles if titles.count(title) > 1]:
                raise UserError(f"{place}: thread {plain(thread)}: {show(twice[0])} has two scores, expected one")
            titles, scores = by_score(titles, scores, thread, references)
        more = _fields(rest, rows[0], place, row)
        for i in rows[1:]:
            if _fields(rest, i, place, row) != more:
                raise UserError(
                    f"{place}, {row(i)}: thread {plain(thread)}: outcome or n_answered differ from its first row"
                )
        predictions.append(Prediction(thread, tuple(titles), None if scores is None else tuple(scores), **more))
    notes = []
    if rank is None and score is None:
        notes.append(f"{place} has no column rank or score; its rows count in their order, best first.")
    if rank is None:
        notes += rank_warning(predictions, place)
    if gaps:
        notes.append(
            f"Warning: {place}: the ranks of {count(len(gaps), 'thread')}, such as {plain(gaps[0])}, have a gap; later "
            "titles move up. Are rows missing?"
        )
    return Rankings(predictions, {}, [*notes, *_unread(rest, {title, rank, score, "outcome", "n_answered"}, place)])


def _lists(ids: list[str], rest: Columns, lists: str, place: str, row: Row) -> Rankings:
    score = _find(rest, _SCORE)
    predictions = []
    for i, thread in enumerate(ids):
        titles = [
            _text(title, place, row(i), lists)
            for title in _list(rest[lists][i], f"{place}, {row(i)}, column {lists!r}")
        ]
        scores = None
        if score is not None and not _is_blank(rest[score][i]):
            where = f"{place}, {row(i)}, column {score!r}"
            scores = tuple(number(value, where) for value in _list(rest[score][i], where))
            if len(scores) != len(titles):
                raise UserError(f"{where}: found {len(scores)} scores for {len(titles)} titles, expected one each")
        predictions.append(Prediction(thread, tuple(titles), scores, **_fields(rest, i, place, row)))
    _distinct(ids, place, row)
    return Rankings(predictions, {}, _unread(rest, {lists, score, "outcome", "n_answered"}, place))


def _wide(ids: list[str], rest: Columns, wide: list[str], place: str, row: Row) -> Rankings:
    predictions = []
    for i, thread in enumerate(ids):
        cells = [rest[name][i] for name in wide]
        predictions.append(
            Prediction(thread, _until_blank(cells, f"{place}, {row(i)}", wide), **_fields(rest, i, place, row))
        )
    _distinct(ids, place, row)
    return Rankings(predictions, {}, _unread(rest, {*wide, "outcome", "n_answered"}, place))


def _threads_as_columns(columns: Columns, place: str, references: References) -> Rankings:
    """Read a table with one column per thread and one row per rank."""
    known = {name: values for name, values in columns.items() if str(name) in references.position}
    for name, values in known.items():
        # The first row of a table without a header looks like one thread whose titles are thread ids.
        if any(str(value) in references.position for value in values):
            raise UserError(f"{place}: the first row holds no names of columns, found {show(name)}; {FORMS}")
    strangers = [name for name in columns if str(name).strip() and name not in known and name != _find(columns, _RANK)]
    if strangers:
        raise UserError(
            f"{place}: the first line names the thread {next(iter(known))}, and {_names(strangers)}, which is no "
            f"thread; {FORMS}"
        )
    predictions = [
        Prediction(str(name), _until_blank(values, f"{place}, column {name!r}", range(1, len(values) + 1)))
        for name, values in known.items()
    ]
    return Rankings(predictions, {}, [])


def _until_blank(cells: Sequence[Any], where: str, names: Sequence[Any]) -> tuple[str, ...]:
    """Return the cells before the blank ones at the end. A blank cell before a title is refused."""
    filled = [i for i, cell in enumerate(cells) if not _is_blank(cell)]
    end = filled[-1] + 1 if filled else 0
    if len(filled) < end:
        gap = next(i for i in range(end) if i not in filled)
        raise UserError(f"{where}: rank {names[gap]} is blank, and a title follows; expected no gap")
    return tuple(_text(cell, where, "", names[i]) for i, cell in enumerate(cells[:end]))


def _find(columns: Columns, names: Sequence[str]) -> str | None:
    """Return the column with the first of the names, whatever its case."""
    plain_names = {re.sub(r"[\s-]+", "_", str(column).strip().lower()): column for column in reversed(list(columns))}
    return next((plain_names[name] for name in names if name in plain_names), None)


def _fields(rest: Columns, i: int, place: str, row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if "outcome" in rest and not _is_blank(rest["outcome"][i]):
        fields["outcome"] = rest["outcome"][i]
    if "n_answered" in rest and not _is_blank(rest["n_answered"][i]):
        fields["n_answered"] = _rank(rest["n_answered"][i], place, row(i), "n_answered")
    return fields


def _has_gap(ranks: list[int]) -> bool:
    """Return whether sorted ranks do not count up from 0 or 1."""
    return bool(ranks) and (ranks[0] not in (0, 1) or ranks != list(range(ranks[0], ranks[0] + len(ranks))))


def _by_rank(ranks: list[int], thread: str, place: str) -> list[int]:
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    for first, second in pairwise(order):
        if ranks[first] == ranks[second]:
            raise UserError(f"{place}: thread {plain(thread)} has rank {ranks[first]} twice, expected distinct ranks")
    return order


def _rank(value: Any, place: str, row: str, column: str) -> int:
    position = number(value, f"{place}, {row}, column {column!r}")
    if position != int(position):
        raise UserError(f"{place}, {row}, column {column!r}: found {show(value)}, expected a whole number")
    return int(position)


def _text(value: Any, place: str, row: str, column: object) -> str:
    if isinstance(value, str):
        return value
    where = ", ".join(part for part in (place, row, f"column {column!r}") if part)
    hint = "; a table read by pandas keeps it with dtype=str and keep_default_na=False"
    found = "a missing value" if _is_blank(value) else show(value)
    raise UserError(f"{where}: found {found}, expected text{hint}")


def _list(value: Any, where: str) -> list[Any]:
    """Return a list, or read the text of one: JSON, or as Python writes it."""
    if isinstance(value, str):
        try:
            value = strict_json(value)
        except ValueError:
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                literal = ast.literal_eval(value)
                value = value if _joins_texts(value) else literal
    if hasattr(value, "tolist"):
        value = value.tolist()
    elif hasattr(value, "to_list"):
        value = value.to_list()
    if not isinstance(value, list | tuple):
        raise UserError(f"{where}: found {show(value)}, expected a list of titles")
    return list(value)


def _joins_texts(text: str) -> bool:
    """Return whether two texts have no comma between them, as numpy prints arrays. Python would join them to one."""
    if not re.search(r"""["']\s+["']""", text):
        return False
    tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline)]
    kinds = [kind for kind in tokens if kind != tokenize.NL]
    return any(kind == following == tokenize.STRING for kind, following in pairwise(kinds))


def _holds_lists(values: Sequence[Any]) -> bool:
    """Return whether the first value of a column is a list, and not a rank."""
    first = next((value for value in values if not _is_blank(value)), None)
    return not isinstance(first, int | float) and not (isinstance(first, str) and first.strip().isdigit())


def _is_blank(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or no text. Blanks are text."""
    return value is None or (isinstance(value, str) and not value) or (isinstance(value, float) and value != value)


def _distinct(ids: list[str], place: str, row: Row) -> None:
    first: dict[str, int] = {}
    for i, thread in enumerate(ids):
        if first.setdefault(thread, i) != i:
            raise UserError(
                f"{place}, {row(i)}: thread {plain(thread)} is already in {row(first[thread])}, expected it once"
            )


def _unread(columns: Columns, read: set[str | None], place: str) -> list[str]:
    names = [plain(str(name)) for name in columns if name not in read and str(name).strip()]
    return [f"{place}: {count(len(names), 'column')} not read: {some(names)}."] if names else []


def _names(columns: Iterable[str]) -> str:
    return some([plain(str(name)) for name in columns])
