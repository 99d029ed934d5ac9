"""Tables of a description and of a validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from musicrs_metric.base.numbers import percent
from musicrs_metric.base.tables import Column, Table, row, text_table
from musicrs_metric.errors import some

from .describe import Description, Histogram
from .validate import Validation


def description_tables(about: Description) -> Iterator[Table]:
    """Lay out the statistics of a dataset.

    Args:
        about: The statistics.

    Yields:
        Totals, shares, sizes, and the chance level.
    """
    facts = [
        ("threads", f"{about.threads:,}"),
        ("relevant candidates", f"{about.ground_truth.total:,}, {about.ground_truth.distinct:,} different"),
        ("candidates", f"{about.candidates.total:,}, {about.candidates.distinct:,} different"),
        ("entities of the replies", f"{about.all_entities.total:,}, {about.all_entities.distinct:,} different"),
        ("replies", f"{about.comments:,}"),
        ("links", f"{about.links.total:,} to {about.links.distinct:,} videos, {about.links.with_start} with a start"),
        ("links per thread", f"at most {about.links.most}; {about.links.threads_without} threads without"),
        ("clips", f"{about.audio.clips:,}, {about.audio.hours:.2f} h, in {about.audio.threads} threads"),
        ("fingerprint", about.fingerprint),
    ]
    if about.query_words:
        facts.insert(-1, ("words per query", f"median {about.query_words[0]:g}, at most {about.query_words[1]}"))
    yield text_table("Totals", ("", ""), facts, n_left=2)
    groups = {"Genres": about.genres, "Macro-genres": about.macro_genres, "Subreddits": about.subreddits}
    for title, shares in groups.items():
        rows = ((name, str(share.threads), f"{100 * share.share:.1f} %") for name, share in shares.items())
        yield text_table(title, ("", "threads", "share"), rows)
    yield text_table("Candidates per thread", ("candidates", "threads"), _histogram_rows(about.pool_sizes))
    yield text_table(
        "Relevant candidates per thread", ("relevant candidates", "threads"), _histogram_rows(about.ground_truth_sizes)
    )
    chance = [(name, f"{percent(value)} %") for name, value in about.chance.items()]
    yield text_table("Chance: a random order of each pool", ("measure", "expected"), chance)


def validation_tables(validation: Validation) -> Iterator[Table]:
    """Lay out a validation; kinds without a finding have no table.

    Args:
        validation: The findings.

    Yields:
        Missing, invalid and suspicious findings.
    """
    columns = (
        Column("name", "left"), Column("count"), Column("in"), Column("what", "left"), Column("such as", "left"),
    )  # fmt: skip
    kinds = (("Missing", validation.missing), ("Invalid", validation.invalid), ("Suspicious", validation.odd))
    for title, findings in kinds:
        if findings:
            rows = (
                row(finding.name, f"{finding.count:,}", f"{len(finding.where):,}", finding.what, some(finding.where, 2))
                for finding in findings
            )
            yield Table(title, columns, tuple(rows))


def _histogram_rows(sizes: Histogram) -> Iterable[Sequence[str]]:
    return ((str(size), str(threads)) for size, threads in sizes.items())
