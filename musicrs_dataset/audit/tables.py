"""Tables of the audit. The terminal, the Markdown file and the HTML page show the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from musicrs_metric.base.numbers import UNDEFINED, ascii_points, percent
from musicrs_metric.base.tables import Table, text_table

from .results import AdversaryResult, Audit, EffectSize
from .run import MEASURES
from .verdict import LEAK_Z


@dataclass(frozen=True)
class Section:
    """Section of the report.

    Attributes:
        text: One or two sentences on how to read the table.
        table: The table; its caption is the heading of the section.
        long: True if the table lists single threads, so that a page may fold it.
        wordy: Head of the column that a narrow terminal may leave out.
    """

    text: str
    table: Table
    long: bool = False
    wordy: str | None = None

    @property
    def title(self) -> str:
        """Heading of the section."""
        return self.table.caption

    @property
    def columns(self) -> tuple[str, ...]:
        """Heads of the columns."""
        return tuple(column.text for column in self.table.columns)

    @property
    def rows(self) -> list[list[str]]:
        """Texts of the cells, row by row."""
        return [[cell.parts[0].text for cell in row.cells] for row in self.table.rows]


def sections(audit: Audit) -> tuple[Section, ...]:
    """Lay out an audit: verdicts, adversaries, pools by subreddit, left-over answers, second spellings."""
    return (
        _verdicts(audit),
        _adversaries(audit),
        _evenness(audit),
        _left_over(audit),
        _collisions(audit),
    )


def summary(audit: Audit) -> str:
    """Summarise an audit in two sentences."""
    leaking = [verdict.route for verdict in audit.verdicts if verdict.status == "leaks"]
    result = f"Routes that leak: {', '.join(leaking)}." if leaking else "No route leaks."
    empty = f"{audit.n_empty} without ground truth {'count as 0' if audit.empty == 'zero' else 'are excluded'}"
    return f"Averaged over {audit.n} threads; {empty}. {result}"


def _section(
    title: str,
    text: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    notes: Sequence[str] = (),
    long: bool = False,
    wordy: str | None = None,
) -> Section:
    return Section(text, text_table(title, columns, rows, notes, n_left=len(columns)), long, wordy)


def _verdicts(audit: Audit) -> Section:
    rows = [
        (
            verdict.route, verdict.status, verdict.adversary, verdict.measure, ascii_points(verdict.above_chance),
            f"{verdict.z:+.1f}", str(verdict.rows), verdict.reads,
        )
        for verdict in audit.verdicts
    ]  # fmt: skip
    return _section(
        "Verdict",
        f"Each row shows the adversary of the route that is furthest from chance. A route leaks if |z| is {LEAK_Z} or "
        "more, in either direction: a ranking below chance is above it in reverse.",
        ("route", "verdict", "worst adversary", "by", "above chance", "z", "threads", "reads"),
        rows,
        notes=[f"{verdict.route}: {verdict.rule}" for verdict in audit.verdicts if verdict.rule],
    )


def _adversaries(audit: Audit) -> Section:
    columns = ["adversary", "reads", "what it exploits", "threads"]
    for name in MEASURES:
        columns += [name, "z"]
    chance = ", ".join(f"{name} {percent(effect.chance)}" for name, effect in audit.findings[0].effects.items())
    return _section(
        "Adversaries",
        f"Values in %. Exact chance level: {chance}. z is (mean - chance) / standard error over threads. For shuffled "
        f"ties, the table shows mean ± standard deviation over {audit.seeds} seeds, and the mean z. Other ties are in "
        "pool order. The column threads counts the threads in which the adversary distinguishes any two candidates.",
        columns,
        [_adversary_row(finding) for finding in audit.findings],
        wordy="what it exploits",
    )


def _adversary_row(finding: AdversaryResult) -> list[str]:
    cells = [finding.name, finding.reads, finding.exploits, str(len(finding.rows))]
    for effect in finding.effects.values():
        cells += [_value(effect), UNDEFINED if effect.z is None else f"{effect.z:+.1f}"]
    return cells


def _value(effect: EffectSize) -> str:
    return percent(effect.mean) + ("" if effect.sd is None else f" ± {percent(effect.sd)}")


def _evenness(audit: Audit) -> Section:
    rows = [
        (
            entry.subreddit, str(entry.threads), str(entry.entities), _span(entry.count), _span(entry.size),
            "yes" if entry.even else "no",
        )
        for entry in audit.evenness
    ]  # fmt: skip
    return _section(
        "Pools by subreddit",
        "Pools of the subreddit in which each candidate appears, relevant candidates and distractors alike. "
        f"{audit.shared_entities} candidates appear in pools of several subreddits; they count separately in each.",
        ("subreddit", "threads", "entities", "pools per entity", "candidates per pool", "even"),
        rows,
    )


def _left_over(audit: Audit) -> Section:
    total = sum(len(fault.entities) for fault in audit.left_over)
    return _section(
        "Left-over answers",
        "Distractors that the thread's own replies name, because the ground truth lacks them: "
        f"{total}, in {len(audit.left_over)} threads.",
        ("row", "thread", "entities"),
        [(str(fault.row), fault.thread_id, "; ".join(fault.entities)) for fault in audit.left_over],
        long=True,
    )


def _collisions(audit: Audit) -> Section:
    return _section(
        "Second spellings",
        f"Pools with one title in several spellings, equal under the matching rule: {len(audit.collisions)}.",
        ("row", "thread", "spellings", "in ground truth"),
        [
            (
                str(fault.row),
                fault.thread_id,
                "; ".join(" = ".join(names) for names in fault.spellings),
                ", ".join("yes" if relevant else "no" for relevant in fault.in_ground_truth),
            )
            for fault in audit.collisions
        ],
        long=True,
    )


def _span(pair: Sequence[int]) -> str:
    low, high = pair
    return str(low) if low == high else f"{low}–{high}"
