"""From numbers to a judgement: which routes leak, by how much, and who may not use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .adversary import Reads, Route
from .faults import Collision, LeftOver

if TYPE_CHECKING:
    from .run import Effect, Finding

# Twenty adversaries by three measures, two-sided, at 5 % in all (Bonferroni) ask for |z| of 3.3; rounded up.
LEAK_Z = 3.5

Status = Literal["leaks", "no leak found", "faulty", "clean", "reference"]

_RULES: dict[Reads, str] = {
    "thread": (
        "Every system sees this, so no rule keeps it out: only what a system gains beyond it shows that it understands "
        "music."
    ),
    "pools": (
        "Closed to systems whose run card says reads: thread. What reads other threads' pools or texts says reads: "
        "pools and is ranked apart."
    ),
    "labels": (
        "Prevented by protocol only: closed to systems whose run card says reads: thread or pools. What reads other "
        "threads' ground truth says reads: labels and is ranked apart."
    ),
}
_FAULTS: dict[Route, str] = {
    "left-over answers": "Right answers count as wrong, for every system alike; no system may read them.",
    "second spellings": "A system's answer that matches only after normalisation cannot be told from its double.",
}


@dataclass(frozen=True)
class Verdict:
    """The judgement on one route.

    Attributes:
        route: The route.
        status: "leaks" where an adversary of the route differs from chance by `LEAK_Z` standard errors or more, in
            either direction (what ranks below chance ranks above it in reverse), else "no leak found"; "faulty" or
            "clean" for faults of the pools, which are counted and not tested; "reference" for chance and yardsticks.
        adversary: The adversary of the route that differs most from chance.
        measure: The measure by which it does.
        above_chance: Its mean less chance, by that measure.
        z: Its z.
        rows: Threads concerned: in which that adversary tells candidates apart, or which have the fault.
        reads: What the route needs to look at.
        rule: Who may not use it; empty where there is nothing to keep from anyone.
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


def verdicts(
    findings: Sequence[Finding], left_over: Sequence[LeftOver], collisions: Sequence[Collision]
) -> tuple[Verdict, ...]:
    """Judge every route that has an adversary.

    Args:
        findings: What the adversaries got.
        left_over: Right answers that count as wrong.
        collisions: Titles that stand twice in one pool.

    Returns:
        One verdict per route, in the order in which the routes first occur.
    """
    faulty: dict[Route, int] = {"left-over answers": len(left_over), "second spellings": len(collisions)}
    routes: dict[Route, list[Finding]] = {}
    for finding in findings:
        routes.setdefault(finding.route, []).append(finding)
    return tuple(_judge(route, members, faulty.get(route)) for route, members in routes.items())


def _judge(route: Route, members: Sequence[Finding], n_faulty: int | None) -> Verdict:
    finding, measure, effect = _furthest(members)
    z = effect.z or 0.0
    status: Status
    if n_faulty is not None:
        status = "faulty" if n_faulty else "clean"
    elif route in ("chance", "honest signal"):
        status = "reference"
    else:
        status = "leaks" if abs(z) >= LEAK_Z else "no leak found"
    return Verdict(
        route=route,
        status=status,
        adversary=finding.name,
        measure=measure,
        above_chance=effect.mean - effect.chance,
        z=z,
        rows=len(finding.rows) if n_faulty is None else n_faulty,
        reads=finding.reads,
        rule=_rule(route, status, finding.reads),
    )


def _rule(route: Route, status: Status, reads: Reads) -> str:
    if status in ("reference", "clean") or (status == "no leak found" and reads == "thread"):
        return ""
    return _FAULTS.get(route, _RULES[reads])


def _furthest(members: Sequence[Finding]) -> tuple[Finding, str, Effect]:
    tried = [(finding, measure, effect) for finding in members for measure, effect in finding.effects.items()]
    return max(tried, key=lambda item: abs(item[2].z or 0.0))
