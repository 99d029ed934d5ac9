"""The audit as a handful of tables of text: what the Markdown and the HTML page both show, number for number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .results import AdversaryResult, Audit, EffectSize
from .run import MEASURES
from .verdict import LEAK_Z


@dataclass(frozen=True)
class Table:
    """One table of the report.

    Attributes:
        title: Its heading.
        text: A sentence or two on how to read it.
        columns: Headings of the columns.
        rows: Cells, one string per column.
        long: Whether it lists threads one by one, so that a page may fold it.
        notes: What is to be said below it.
        wordy: Column that a narrow terminal may leave out, by its heading.
    """

    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    long: bool = False
    notes: tuple[str, ...] = ()
    wordy: str | None = None


def tables(audit: Audit) -> tuple[Table, ...]:
    """Lay out an audit: verdicts, adversaries, evenness, left-over answers, second spellings."""
    return (
        _verdicts(audit),
        _adversaries(audit),
        _evenness(audit),
        _left_over(audit),
        _collisions(audit),
    )


def summary(audit: Audit) -> str:
    """What was audited, in two sentences."""
    leaking = [verdict.route for verdict in audit.verdicts if verdict.status == "leaks"]
    found = f"Routes that leak: {', '.join(leaking)}." if leaking else "No route leaks."
    empty = f"{audit.n_empty} without ground truth {'count as 0' if audit.empty == 'zero' else 'are left out'}"
    return f"Averaged over {audit.n} threads; {empty}. {found}"


def percent(value: float) -> str:
    """A share as percent with two decimals, without the sign."""
    return f"{100 * value:.2f}"


def points(value: float) -> str:
    """A difference of shares in percentage points."""
    return f"{100 * value:+.2f}"


def _verdicts(audit: Audit) -> Table:
    rows = (
        (
            verdict.route, verdict.status, verdict.adversary, verdict.measure, points(verdict.above_chance),
            f"{verdict.z:+.1f}", str(verdict.rows), verdict.reads,
        )
        for verdict in audit.verdicts
    )  # fmt: skip
    return Table(
        "Verdict",
        f"Per route, the adversary furthest from chance. A route leaks where |z| is {LEAK_Z} or more, in either "
        "direction: a ranking below chance is above it in reverse.",
        ("route", "verdict", "worst adversary", "by", "above chance", "z", "threads", "reads"),
        tuple(rows),
        notes=tuple(f"{verdict.route}: {verdict.rule}" for verdict in audit.verdicts if verdict.rule),
    )


def _adversaries(audit: Audit) -> Table:
    columns = ["adversary", "reads", "what it exploits", "threads told"]
    for name in MEASURES:
        columns += [name, "z"]
    chance = ", ".join(f"{name} {percent(effect.chance)}" for name, effect in audit.findings[0].effects.items())
    return Table(
        "Adversaries",
        f"Percent. Chance, exactly: {chance}. z is (mean - chance) / standard error over threads. Where ties are "
        f"shuffled, mean ± standard deviation over {audit.seeds} seeds, and the mean z; elsewhere ties go by place in "
        "the pool. Threads told: those in which the adversary tells any two candidates apart.",
        tuple(columns),
        tuple(_finding(finding) for finding in audit.findings),
        wordy="what it exploits",
    )


def _finding(finding: AdversaryResult) -> tuple[str, ...]:
    cells = [finding.name, finding.reads, finding.exploits, str(len(finding.rows))]
    for effect in finding.effects.values():
        cells += [_value(effect), "–" if effect.z is None else f"{effect.z:+.1f}"]
    return tuple(cells)


def _value(effect: EffectSize) -> str:
    return percent(effect.mean) + ("" if effect.sd is None else f" ± {percent(effect.sd)}")


def _evenness(audit: Audit) -> Table:
    rows = (
        (
            entry.subreddit, str(entry.threads), str(entry.entities), _span(entry.count), _span(entry.size),
            "yes" if entry.even else "no",
        )
        for entry in audit.evenness
    )  # fmt: skip
    return Table(
        "Pools by subreddit",
        "How many pools of its subreddit an entity stands in, answers and distractors counted alike. "
        f"{audit.shared_entities} entities stand in pools of more than one subreddit; each counts in each by itself.",
        ("subreddit", "threads", "entities", "pools per entity", "candidates per pool", "even"),
        tuple(rows),
    )


def _left_over(audit: Audit) -> Table:
    total = sum(len(fault.entities) for fault in audit.left_over)
    return Table(
        "Left-over answers",
        "Candidates that the thread's own replies name and that count as wrong, since the ground truth lacks them: "
        f"{total}, in {len(audit.left_over)} threads.",
        ("row", "thread", "entities"),
        tuple((str(fault.row), fault.thread_id, "; ".join(fault.entities)) for fault in audit.left_over),
        long=True,
    )


def _collisions(audit: Audit) -> Table:
    return Table(
        "Second spellings",
        f"Pools that hold one title in several spellings, equal under the matching rule: {len(audit.collisions)}.",
        ("row", "thread", "spellings", "in ground truth"),
        tuple(
            (
                str(fault.row),
                fault.thread_id,
                "; ".join(" = ".join(names) for names in fault.spellings),
                ", ".join("yes" if right else "no" for right in fault.in_ground_truth),
            )
            for fault in audit.collisions
        ),
        long=True,
    )


def _span(pair: Sequence[int]) -> str:
    low, high = pair
    return str(low) if low == high else f"{low}–{high}"
