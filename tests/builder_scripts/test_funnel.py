"""The funnel: every step adds up to the one before, and its figure shows what the steps say."""

from __future__ import annotations

import re
from itertools import pairwise

from builder_scripts.manifest import Counts, StageManifest
from builder_scripts.mine.authors import Pseudonyms
from builder_scripts.release.cleaning import without_names
from builder_scripts.release.funnel import draw_funnel, funnel


def made(stage: str, kind: str, counts: Counts, **parameters: object) -> StageManifest:
    return StageManifest(stage, (), (), parameters, {kind: counts}, 1.0)


MANIFESTS = {
    "mine": made("mine", "submissions", Counts(1500, 1000, {"other_subreddit": 500})),
    "threads": made(
        "threads", "submissions", Counts(1000, 60, {"duplicate": 10, "no_link": 890, "few_replies": 40}),
        min_replies=3, min_chars=5,
    ),
    "refine": made("refine", "threads", Counts(60, 50, {"no request (leak)": 10}), min_answers=2, max_answers=30),
    "pools": made("pools", "threads", Counts(50, 45, {"other": 5}), unjudged=False),
}  # fmt: skip


def test_adds_up() -> None:
    """What a step has left and what it left out are what the step before had left."""
    steps = funnel(MANIFESTS, Counts(45, 42, {"taken down": 3}))
    assert [step.n for step in steps] == [1000, 100, 60, 50, 42]
    assert [step.paper for step in steps[1:]] == [46_218, 10_167, 1_623, 477]
    for before, step in pairwise(steps):
        assert before.n == step.n + sum(step.left_out.values())
    assert list(steps[1].left_out) == ["no link to a video", "copies"]


def test_figure() -> None:
    """Every number of both funnels and every reason stands in it; the same steps give the same bytes."""
    steps = funnel(MANIFESTS, Counts(45, 42, {"taken down": 3}))
    drawn = draw_funnel(steps, "a $corpus$ <of> 2024")
    text = re.sub(r"<[^>]*>", " ", drawn["svg"].decode()).replace("&lt;", "<").replace("&gt;", ">")
    for step in steps:
        assert f" {step.n:,} " in text
        assert all(f"{n:,}\u00a0{reason}" in text for reason, n in step.left_out.items())
    assert all(paper in text for paper in ("2.7 million", "46,218", "10,167", "1,623", "477"))
    assert "a $corpus$ <of> 2024" in text
    assert draw_funnel(steps, "a $corpus$ <of> 2024") == drawn


def test_mentions() -> None:
    """Accounts that a text mentions get the pseudonym of whoever writes under the name; addresses stay otherwise."""
    names = Pseudonyms(b"k" * 32)
    one = names.of("Some-One_1")
    assert without_names("thanks u/Some-One_1, /u/Some-One_1!", names) == f"thanks u/{one}, /u/{one}!"
    assert without_names("u/Some-One\\_1", names) == f"u/{one}"
    assert without_names("https://reddit.com/user/Some-One_1/top", names) == f"https://reddit.com/user/{one}/top"
    assert without_names("menu/salad https://youtu.be/jNQXAC9IVRw", names) == "menu/salad https://youtu.be/jNQXAC9IVRw"
