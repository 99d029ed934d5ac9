"""Threads to judge, answers to them, and a check of what `agree` writes about them."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from builder_scripts.annotate.answers import Answers, no_answers
from builder_scripts.annotate.judgement import Judgement, judge
from builder_scripts.annotate.worklist import Category, Entity, Reply, WorkItem
from musicrs_dataset.records import Link

ATTACK = '<img src=x onerror="window.pwned=1"><script>window.pwned=2</script>{{7*7}}${7*7} **b** [a](javascript:1)'
OTHER_VIDEO = "dQw4w9WgXcQ"


def video(number: int) -> str:
    return f"{number:010d}A"


def item(number: int = 0, *, links: int = 2, entities: int = 3, hostile: str = "") -> WorkItem:
    """A thread; `hostile` stands in every text that strangers write."""
    thread_id = f"t3_{number:04x}"
    names = [f"Song {number}.{place}{hostile}" for place in range(entities)]
    replies = [Reply(f"t1_{number:04x}{place}", 10 - place, f"Try {name}!") for place, name in enumerate(names)]
    return WorkItem(
        thread_id=thread_id,
        subreddit="jazz",
        title=f"Music like number {number}{hostile}",
        text=f"Something slow.{hostile}",
        query=f"Slow music like number {number}",
        links=tuple(
            Link(video(10 * number + place), 90.0 * place, f"https://youtu.be/{video(10 * number + place)}{hostile}")
            for place in range(links)
        ),
        entities=tuple(Entity("song", name, (reply.id,)) for name, reply in zip(names, replies, strict=True)),
        replies=tuple(replies),
    )


def answered(
    thread: WorkItem,
    category: Category = "music",
    *,
    links: str = "",
    instead: dict[int, str] | None = None,
    entities: str = "",
    query: str | None = None,
    more_links: str = "",
    more_entities: str = "",
) -> Answers:
    """Finished answers: `links` and `entities` hold a `y` or `n` for each, `y` where they end early; see `Answers`."""
    blank = no_answers(thread)
    said = instead or {}
    return replace(
        blank,
        category=category,
        query=thread.query if query is None else query,
        links=tuple(
            replace(link, valid=None if place in said else links[place : place + 1] != "n", instead=said.get(place, ""))
            for place, link in enumerate(blank.links)
        ),
        entities=tuple(
            replace(entity, relevant=entities[place : place + 1] != "n") for place, entity in enumerate(blank.entities)
        ),
        more_links=more_links,
        more_entities=more_entities,
        done=True,
    )


def judged(thread: WorkItem, category: Category = "music", **said: object) -> Judgement:
    """The judgement of `answered`."""
    return judge(thread, answered(thread, category, **said))  # type: ignore[arg-type]


def check_exported_kappas(folder: Path) -> None:
    """Compute every kappa of `agreement.json` from `votes.csv` with scikit-learn and statsmodels."""
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    figures = json.loads((folder / "agreement.json").read_text(encoding="utf-8"))
    with (folder / "votes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert figures["cohen"]
    for about in ("category", "link", "entity"):
        votes: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for row in rows:
            if row["question"] == about:
                votes[row["thread"], row["subject"]][row["annotator"]] = row["label"]
        for kappas in figures["cohen"]:
            one, two = kappas["annotators"]
            both = [(given[one], given[two]) for given in votes.values() if {one, two} <= set(given)]
            assert kappas[about]["value"] == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)), abs=1e-12)
            assert kappas[about]["n_questions"] == len(both)
        sizes = Counter(len(given) for given in votes.values() if len(given) > 1)
        same = [list(given.values()) for given in votes.values() if len(given) == sizes.most_common(1)[0][0]]
        expected = fleiss_kappa(aggregate_raters(np.array(same))[0])
        assert figures["fleiss"][about]["value"] == pytest.approx(expected, abs=1e-12)
        assert figures["fleiss"][about]["n_questions"] == len(same)
