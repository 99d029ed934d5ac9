"""Details of one row: scores with interval, chance and ceiling, genres, failures, run card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from musicrs_metric.base.genres import in_order
from musicrs_metric.compare import HEADLINE
from musicrs_metric.scoring import Scores

from ..board.rows import SubmissionRow
from ..board.status import STATUS_WORDS, marks, status_of
from . import display_names
from .address import Address
from .form_controls import link
from .html import Html, data_table, outside_link, tag
from .interval_plot import Scale, interval_plot
from .table import answer_shares

_OUTCOMES: Mapping[str, str] = {
    "answered": "answered",
    "truncated": "cut off",
    "refusal": "refused",
    "empty": "empty answer",
    "no_audio": "no audio",
    "failed": "failed",
}
_CARD: Mapping[str, str] = {
    "model_id": "Model",
    "model_revision": "Revision",
    "licence": "Licence",
    "protocol": "Protocol",
    "prompt_hash": "Prompt (sha256)",
    "shuffles": "Orders per pool",
    "seed": "Seed",
    "missing_audio": "Threads without audio",
    "clip_plan": "Clips",
    "code_version": "Code",
    "wall_time_s": "Run time in seconds",
    "hardware": "Hardware",
    "created_at": "Created",
    "fingerprint": "Data (fingerprint)",
}


def details(row: SubmissionRow, address: Address) -> Html:
    """Render the panel.

    Args:
        row: The row.
        address: State of the page.
    """
    card = row.entry.card
    return tag(
        "aside",
        link(address, "×", label="Close the details", class_="close", row=""),
        tag("h2", row.label, tabindex=-1, dir="auto"),
        tag(
            "p",
            f"{display_names.PARADIGMS[card.paradigm]} · {display_names.MODALITIES[card.modality]} · reads: "
            f"{display_names.READS[card.reads].lower()}",
            class_="soft",
        ),
        tag("p", row.entry.description, class_="description", dir="auto") if row.entry.description else None,
        tag("p", "Page: ", out) if (out := outside_link(row.entry.link)) else None,
        tag("p", "Partial: missing threads count as 0.", class_="warn") if row.entry.partial else None,
        tag("p", "Code: ", code) if (code := outside_link(row.entry.code_link)) else None,
        tag("p", f"Status: {_status(row)}"),
        tag("p", f"Sent by {row.entry.shown_sender}.", class_="soft") if row.entry.shown_sender else None,
        [tag("p", f"{mark[0].upper()}{mark[1:]}.", class_="warn") for mark in marks(row)],
        tag("p", row.other_data, class_="soft") if row.other_data else None,
        _actions(row, address),
        tag("h3", "Standings"),
        tag("ul", _standing(row)),
        tag("h3", "Scores in per cent"),
        _measures(row.scores),
        tag("h3", f"{display_names.metric(address.drawn)} by genre"),
        _genres(row.scores, address.drawn),
        tag("h3", "Answers"),
        tag("dl", _answers(row)),
        tag("h3", "Run card"),
        tag("dl", _run_card(row)),
        id="details", aria_label="Details of a system",
    )  # fmt: skip


def _status(row: SubmissionRow) -> str:
    at = row.entry.note.reproduced_at
    return STATUS_WORDS[status_of(row.entry)] + (f" on {display_names.day(at)}" if at else "")


def _actions(row: SubmissionRow, address: Address) -> Html:
    return tag(
        "p",
        tag("button", "Download predictions", type="button", data_save=f"predictions {row.key}", class_="action"),
        link(address, "Compare", class_="action", tab="compare", row="", compare=f"{row.key},"),
        link(address, "Change or withdraw", class_="action", tab="submit") if row.entry.receipt_hash else None,
        link(address, "Rankings by thread", class_="action", tab="threads", row="", systems=row.key),
        class_="actions",
    )


def _standing(row: SubmissionRow) -> Iterator[Html]:
    for metric in HEADLINE:
        standing = row.standings.get(metric)
        if standing is None:
            continue
        why = row.unranked or "no other ranked system reads the same"
        text = f"no rank ({why})"
        if row.is_ranked:
            text = f"rank {standing.rank} of {row.peers}"
            if standing.rank_interval:
                first, last = standing.rank_interval
                text += f" (95 %: {first} to {last})" if first != last else " (also in 95 % of the resamples)"
            text += f", group {standing.group}"
        if standing.chance is not None:
            text += (
                f"; {standing.chance.verdict} chance, {display_names.points(standing.chance.difference)} points from "
                f"it {display_names.points_interval(standing.chance.interval)}"
            )
            if standing.chance.n < row.scores.n:
                text += f", on the {display_names.plural(standing.chance.n, row.scores.unit)} with a prediction"
        yield tag("li", tag("b", display_names.metric(metric)), f": {text}")
    yield tag("li", f"Rule for {row.scores.verdict_rule}.", class_="soft")


def _measures(scores: Scores) -> Html:
    chance, intervals = scores.chance or {}, scores.interval or {}
    table_rows = [
        tag(
            "tr",
            tag("th", display_names.metric(name), scope="row"),
            tag("td", tag("b", display_names.percent(value))),
            tag("td", display_names.bounds(intervals.get(name))),
            tag("td", display_names.percent(chance.get(name))),
            tag("td", display_names.percent(scores.ceiling[name])),
        )
        for name, value in scores.values.items()
    ]
    return data_table(("Measure", "Mean", "95 %", "Chance", "Best possible"), table_rows)


def _genres(scores: Scores, metric: str) -> Html:
    of = {genre: scores.by["genre"][genre] for genre in in_order(scores.by["genre"])}
    scale = Scale.over(_ends(list(of.values()), metric))
    table_rows = [
        tag(
            "tr",
            tag("th", genre, tag("small", f" {scores_of.n}"), scope="row"),
            tag("td", tag("b", display_names.percent(scores_of.values[metric]))),
            tag("td", display_names.bounds((scores_of.interval or {}).get(metric))),
            tag("td", display_names.percent((scores_of.chance or {}).get(metric))),
            tag(
                "td",
                interval_plot(
                    scale,
                    value=scores_of.values[metric],
                    interval=(scores_of.interval or {}).get(metric),
                    mark=(scores_of.chance or {}).get(metric),
                ),
            ),
        )
        for genre, scores_of in of.items()
    ]
    return data_table(("Genre, threads", "Mean", "95 %", "Chance", ""), table_rows)


def _ends(of: Sequence[Scores], metric: str) -> Iterator[float | None]:
    for scores in of:
        yield from (scores.values[metric], (scores.chance or {}).get(metric), *(scores.interval or {}).get(metric, ()))


def _answers(row: SubmissionRow) -> Iterator[Html]:
    scores, card = row.scores, row.entry.card
    yield from _item("Threads scored", scores.n)
    yield from _item("Threads without a prediction, counted as 0", scores.n_missing)
    yield from _item("Titles that are not in the pool", scores.n_unknown)
    yield from _item("Repeated titles", scores.n_duplicate)
    for name, share in answer_shares(row.judged.outcomes).items():
        yield from _item(f"Outcome: {_OUTCOMES.get(name, name)}", display_names.share(share))
    yield from _item("Share of each ranking that the system gave itself", display_names.share(row.judged.answered))
    for name, value in (card.audio_coverage or {}).items():
        text = display_names.share(value) if name == "threads" else f"{value:g}"
        yield from _item(f"Audio: {name.replace('_', ' ')}", text)


def _run_card(row: SubmissionRow) -> Iterator[Html]:
    card = row.entry.card
    weights = {True: "open", False: "closed", None: None}[card.open_weights]
    trained = {True: "trained or tuned for this task", False: "not trained for this task", None: None}[card.trained]
    yield from _item("Pools", row.design)
    yield from _item("Weights", weights)
    yield from _item("Training", trained)
    for name, text in _CARD.items():
        yield from _item(text, getattr(card, name))
    yield from _item("Received", row.entry.received_at)
    yield from _item("Key", row.key)


def _item(name: str, value: str | float | None) -> Iterator[Html]:
    if value is not None and value != "":
        yield tag("dt", name)
        yield tag("dd", f"{value:g}" if isinstance(value, float) else value, dir="auto")
