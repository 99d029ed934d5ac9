"""Verdict per route: its status, its largest effect, and the systems that may not use it."""

from __future__ import annotations

from collections.abc import Sequence

from .adversary import Reads, Route
from .faults import Collision, LeftOver
from .results import AdversaryResult, EffectSize, LeakVerdict, Status

# 26 adversaries by three measures, two-sided, at 5 % in all (Bonferroni) require |z| of 3.4; rounded up.
LEAK_Z = 3.5

_RULES: dict[Reads, str] = {
    "thread": (
        "Every system reads this, so no rule can forbid it. Only a score above this adversary shows that a system "
        "understands music."
    ),
    "pools": (
        "Closed to systems whose run card says reads: thread. A system that reads the pools or texts of other threads "
        "declares reads: pools and is ranked separately."
    ),
    "labels": (
        "Prevented by protocol only: closed to systems whose run card says reads: thread or pools. A system that reads "
        "the ground truth of other threads declares reads: labels and is ranked separately."
    ),
}
_FAULTS: dict[Route, str] = {
    "left-over answers": "Relevant candidates count as distractors, for every system alike; no system may read them.",
    "second spellings": "An answer that matches only after normalisation may mean either of two spellings.",
}


def verdicts(
    findings: Sequence[AdversaryResult], left_over: Sequence[LeftOver], collisions: Sequence[Collision]
) -> tuple[LeakVerdict, ...]:
    """Decide on every route that has an adversary.

    Args:
        findings: Results of the adversaries.
        left_over: Relevant candidates that count as distractors.
        collisions: Titles that appear twice in one pool.

    Returns:
        One verdict per route, in the order in which the routes first occur.
    """
    faulty: dict[Route, int] = {"left-over answers": len(left_over), "second spellings": len(collisions)}
    routes: dict[Route, list[AdversaryResult]] = {}
    for finding in findings:
        routes.setdefault(finding.route, []).append(finding)
    return tuple(_decide(route, members, faulty.get(route)) for route, members in routes.items())


def _decide(route: Route, members: Sequence[AdversaryResult], n_faulty: int | None) -> LeakVerdict:
    finding, measure, effect = _furthest(members)
    z = effect.z or 0.0
    status: Status
    if n_faulty is not None:
        status = "faulty" if n_faulty else "clean"
    elif route in ("chance", "honest signal"):
        status = "reference"
    else:
        status = "leaks" if abs(z) >= LEAK_Z else "no leak found"
    return LeakVerdict(
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


def _furthest(members: Sequence[AdversaryResult]) -> tuple[AdversaryResult, str, EffectSize]:
    effects = [(finding, measure, effect) for finding in members for measure, effect in finding.effects.items()]
    return max(effects, key=lambda item: abs(item[2].z or 0.0))
