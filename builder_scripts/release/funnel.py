"""How many posts became conversations: the steps from the dumps to the release, and why the rest went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..manifest import Counts, StageManifest

_IN_WORDS = {
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
        name: What the threads have that are left.
        n: How many are left.
        left_out: Why those of the step before went, with how many each; the largest first.
        paper: How many the paper had left (section 2 of arXiv:2509.19469), as reported.
    """

    name: str
    n: int
    left_out: Mapping[str, int]
    paper: int


def funnel(manifests: Mapping[str, StageManifest], released: Counts) -> list[Step]:
    """Put the steps together.

    Args:
        manifests: Of the stages `mine`, `threads`, `refine` and `pools`.
        released: What became of the threads in the release itself.

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
        Step("with a link to YouTube", filtered.kept + few, _told(no_link), 46_218),
        Step(
            f"with {rules['min_replies']} replies of {rules['min_chars']} characters"
            + ("" if rules.get("asker_counts", True) else ", not the asker's"),
            filtered.kept,
            _told({"few_replies": few}),
            10_167,
        ),
        Step(
            f"with a request and {sizes['min_answers']} to {sizes['max_answers']} answers",
            refined.kept,
            _told(refined.dropped),
            1_623,
        ),
        Step(last, released.kept, _told(dropped), 477),
    ]


def _told(reasons: Mapping[str, int]) -> dict[str, int]:
    largest_first = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return {_IN_WORDS.get(reason, reason): n for reason, n in largest_first if n}
