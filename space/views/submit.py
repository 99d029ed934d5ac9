"""The tab where predictions are sent: what is wanted, what became of it, and every fault at its place."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.predictions import Fault, PredictionError

from ..service import Submitted
from ..settings import Limits
from . import display_names
from .address import Address
from .form_controls import link
from .html import Html, join, tag

_STATES = {
    "stored": "Stored. Its scores are computed from the predictions and stand on the board.",
    "queued": "Taken, and safe on this machine’s disk; it is called stored once it is committed to the results "
    "repository, which is tried again until it works.",
    "already": "The very same predictions under this name and modality are on the board already; nothing was added.",
}


def intro(n_threads: int, limits: Limits) -> Html:
    """What is wanted.

    Args:
        n_threads: Threads of the data.
        limits: What is taken at most.
    """
    megabytes = f"{limits.upload_bytes / 1e6:g} MB"
    return join(
        tag("h2", "Submit predictions"),
        tag(
            "p",
            "One JSON object a line and thread, ",
            tag("code", '{"thread_id": "t3_...", "ranking": ["best", "next", ...]}'),
            f", for all {n_threads} threads in any order; plain, gzip, or a zip with this one file, up to {megabytes}. "
            "A run card (run.json), where you have one, fills in the form and tells readers what they need to compare.",
        ),
        tag(
            "p",
            "The file is judged first: every fault is listed with line, thread and field, and nothing with a fault is "
            "kept. Then the scores are computed here and the row appears with rank, group and interval. Name, link, "
            "description and predictions become public.",
            class_="soft",
        ),
    )


def taken(submitted: Submitted, address: Address) -> Html:
    """What became of a submission that was taken.

    Args:
        submitted: The receipt and the row.
        address: What the page shows.
    """
    row, warnings = submitted.row, submitted.warnings
    return _result(
        "fine",
        tag("h3", submitted.receipt.state.capitalize()),
        tag("p", _STATES[submitted.receipt.state]),
        tag("ul", [tag("li", warning) for warning in warnings]) if warnings else None,
        _row_of(submitted, address) if row is not None else tag("p", "Its row appears in a moment."),
    )


def scored(scores: dict[str, object]) -> Html:
    """The scores of a file that was not kept.

    Args:
        scores: What `space.service.Desk.score` returns.
    """
    chance, interval = scores["chance"], scores["interval"]
    assert isinstance(chance, dict)  # noqa: S101 - boards have pools
    bounds = interval if isinstance(interval, dict) else {}
    verdicts = scores["verdict"] if isinstance(scores["verdict"], dict) else {}
    warnings, covered = scores["warnings"], scores["verdict_n"]
    assert isinstance(warnings, list) and isinstance(covered, int)  # noqa: S101, PT018
    table_rows = [
        tag(
            "tr",
            tag("th", display_names.metric(name), scope="row"),
            tag("td", tag("b", display_names.percent(value if isinstance(value, float) else None))),
            tag("td", display_names.bounds(bounds.get(name))),
            tag("td", display_names.percent(chance.get(name))),
            tag("td", verdicts.get(name) or display_names.NOTHING),
        )
        for name in display_names.METRICS
        for value in (scores[name],)
    ]
    heads = [tag("th", text, scope="col") for text in ("Measure", "Score", "95 %", "Chance", "To chance")]
    return _result(
        "fine",
        tag("h3", "The file is sound; nothing was kept"),
        tag("p", f"{scores['n']} threads, {scores['n_missing']} of them without a prediction and counted as 0."),
        tag("table", tag("thead", tag("tr", heads)), tag("tbody", table_rows), class_="figures"),
        tag(
            "p",
            f"Rule for {scores['verdict_rule']}, on {display_names.plural(covered, 'thread')} with a prediction.",
            class_="soft",
        ),
        tag("ul", [tag("li", warning) for warning in warnings]) if warnings else None,
    )


def refused(error: UserError) -> Html:
    """Why a submission was not taken, fault by fault."""
    if not isinstance(error, PredictionError):
        return _result("failed", tag("h3", "Not taken"), tag("p", str(error)))
    more = error.n_faults - len(error.faults)
    heads = [tag("th", text, scope="col") for text in ("Where", "Thread", "Field", "What is wrong, and what to do")]
    return _result(
        "failed",
        tag("h3", f"Not taken: {count(error.n_faults, 'fault')}"),
        tag("p", "Nothing was kept. Mend these and send it again."),
        tag(
            "div",
            tag("table", tag("thead", tag("tr", heads)), tag("tbody", map(_fault, error.faults)), class_="faults"),
            class_="scroll",
            tabindex=0,
        ),
        tag("p", f"and {count(more, 'more fault')}") if more else None,
    )


def _fault(fault: Fault) -> Html:
    where = fault.file if fault.line is None else f"{fault.file}, line {fault.line}"
    cells = [tag("td", text, dir="auto") for text in (where, fault.thread or "", fault.field or "", fault.message)]
    return tag("tr", cells)


def _row_of(submitted: Submitted, address: Address) -> Iterator[Html]:
    row = submitted.row
    if row is None:
        return
    standing = row.standings.get("recall@20")
    if standing is not None:
        against = "" if standing.chance is None else f", {standing.chance.verdict} chance"
        if standing.chance is not None and standing.chance.n < row.scores.n:
            against += f" on the {display_names.plural(standing.chance.n, 'thread')} with a prediction"
        place = (
            f"rank {standing.rank} of {row.peers} that read the same, group {standing.group}"
            if row.is_ranked
            else "no rank, for no other system reads the same"
        )
        yield tag(
            "p",
            tag("b", row.label, dir="auto"),
            f": recall@20 {display_names.percent(standing.mean)} ({display_names.bounds(standing.interval)}), "
            f"{place}{against}.",
        )
    yield tag("p", link(address, "See its row", tab="leaderboard", row=row.key, class_="action"))


def _result(kind: str, *content: Html | Iterator[Html] | None) -> Html:
    # The same faults twice are told twice: without the time the page would not move, and a screen reader say nothing.
    now = datetime.now(UTC)
    judged = tag("p", f"Judged at {now:%H:%M:%S} UTC", class_="soft")
    return tag("section", *content, judged, class_=f"result {kind}", role="status", data_judged=now.isoformat())
