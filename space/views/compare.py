"""Tab Compare: the difference of two systems in words, by measure, by genre and thread by thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from musicrs_dataset.records import Thread
from musicrs_metric.base.genres import in_order
from musicrs_metric.base.numbers import p_value
from musicrs_metric.compare.results import Comparison, Effect, Pair

from ..board.rows import SubmissionRow
from . import display_names
from .address import Address
from .differences import difference, figures, scale_of
from .form_controls import choice, form, joined_choice, link
from .html import Html, join, tag
from .largest_differences import largest_differences


def chooser(rows: Sequence[SubmissionRow], address: Address) -> Html:
    """Return the fields for two systems and a measure.

    Args:
        rows: Systems on the same pools.
        address: State of the page.
    """
    options = {"": "Choose a system", **{row.key: row.label for row in rows}}
    first, second = address.pair
    return form(
        "Choose two systems",
        joined_choice("compare", "First system", options, first),
        joined_choice("compare", "Second system", options, second),
        choice("metric", "Measure", display_names.METRICS, address),
    )


def best_pair(rows: Sequence[SubmissionRow]) -> str:
    """Return the keys of the two best systems of one modality and `reads` as in a URL; empty for fewer than two rows.

    Without such a pair, two systems of the same `reads` come first, because only those are ranked together.

    Args:
        rows: Best first.
    """
    best: dict[tuple[str, ...], SubmissionRow] = {}
    for fields in (("modality", "reads"), ("reads",)):
        for row in rows:
            better = best.setdefault(tuple(getattr(row.entry.card, name) for name in fields), row)
            if better is not row:
                return f"{better.key},{row.key}"
    return ",".join(row.key for row in rows[:2]) if len(rows) > 1 else ""


def nothing_chosen(rows: Sequence[SubmissionRow], address: Address) -> Html:
    """Render the tab without a choice: its purpose, and pairs to begin with."""
    best = rows[:3]
    pairs = [(a, b) for i, a in enumerate(best) for b in best[i + 1 :]]
    return join(
        tag(
            "p",
            "Choose two systems to see their paired difference with its interval, by genre and thread by thread. A "
            "difference whose interval contains 0 is a tie.",
            class_="lead",
        ),
        tag(
            "p",
            "Begin with: " if pairs else None,
            [
                join(link(address, f"{a.label} and {b.label}", tab="compare", compare=f"{a.key},{b.key}"), tag("br"))
                for a, b in pairs
            ],
            class_="begin",
        ),
    )


def comparison(
    a: SubmissionRow, b: SubmissionRow, result: Comparison, threads: Sequence[Thread | None], address: Address
) -> Html:
    """Render the comparison in words and tables.

    Args:
        a: The first system.
        b: The second.
        result: Their comparison, `a` first, by genre.
        threads: The threads, in the order of the rows' tables.
        address: State of the page. Its measure is shown in full.
    """
    pair = result.metrics[address.metric].pairs[0]
    return tag(
        "section",
        tag("p", *_sentence(a, b, pair, address.metric), class_="lead verdict-line"),
        _different_reads(a, b),
        tag(
            "div",
            tag("div", tag("h2", "By measure, in points", class_="minor"), _measures(a, b, result)),
            tag(
                "div",
                tag("h2", f"{display_names.metric(address.metric)} by genre, in points", class_="minor"),
                _effects(pair.by.get("genre", {})),
            ),
            class_="halves",
        ),
        tag("h2", "Thread by thread", class_="minor"),
        largest_differences(a, b, threads, address),
        tag(
            "p",
            "Each point is a thread. Above the dotted line the first system has the higher score, below it the second. "
            "Click a point to open its thread.",
            class_="soft",
        ),
        aria_label="Comparison",
    )


def _sentence(a: SubmissionRow, b: SubmissionRow, pair: Pair, metric: str) -> Iterator[Html | str]:
    first, second = (tag("b", row.label, dir="auto") for row in (a, b))
    size = f"{abs(pair.difference) * 100:.2f} points of {display_names.metric(metric)}"
    if pair.significant:
        better, worse = (first, second) if pair.difference > 0 else (second, first)
        yield from (better, " is better than ", worse, f" by {size}")
    else:
        yield from (first, " and ", second, f" are not significantly different: {size} between them")
    interval = display_names.points_interval(pair.interval)
    yield f" (first minus second {display_names.points(pair.difference)}, 95 % {interval}, p {_equals(pair.p_t)})."
    if pair.detectable is not None and not pair.significant:
        least = f"{pair.detectable * 100:.1f} points"
        yield f" A difference of {least} would be found in four of five such comparisons."


def _different_reads(a: SubmissionRow, b: SubmissionRow) -> Html | None:
    if a.entry.card.reads == b.entry.card.reads:
        return None
    reads = " and ".join(display_names.READS[row.entry.card.reads].lower() for row in (a, b))
    return tag(
        "p", f"They do not read the same ({reads}), so the leaderboard does not rank them together.", class_="warn"
    )


def _measures(a: SubmissionRow, b: SubmissionRow, result: Comparison) -> Html:
    pairs = {metric: of.pairs[0] for metric, of in result.metrics.items()}
    scale = scale_of(pair.interval or (pair.difference, pair.difference) for pair in pairs.values())
    table_rows = [
        tag(
            "tr",
            tag("th", display_names.metric(metric), scope="row"),
            *(tag("td", tag("b", display_names.percent(row.scores.values[metric]))) for row in (a, b)),
            difference(pair.difference, pair.interval, scale),
            tag("td", p_value(pair.p_t)),
            tag("td", f"{pair.wins} / {pair.ties} / {pair.losses}"),
        )
        for metric, pair in pairs.items()
    ]
    heads = ("Measure", "First", "Second", "First minus second, 95 %", "p", "Won / tied / lost")
    return figures(heads, table_rows)


def _effects(effects: dict[str, Effect]) -> Html:
    scale = scale_of(effect.interval or (effect.difference, effect.difference) for effect in effects.values())
    table_rows = [
        tag(
            "tr",
            tag("th", genre, tag("small", f" {display_names.plural(effect.n, 'thread')}"), scope="row"),
            difference(effect.difference, effect.interval, scale),
        )
        for genre in in_order(effects)
        for effect in (effects[genre],)
    ]
    heads = ("Genre", "First minus second, 95 %")
    note = "These intervals are not tests. They are not corrected for the number of genres."
    return join(figures(heads, table_rows), tag("p", note, class_="soft"))


def _equals(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"
