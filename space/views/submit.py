"""Tab Submit: the expected file, the result of a submission, and the faults with their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from musicrs_metric.errors import UserError, count
from musicrs_metric.runs.predictions import Fault, PredictionError

from ..outcome import outcome_of, sentence
from ..service import Submitted
from ..settings import Limits
from . import display_names
from .address import Address
from .form_controls import link
from .html import Html, data_table, join, tag

_STATES = {
    "stored": "Stored. The leaderboard shows its scores, computed from the predictions.",
    "queued": "The submission is on the local disk. It becomes stored once it is committed to the results repository. "
    "The leaderboard repeats the commit until it succeeds.",
    "already": "The same predictions are already stored under this name and modality. Nothing was added.",
}


def intro(n_threads: int, limits: Limits) -> Html:
    """Render the introduction.

    Args:
        n_threads: Number of threads in the data.
        limits: Largest sizes.
    """
    megabytes = f"{limits.upload_bytes / 1e6:g} MB"
    return join(
        tag("h2", "Submit predictions"),
        tag(
            "p",
            "One JSON object per thread and line, ",
            tag("code", '{"thread_id": "t3_...", "ranking": ["best", "next", ...]}'),
            f", for all {n_threads} threads in any order. "
            f"The file may be plain, gzip, or a zip with this one file, at most {megabytes}. A run card (run.json) "
            "fills the fields that you leave empty, and shows readers how the system was run.",
        ),
        tag(
            "p",
            "The leaderboard first checks the file and lists every fault with line, thread and field. A file with "
            "faults is not stored. Then it computes the scores and shows the row with rank, group and interval. Name, "
            "link, description and predictions become public.",
            class_="soft",
        ),
    )


def taken(submitted: Submitted, address: Address) -> Html:
    """Render the result of an accepted submission.

    Args:
        submitted: The receipt and the row.
        address: State of the page.
    """
    row, warnings = submitted.row, submitted.warnings
    return _result(
        "fine",
        tag("h3", submitted.receipt.state.capitalize()),
        tag("p", _STATES[submitted.receipt.state]),
        _row_of(submitted, address) if row is not None else tag("p", "The row appears in a moment."),
        tag("ul", [tag("li", warning) for warning in warnings]) if warnings else None,
    )


def scored(scores: dict[str, object]) -> Html:
    """Render the scores of a file that was not stored.

    Args:
        scores: Result of `space.service.LeaderboardService.score`.
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
    return _result(
        "fine",
        tag("h3", "The file is valid; it was not stored"),
        tag("p", f"{scores['n']} threads. {scores['n_missing']} of them have no prediction and count as 0."),
        data_table(("Measure", "Score", "95 %", "Chance", "To chance"), table_rows),
        tag(
            "p",
            f"Rule for {scores['verdict_rule']}, on {display_names.plural(covered, 'thread')} with a prediction.",
            class_="soft",
        ),
        tag("ul", [tag("li", warning) for warning in warnings]) if warnings else None,
    )


def refused(error: UserError, left: int | None = None) -> Html:
    """Render the faults of a refused submission.

    Args:
        error: The refusal.
        left: Number of refused submissions that the caller may still send within the hour; None for no limit.
    """
    if not isinstance(error, PredictionError):
        return _result("failed", tag("h3", "Refused"), tag("p", str(error)))
    more = error.n_faults - len(error.faults)
    return _result(
        "failed",
        tag("h3", f"Refused: {count(error.n_faults, 'fault')}"),
        tag("p", "Nothing was stored. Fix these faults and submit again."),
        tag(
            "div",
            data_table(
                ("Where", "Thread", "Field", "Fault, and what to do"), map(_fault, error.faults), class_="faults"
            ),
            class_="scroll",
            tabindex=0,
        ),
        tag("p", f"and {count(more, 'more fault')}") if more else None,
        tag("p", f"{left} more refused submissions are possible within this hour.", class_="soft")
        if left is not None
        else None,
    )


def _fault(fault: Fault) -> Html:
    where = fault.file if fault.line is None else f"{fault.file}, line {fault.line}"
    cells = [tag("td", text, dir="auto") for text in (where, fault.thread or "", fault.field or "", fault.message)]
    return tag("tr", cells)


def _row_of(submitted: Submitted, address: Address) -> Iterator[Html]:
    row = submitted.row
    if row is None:
        return
    yield tag("p", tag("b", row.label, dir="auto"), f": {sentence(outcome_of(row))}.")
    if submitted.code:
        yield tag(
            "p",
            "Receipt: ",
            tag("code", submitted.code),
            ". Keep it. With it you can change or withdraw the row below. The leaderboard cannot show it again.",
            class_="receipt",
        )
    yield tag("p", link(address, "Show the row", tab="leaderboard", row=row.key, class_="action"))


def card_notes(notes: Sequence[str]) -> Html:
    """Render what a run card could not fill in; empty without notes."""
    if not notes:
        return Html()
    return tag("div", tag("ul", [tag("li", note) for note in notes]), class_="warn", role="status")


def changed(text: str, warnings: Iterable[str] = ()) -> Html:
    """Render the result of a change of a row."""
    return _result("fine", tag("h3", text), tag("ul", [tag("li", warning) for warning in warnings]))


def _result(kind: str, *content: Html | Iterator[Html] | None) -> Html:
    # The time makes a repeated result different, so that the page scrolls and a screen reader reads it again.
    now = datetime.now(UTC)
    time = tag("p", f"Checked at {now:%H:%M:%S} UTC", class_="soft")
    return tag("section", *content, time, class_=f"result {kind}", role="status", data_judged=now.isoformat())
