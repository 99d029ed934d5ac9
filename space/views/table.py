"""Table of the leaderboard: chance on top, then systems and reported results by `reads`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.results import Standing
from musicrs_metric.runs.prediction_line import Outcome
from musicrs_metric.scoring import Scores

from ..board.status import marks, status_of
from ..board.table_rows import TableRow
from . import columns, display_names
from .address import Address
from .form_controls import link
from .html import Html, join, outside_link, tag
from .interval_plot import Scale, interval_plot

ANSWERED: tuple[Outcome, ...] = ("ok", "repaired")
_COLUMNS = 8
ROWS_PER_PAGE = 100
_SECTIONS = (*display_names.READS, None)
_BADGES = {"code": "code", "reproduced": "✓ reproduced"}
_RANK = "Rank among systems that read the same. A paired test does not separate the systems of a group from its best"
_ALONE = "The only system that reads this, so it has no rank"
_OFF_THE_SCALE = " A square at the right end stands for a score beyond the end of the scale."
_ANSWERS = "Threads with a prediction, share of them with audio, and share that the system answered"


def table(rows: Sequence[TableRow], address: Address) -> Html:
    """Render the table.

    Args:
        rows: Chance first, then the others in their order.
        address: State of the page.
    """
    chance, *others = rows
    scale = _scale(rows, address.drawn)
    by_section = sorted(others, key=lambda row: _SECTIONS.index(row.reads))
    chosen, links = page_of(len(others), address)
    has_outlier = any((row.values.get(address.drawn) or 0.0) > scale.high for row in others)
    body = tag(
        "table",
        tag("caption", _caption(chance, address), _OFF_THE_SCALE if has_outlier else None),
        tag("thead", tag("tr", _heads(chance, address))),
        tag("tbody", _row(chance, chance, address, scale), class_="chance"),
        _sections(by_section[chosen], chance, address, scale),
        class_="board",
    )
    region = tag("div", body, class_="scroll", tabindex=0, role="region", aria_label="Table of systems")
    return join(region, links)


def page_of(n_rows: int, address: Address) -> tuple[slice, Html]:
    """Return the rows of the current page of a long table, and links to other pages.

    Args:
        n_rows: Number of rows of the whole table.
        address: State of the page. A number beyond the last page means the last one.

    Returns:
        A slice of at most `ROWS_PER_PAGE` rows, and links to the neighbours, the first and the last page; none for a
        table of one page.
    """
    n_pages = max(1, math.ceil(n_rows / ROWS_PER_PAGE))
    number = min(address.page_number, n_pages)
    chosen = slice((number - 1) * ROWS_PER_PAGE, number * ROWS_PER_PAGE)
    if n_pages == 1:
        return chosen, Html()
    near = sorted({1, n_pages, *range(max(1, number - 2), min(n_pages, number + 2) + 1)})
    links = [
        tag("b", page, aria_current="page") if page == number else link(address, page, page=str(page) * (page > 1))
        for page in near
    ]
    text = f"Rows {chosen.start + 1:,} to {min(n_rows, chosen.stop):,} of {n_rows:,}. Page "
    shown = [join(one, " ") for one in links]
    return chosen, tag("nav", text, shown, class_="pages actions", aria_label="Pages of the table")


def on_genre(scores: Scores, genre: str) -> Scores:
    """Return the scores on a genre; on all threads if the genre is empty or unknown."""
    return scores.by["genre"].get(genre, scores) if genre else scores


def _scale(rows: Sequence[TableRow], metric: str) -> Scale:
    """Return the scale of one measure, up to the largest end of an interval of the rows that are no outliers."""
    chance, *others = rows
    tops = [
        max((value, *row.interval.get(metric, ()))) for row in others if (value := row.values.get(metric)) is not None
    ]
    return Scale.without_outliers(tops, least=chance.values.get(metric) or 0.0)


def _caption(chance: TableRow, address: Address) -> str:
    where = f" of {address.genre}" if address.genre else ""
    threads = display_names.plural(chance.n or 0, chance.unit)
    return (
        f"Scores in per cent over {threads}{where}, each with its 95 % interval. In the plots, a line is the "
        f"interval, a dot the score, and an upright mark chance. {_rule(chance)}."
    )


def _rule(chance: TableRow) -> str:
    return f"Rule for {chance.verdict_rule}; for a partial row on the {chance.unit}s with a prediction"


def _heads(chance: TableRow, address: Address) -> Iterator[Html]:
    yield tag("th", "Rank", scope="col", class_="rank", title=_RANK)
    yield _sort_head("name", address)
    for metric in HEADLINE:
        yield _sort_head(metric, address)
    yield tag("th", "To chance", scope="col", title=_rule(chance))
    yield tag("th", "Answers", scope="col", title=_ANSWERS)
    yield _sort_head("received", address)
    yield from columns.heads(address)


def _sort_head(name: str, address: Address) -> Html:
    mine = address.sort == name
    arrow = ("↑" if address.ascending else "↓") if mine else ""
    turned = "reversed" if mine and not address.order else ""
    return tag(
        "th",
        link(
            address,
            display_names.SORTS[name],
            tag("span", arrow, class_="arrow", aria_hidden="true"),
            sort=name,
            order=turned,
        ),
        scope="col",
        class_="score" if name in HEADLINE else None,
        aria_sort=("ascending" if address.ascending else "descending") if mine else None,
    )


def _sections(others: Sequence[TableRow], chance: TableRow, address: Address, scale: Scale) -> Iterator[Html]:
    for reads, text in display_names.READS.items():
        part = [row for row in others if row.reads == reads]
        if part:
            note = tag("small", display_names.READS_NOTES[reads])
            head = tag("th", f"Reads {text.lower()}", note, colspan=_n_columns(address), scope="rowgroup")
            rows = [_row(row, chance, address, scale, last=last) for row, last in _with_end_of_groups(part, address)]
            yield tag("tbody", tag("tr", head, class_="part"), rows, data_reads=reads)
    if not others:
        nothing = tag("td", "No system matches. Remove a filter.", colspan=_n_columns(address), class_="nothing")
        yield tag("tbody", tag("tr", nothing))


def _n_columns(address: Address) -> int:
    return _COLUMNS + len(address.chosen_columns)


def _with_end_of_groups(part: Sequence[TableRow], address: Address) -> Iterator[tuple[TableRow, bool]]:
    """Yield each row, and True if it is the last of all groups so far. Only a table sorted by rank has such rows.

    Reported results have no group, and come below the end of a group that they follow.
    """
    sorted_by_group = address.sort in HEADLINE and not address.order
    groups: list[tuple[int, float]] = [
        (i, row.standings[address.drawn].group)
        for i, row in enumerate(part)
        if row.is_ranked and address.drawn in row.standings
    ]
    ends: set[int] = set()
    largest = 0.0
    for (i, group), (_, following) in pairwise([*groups, (len(part), math.inf)]):
        largest = max(largest, group)
        if sorted_by_group and following > largest:
            ends.add(i)
    for i, row in enumerate(part):
        yield row, i in ends and i + 1 < len(part)


def _row(row: TableRow, chance: TableRow, address: Address, scale: Scale, *, last: bool = False) -> Html:
    standing = row.standings.get(address.drawn)
    mark = chance.values.get(address.drawn)
    return tag(
        "tr",
        tag("td", _rank(standing, row), class_="rank", data_label="Rank"),
        tag("th", _system(row, address), scope="row", class_="system"),
        [_score(row, metric, scale if metric == address.drawn else None, mark) for metric in HEADLINE],
        tag("td", _verdict(standing, row), class_="to-chance", data_label="To chance"),
        tag("td", _answers(row, address), class_="answers", data_label="Answers"),
        tag(
            "td",
            display_names.day(row.submission.entry.received_at) if row.submission else None,
            class_="date",
            data_label="Date",
        ),
        columns.cells(row, address),
        class_=f"{row.kind}{' open' if row.key and row.key == address.row else ''}{' last' if last else ''}",
    )


def _rank(standing: Standing | None, row: TableRow) -> Html | str:
    if standing is None:
        return "" if row.kind == "chance" else display_names.NOTHING
    if not row.is_ranked:
        why = row.submission.unranked if row.submission else None
        return tag("span", display_names.NOTHING, title=_ALONE if why is None else f"Not ranked: {why}")
    return join(tag("b", standing.rank), tag("small", f"group {standing.group}"))


def _system(row: TableRow, address: Address) -> Html:
    if row.kind == "chance":
        return join(tag("span", "Chance", class_="name"), tag("small", "a random order of each pool, exact"))
    facts = [display_names.PARADIGMS[row.paradigm]] if row.paradigm else []
    facts += [display_names.MODALITIES[row.modality]] if row.modality else []
    if row.open_weights is not None:
        facts.append("open weights" if row.open_weights else "closed weights")
    if row.submission is None:
        reported = tag("span", "reported", class_="badge")
        fold = link(address, f"best of {row.folded + 1} inputs", reported="all") if row.folded else None
        notes = tag("small", " · ".join(facts), join(" · ", fold) if fold else None)
        return join(tag("span", row.label, class_="name"), " ", reported, notes)
    entry, key = row.submission.entry, row.submission.key
    name = tag(
        "a", row.label, href=address.to(row=key), data_go=True, data_row=key, title=row.label, class_="name", dir="auto"
    )
    partial = tag("span", "partial", class_="badge") if entry.partial else None
    if row.submission.unranked not in (None, "partial"):
        facts.append("not ranked")
    status = status_of(entry)
    badge = tag("span", _BADGES[status], class_=f"badge {status}") if status != "declared" else None
    doubts = tag("small", " · ".join(marks(row.submission)), class_="doubt") if marks(row.submission) else None
    pages = (outside_link(entry.link), outside_link(entry.code_link, prefix="code: "))
    links = [join(" · ", to_page) for to_page in pages if to_page is not None]
    return join(name, " ", partial, badge, tag("small", " · ".join(facts), links), doubts)


def _score(row: TableRow, metric: str, scale: Scale | None, mark: float | None) -> Html:
    value, interval = row.values.get(metric), row.interval.get(metric)
    drawn = None
    if scale is not None and value is not None:
        drawn = interval_plot(scale, value=None if row.kind == "chance" else value, interval=interval, mark=mark)
    bounds = tag("small", f" {display_names.bounds(interval)}") if interval else None
    return tag(
        "td",
        tag("b", display_names.percent(value)),
        bounds,
        drawn,
        class_="score",
        data_label=display_names.metric(metric),
    )


def _verdict(standing: Standing | None, row: TableRow) -> Html | None:
    if standing is None or standing.chance is None:
        return None
    verdict = standing.chance.verdict
    text = tag("span", display_names.VERDICTS[verdict], class_=f"verdict {verdict}")
    if standing.chance.n == row.n:
        return text
    return join(text, tag("small", f" on {display_names.plural(standing.chance.n, row.unit)}"))


def _answers(row: TableRow, address: Address) -> Html | None:
    if row.submission is None:
        return None
    scores = on_genre(row.submission.scores, address.genre)
    audio = "" if row.audio_coverage is None else f", {display_names.share(row.audio_coverage)} audio"
    shares = answer_shares(row.submission.judged.outcomes)
    answered = tag("small", f"{display_names.share(shares['answered'])} answered") if shares else None
    return join(tag("span", f"{scores.n - scores.n_missing}{audio}"), answered)


def answer_shares(outcomes: Mapping[Outcome | None, int]) -> dict[str, float]:
    """Return shares of outcomes: "answered" for answers used as given or repaired, and each failure under its name.

    Args:
        outcomes: Number of threads per outcome, with None for predictions that state none.

    Returns:
        Name to share of the threads; empty if no prediction states its outcome.
    """
    if set(outcomes) <= {None}:
        return {}
    total = sum(outcomes.values())
    failed = {str(outcome or "not stated"): n / total for outcome, n in outcomes.items() if outcome not in ANSWERED}
    return {"answered": sum(outcomes.get(outcome, 0) for outcome in ANSWERED) / total, **failed}
