"""A description and a validation as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from musicrs_metric.errors import some

from .checks import Finding
from .describe import Description, Histogram, Share
from .validate import Validation

if TYPE_CHECKING:
    from rich.table import Table


def description_tables(about: Description) -> Iterator[Table]:
    """Lay out the statistics of a dataset.

    Args:
        about: The statistics.

    Yields:
        Totals, shares, sizes, and the chance level.
    """
    facts = [
        ("threads", f"{about.threads:,}"),
        ("right answers", f"{about.ground_truth.total:,}, {about.ground_truth.distinct:,} different"),
        ("candidates", f"{about.candidates.total:,}, {about.candidates.distinct:,} different"),
        ("entities of the replies", f"{about.all_entities.total:,}, {about.all_entities.distinct:,} different"),
        ("replies", f"{about.comments:,}"),
        ("links", f"{about.links.total:,} to {about.links.distinct:,} videos, {about.links.with_start} with a start"),
        ("links a thread", f"at most {about.links.most}; {about.links.threads_without} threads without"),
        ("clips", f"{about.audio.clips:,}, {about.audio.hours:.2f} h, in {about.audio.threads} threads"),
        ("fingerprint", about.fingerprint),
    ]
    if about.query_words:
        facts.insert(-1, ("words a request", f"median {about.query_words[0]:g}, at most {about.query_words[1]}"))
    yield _table("Totals", ("", ""), facts)
    for title, shares in (
        ("Genres", about.genres),
        ("Macro-genres", about.macro_genres),
        ("Subreddits", about.subreddits),
    ):
        yield _table(title, ("", "threads", "share"), _share_rows(shares))
    yield _table("Candidates a thread", ("candidates", "threads"), _histogram_rows(about.pool_sizes))
    yield _table("Right answers a thread", ("right answers", "threads"), _histogram_rows(about.ground_truth_sizes))
    chance = [(name, f"{100 * value:.2f} %") for name, value in about.chance.items()]
    yield _table("Chance: a random order of each pool", ("measure", "expected"), chance)


def validation_tables(found: Validation) -> Iterator[Table]:
    """Lay out what a validation found; kinds without a finding have no table.

    Args:
        found: The findings.

    Yields:
        Missing, invalid and odd.
    """
    for title, findings in (("Missing", found.missing), ("Invalid", found.invalid), ("Odd", found.odd)):
        if findings:
            yield _table(title, ("name", "count", "in", "what", "such as"), map(_finding_row, findings))


def _finding_row(finding: Finding) -> tuple[str, ...]:
    return finding.name, f"{finding.count:,}", f"{len(finding.where):,}", finding.what, some(finding.where, 2)


def _share_rows(shares: Mapping[str, Share]) -> Iterator[tuple[str, ...]]:
    return ((name, str(share.threads), f"{100 * share.share:.1f} %") for name, share in shares.items())


def _histogram_rows(sizes: Histogram) -> Iterator[tuple[str, ...]]:
    return ((str(size), str(threads)) for size, threads in sizes.items())


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in columns:
        numeric = name in ("threads", "share", "count", "in", "expected")
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=name == "name")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
