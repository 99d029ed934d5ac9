"""Table of the pool designs, and the pools that each design returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

from musicrs_metric.errors import UserError

from ..records import Thread

# The published recipe: up to 10 relevant candidates and 90 distractors.
DISTRACTORS = 90

# Subreddits with their threads, and a wrapper of the loop over them, such as a progress bar.
Groups = list[tuple[str, list[Thread]]]
Track = Callable[[Groups], Iterable[tuple[str, list[Thread]]]]
Corpus = Mapping[str, Sequence[str]]


class Design(StrEnum):
    """Names of the pool designs. Each needs an entry in `DESIGNS`."""

    PAPER = "paper"
    BALANCED = "balanced"
    FRESH = "fresh"
    GROUPED = "grouped"


@dataclass(frozen=True)
class DesignRule:
    """Rule of one pool design.

    Attributes:
        function: `module:function` in this package. It takes the threads and the keywords `distractors`, `seed` and
            `track`, and returns a `PoolSet`.
        help: The rule in a few words, for the help text of `--design`.
        needs_corpus: True if the function takes a corpus as its second argument.
    """

    function: str
    help: str
    needs_corpus: bool = False


# The one table of designs. A name is a member of `Design` with its rule here, so a design without a rule is refused.
DESIGNS: dict[Design, DesignRule] = {
    Design.PAPER: DesignRule("paper:paper_pools", "ground truth and random titles of the subreddit, as published"),
    Design.BALANCED: DesignRule("balanced:balanced_pools", "every title of a subreddit in equally many pools"),
    Design.FRESH: DesignRule("fresh:fresh_pools", "titles from outside the dataset, each used once", needs_corpus=True),
    Design.GROUPED: DesignRule(
        "grouped:grouped_pools", "whole ground truths of other threads, each in equally many pools"
    ),
}


@dataclass(frozen=True)
class SubredditPools:
    """Statistics of the pools of one subreddit.

    Attributes:
        threads: Number of threads.
        entities: Distinct candidates (exact strings) over all its pools.
        left_out: Titles of the subreddit that appear in none of its pools.
        size: Number of candidates in the smallest and in the largest pool.
        wanted: Requested mean size.
        count: Number of pools in which each candidate appears, if the design makes it equal; else None.
    """

    threads: int
    entities: int
    left_out: int
    size: tuple[int, int]
    wanted: float
    count: int | None = None


@dataclass(frozen=True)
class PoolSet:
    """Pools for a set of threads.

    Attributes:
        design: Pool design.
        seed: Seed of the random draws.
        pools: Thread id to candidates in stored (shuffled) order, threads in dataset order.
        subreddits: Subreddit to the statistics of its pools.
        notes: Notes for the user, e.g. on a subreddit with too few titles; one sentence each.
    """

    design: Design
    seed: int
    pools: Mapping[str, tuple[str, ...]]
    subreddits: Mapping[str, SubredditPools]
    notes: tuple[str, ...] = ()


def describe(
    pools: Iterable[tuple[str, ...]], *, known: int, wanted: float, count: int | None = None
) -> SubredditPools:
    """Compute the statistics of the pools of one subreddit.

    Args:
        pools: Its pools.
        known: Number of titles of the subreddit.
        wanted: Requested mean size.
        count: Number of pools in which each candidate appears, if it is equal.
    """
    rows = list(pools)
    distinct = {name for row in rows for name in row}
    sizes = [len(row) for row in rows]
    return SubredditPools(len(rows), len(distinct), known - len(distinct), (min(sizes), max(sizes)), wanted, count)


def untracked(groups: Groups) -> Groups:
    """Return the groups as they are, without a progress bar."""
    return groups


def design_rule(design: Design) -> DesignRule:
    """Return the rule of a pool design.

    Args:
        design: Name of the design.

    Returns:
        The entry of the design in `DESIGNS`.

    Raises:
        UserError: The design has no entry.
    """
    rule = DESIGNS.get(design)
    if rule is None:
        raise UserError(
            f"pool design {str(design)!r}: no rule in DESIGNS ({__name__}), expected one of {', '.join(DESIGNS)}; "
            "add its rule to the table"
        )
    return rule


def draw_pools(
    threads: Sequence[Thread],
    design: Design,
    *,
    corpus: Corpus | None = None,
    distractors: int = DISTRACTORS,
    seed: int = 0,
    track: Track = untracked,
) -> PoolSet:
    """Draw pools by a design.

    Args:
        threads: Threads with `ground_truth` and `all_entities`.
        design: Name of the design.
        corpus: Subreddit to titles from outside the test set, for designs that need them.
        distractors: Wanted distractors per pool.
        seed: Seed of the random draws.
        track: Wraps the loop over subreddits, e.g. in a progress bar.

    Returns:
        The pools; the same arguments give the same pools.

    Raises:
        UserError: The design has no rule, the corpus is missing or not needed, or the threads allow no such pools.
    """
    rule = design_rule(design)
    if rule.needs_corpus != (corpus is not None):
        found, expected = ("none", "one") if corpus is None else ("one", "none")
        raise UserError(f"pool design {str(design)!r}, corpus of titles: found {found}, expected {expected}")
    module, _, function = rule.function.partition(":")
    draw: Callable[..., PoolSet] = getattr(import_module(f".{module}", __package__), function)
    inputs = (threads,) if corpus is None else (threads, corpus)
    return draw(*inputs, distractors=distractors, seed=seed, track=track)
