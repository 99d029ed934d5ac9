"""Agreement of annotators: progress, votes, kappa by kind of question, and open disagreements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import replacing, to_json, write_text
from musicrs_metric.base.text import csv_line

from .disagreements import Disagreement, disagreements, write_disagreements
from .judgement import Judgement
from .kappa import LABELS, Kappa, cohen, fleiss, label
from .shares import PAPER, Share, shares
from .votes import QuestionKind, QuestionVotes, collect_votes
from .worklist import WorkItem


@dataclass(frozen=True)
class Agreement:
    """Agreement of annotators.

    Attributes:
        finished: Number of finished threads by annotator.
        overlap: Number of threads by number of judgements, 0 included.
        fleiss: Fleiss' kappa by kind of question. None if no question has two answers.
        cohen: Cohen's kappa by pair of annotators and kind of question. None if no question has two answers.
        shares: Shares of changes, over all judgements.
        all_votes: All votes.
        disagreements: Questions to settle.
        resamples: Bootstrap resamples.
        seed: Seed of the bootstrap.
    """

    finished: Mapping[str, int]
    overlap: Mapping[int, int]
    fleiss: Mapping[QuestionKind, Kappa | None]
    cohen: Mapping[tuple[str, str], Mapping[QuestionKind, Kappa | None]]
    shares: Mapping[str, Share]
    all_votes: Sequence[QuestionVotes]
    disagreements: Sequence[Disagreement]
    resamples: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, without the votes."""
        by_kind = Counter(disagreement.question.about for disagreement in self.disagreements)
        return {
            "finished": dict(self.finished),
            "threads_by_judgements": {str(n): threads for n, threads in self.overlap.items()},
            "fleiss": {name: kappa and kappa._asdict() for name, kappa in self.fleiss.items()},
            "cohen": [
                {"annotators": list(pair)} | {name: kappa and kappa._asdict() for name, kappa in kappas.items()}
                for pair, kappas in self.cohen.items()
            ],
            "shares": {
                name: share._asdict() | {"value": share.value, "paper": PAPER[name]}
                for name, share in self.shares.items()
            },
            "disagreements": dict(by_kind),
            "interval_method": "percentile bootstrap over threads",
            "resamples": self.resamples,
            "seed": self.seed,
        }


def agree(
    items: Sequence[WorkItem], judged: Mapping[str, Mapping[str, Judgement]], *, resamples: int, seed: int
) -> Agreement:
    """Compare annotators.

    Args:
        items: The work list.
        judged: Judgements by annotator and thread.
        resamples: Bootstrap resamples.
        seed: Seed of the generator.
    """
    votes = collect_votes(items, judged)
    times = Counter(thread_id for threads in judged.values() for thread_id in threads)
    return Agreement(
        finished={name: len(threads) for name, threads in judged.items()},
        overlap=dict(sorted(Counter(times[item.thread_id] for item in items).items())),
        fleiss={about: fleiss(votes, about, resamples=resamples, seed=seed) for about in LABELS},
        cohen={
            pair: {about: cohen(votes, about, pair, resamples=resamples, seed=seed) for about in LABELS}
            for pair in combinations(sorted(judged), 2)
            if set(judged[pair[0]]) & set(judged[pair[1]])
        },
        shares=shares(items, (judgement for threads in judged.values() for judgement in threads.values())),
        all_votes=votes,
        disagreements=disagreements(votes),
        resamples=resamples,
        seed=seed,
    )


def write_agreement(folder: Path, agreement: Agreement, items: Sequence[WorkItem]) -> None:
    """Write `agreement.json`, `votes.csv` and `disagreements.csv`, each in one step.

    Args:
        folder: Output folder.
        agreement: The agreement.
        items: The work list.
    """
    write_text(folder / "agreement.json", [to_json(agreement.to_dict(), indent=2), "\n"])
    write_disagreements(folder / "disagreements.csv", agreement.disagreements, items)
    with replacing(folder / "votes.csv") as file:
        file.write(csv_line(("thread", "question", "subject", "annotator", "vote", "label")))
        for entry in agreement.all_votes:
            about = entry.question.about
            for annotator, vote in entry.votes.items():
                counted = label(about, vote) if about in LABELS else ""
                file.write(csv_line((*entry.question, annotator, vote, counted)))
