"""Funnel of a corpus: threads left after each step from the dumps to the release, and reasons of dropped ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..manifest import Counts, StageManifest

_REASONS = {
    "duplicate": "copies",
    "deleted": "deleted by author or moderator",
    "bot": "written by programs",
    "no_link": "no link to a video",
    "few_replies": "too few replies",
}


@dataclass(frozen=True)
class Step:
    """One step of the funnel.

    Attributes:
        name: Property of the threads that are left.
        n: Number of threads that are left.
        left_out: Threads dropped since the last step, by reason. The largest number comes first.
        paper: Number of threads in the paper (section 2 of arXiv:2509.19469), as reported.
    """

    name: str
    n: int
    left_out: Mapping[str, int]
    paper: int


def funnel(manifests: Mapping[str, StageManifest], released: Counts) -> list[Step]:
    """Return the steps.

    Args:
        manifests: Manifests of the stages `mine`, `threads`, `refine` and `pools`.
        released: Counts of threads in the release.

    Returns:
        Five steps. Each one's `n` and `left_out` add up to the `n` of the step before.
    """
    mined = manifests["mine"].counts["submissions"]
    filtered = manifests["threads"].counts["submissions"]
    refined, settled = manifests["refine"].counts["threads"], manifests["pools"].counts["threads"]
    rules, sizes = manifests["threads"].parameters, manifests["refine"].parameters
    few = filtered.dropped.get("few_replies", 0)
    no_link = {reason: n for reason, n in filtered.dropped.items() if reason != "few_replies"}
    dropped = (settled + released).dropped
    last = "released" if manifests["pools"].parameters["unjudged"] else "judged and released"
    return [
        Step("posts of the subreddits", mined.kept, {}, 2_700_000),
        Step("with a link to YouTube", filtered.kept + few, _by_size(no_link), 46_218),
        Step(
            f"with {rules['min_replies']} replies of {rules['min_chars']} characters"
            + ("" if rules.get("asker_counts", True) else ", not the asker's"),
            filtered.kept,
            _by_size({"few_replies": few}),
            10_167,
        ),
        Step(
            f"with a request and {sizes['min_answers']} to {sizes['max_answers']} answers",
            refined.kept,
            _by_size(refined.dropped),
            1_623,
        ),
        Step(last, released.kept, _by_size(dropped), 477),
    ]


def _by_size(reasons: Mapping[str, int]) -> dict[str, int]:
    largest_first = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return {_REASONS.get(reason, reason): n for reason, n in largest_first if n}
