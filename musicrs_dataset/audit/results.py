"""Records of an audit. Their field names are the keys of `audit.json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from musicrs_metric.scoring import Empty

from .adversary import Reads, Route, Ties
from .faults import Collision, Evenness, LeftOver

Status = Literal["leaks", "no leak found", "faulty", "clean", "reference"]


@dataclass(frozen=True)
class EffectSize:
    """Score of one adversary by one measure.

    Attributes:
        mean: Mean over threads, and over seeds if ties are shuffled; in [0, 1].
        sd: Standard deviation of that mean over seeds; None for one ordering.
        chance: Exact expectation of a random ranking.
        z: (mean - chance) / standard error over threads, averaged over seeds; None if the error is 0 or undefined.
    """

    mean: float
    sd: float | None
    chance: float
    z: float | None


@dataclass(frozen=True)
class AdversaryResult:
    """Scores of one adversary.

    Attributes:
        name: See `Adversary`, as for the next four.
        route: Route of the adversary.
        reads: Data that the adversary uses.
        exploits: Property of the pools that the adversary exploits.
        ties: Order of tied candidates.
        effects: Measure to effect size.
        rows: Ids of the threads in which the adversary distinguishes candidates; elsewhere all its weights are equal.
    """

    name: str
    route: Route
    reads: Reads
    exploits: str
    ties: Ties
    effects: dict[str, EffectSize]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class LeakVerdict:
    """Verdict on one route.

    Attributes:
        route: The route.
        status: "leaks" if an adversary of the route differs from chance by `verdict.LEAK_Z` standard errors or more, in
            either direction (a ranking below chance is above it in reverse), else "no leak found". "faulty" or "clean"
            for faults of the pools, which are counted and not tested. "reference" for chance and yardsticks.
        adversary: Adversary of the route that differs most from chance.
        measure: Measure of the largest difference.
        above_chance: Mean of the adversary minus chance, by that measure.
        z: z of the adversary, by that measure.
        rows: Number of threads in which the adversary distinguishes candidates, or that have the fault.
        reads: Data that the route needs.
        rule: Rule on the systems that may not use the route; empty if there is nothing to forbid.
    """

    route: Route
    status: Status
    adversary: str
    measure: str
    above_chance: float
    z: float
    rows: int
    reads: Reads
    rule: str


@dataclass(frozen=True)
class Audit:
    """Results of an audit: the scores that rankings without music reach on the pools of a dataset.

    Attributes:
        fingerprint: Fingerprint of the audited threads, pools and labels.
        n: Number of threads averaged.
        n_empty: Threads without ground truth, averaged as 0 (`empty="zero"`) or excluded (`empty="skip"`).
        empty: Treatment of these threads.
        seeds: Number of seeds of each adversary with shuffled ties, from 0 on.
        findings: One result per adversary.
        left_over: Relevant candidates that count as distractors, by thread.
        collisions: Titles that appear twice in one pool, by thread.
        evenness: Counts and pool sizes by subreddit.
        shared_entities: Number of candidates in pools of more than one subreddit.
        verdicts: One verdict per route.
    """

    fingerprint: str
    n: int
    n_empty: int
    empty: Empty
    seeds: int
    findings: tuple[AdversaryResult, ...]
    left_over: tuple[LeftOver, ...]
    collisions: tuple[Collision, ...]
    evenness: tuple[Evenness, ...]
    shared_entities: int
    verdicts: tuple[LeakVerdict, ...]
