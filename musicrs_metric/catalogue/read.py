"""Score a run on a corpus of dialogues, over a catalogue or over pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..chance import DIALOGUE_RULE, Verdict
from ..errors import UserError, count, plain, show, some
from ..hits import hits_from_strings
from ..intervals import CONFIDENCE, RESAMPLES
from ..measures import DEFAULT_K
from ..runs.predictions import PredictionFile, rankings_for
from ..runs.references import References
from ..scoring import Empty, ThreadTable, thread_table
from .corpus import DIALOGUE, Corpus
from .items import Catalogue
from .judge import JudgedRankings, judge_rankings
from .measures import CATALOGUE_K, catalogue_table
from .null import run_null
from .scores import DialogueScores, dialogue_scores

if TYPE_CHECKING:
    from rich.table import Table


def has_dialogues(references: References) -> bool:
    """Return whether the threads of a dataset are turns of dialogues."""
    return DIALOGUE in references.groups


@dataclass(frozen=True)
class ScoredDialogues:
    """Scores of one run on a corpus of dialogues.

    Attributes:
        references: The corpus.
        scores: Macro and micro means, overall and per group.
        table: The measures per turn, in dataset order.
        missing: Turns without a prediction; each scored 0.
        notes: Sentences that a reader must know.
    """

    references: References
    scores: DialogueScores
    table: ThreadTable
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    @cached_property
    def verdicts(self) -> dict[str, dict[str, Verdict]]:
        """Verdicts against chance: "macro" and "micro" to measure to verdict; empty without predictions."""
        return run_null(self.table, self.references, self.scores.settings["empty"]).verdicts(self.table.values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        data: dict[str, Any] = {"protocol": "catalogue" if isinstance(self.references, Corpus) else "pool"}
        data |= {"dataset": self.references.name, "config": self.references.config}
        data["fingerprint"] = self.references.fingerprint
        if isinstance(self.references, Corpus):
            catalogue = self.references.catalogue
            data["catalogue"] = {
                "items": len(catalogue), "clusters": catalogue.n_clusters, "fingerprint": catalogue.fingerprint
            }  # fmt: skip
        data |= {"verdict": self.verdicts, "verdict_rule": DIALOGUE_RULE}
        return self.scores.to_dict() | data | {"missing": list(self.missing), "notes": list(self.notes)}

    def lines(self, title: str) -> Iterator[str | Table]:
        """Yield what `score` prints: tables, and sentences of one line each."""
        from .tables import group_table, score_table, sentences

        yield score_table(self.scores, title, self.verdicts)
        for column, groups in self.scores.by.items():
            yield group_table(groups, column)
        yield from sentences(self.scores)
        yield f"Verdict: {DIALOGUE_RULE}."
        yield from self.findings()

    def findings(self) -> Iterator[str]:
        """Yield what is notable about the predictions, whatever they score."""
        if self.missing:
            turns = count(len(self.references), "turn")
            yield f"{len(self.missing)} of {turns} without a prediction: {some(self.missing)}."
        yield from self.notes


def score_dialogues(
    predictions: PredictionFile,
    references: References,
    *,
    by: Sequence[str] = (),
    k: Sequence[int] | None = None,
    empty: Empty = "zero",
    confidence: float | None = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
    answered_only: bool = False,
) -> ScoredDialogues:
    """Score predictions on a corpus of dialogues.

    Args:
        predictions: The predictions; ids for a catalogue, candidates for pools.
        references: The corpus.
        by: Columns whose labels get scores of their own.
        k: Cutoffs; None for 1, 5, 10, 20, and 100 on a catalogue.
        empty: Whether a turn with an empty ground truth counts as "zero" or is "skip"ped.
        confidence: Coverage of the intervals; None for none.
        resamples: Resamples of the dialogues.
        seed: Seed of the resamples.
        answered_only: Whether to exclude the filled part of each ranking (`n_answered`).

    Raises:
        UserError: A column or a thread is unknown, or no ranked entry names an item.
        ValueError: A setting is out of range.
    """
    check_columns(by, references)
    if answered_only:
        answered = (
            replace(each, ranking=each.ranking[: each.n_answered], scores=None) for each in predictions.predictions
        )
        predictions = replace(predictions, predictions=tuple(answered))
    table, notes = judged_table(predictions, references, k)
    scores = dialogue_scores(
        table,
        references.groups[DIALOGUE],
        groups={column: references.groups[column] for column in by},
        empty=empty,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    missing = np.flatnonzero(table.hits.missing).tolist()
    return ScoredDialogues(references, scores, table, tuple(references.thread_ids[i] for i in missing), notes)


def check_columns(by: Sequence[str], references: References) -> None:
    """Refuse groupings that a dataset does not have.

    Raises:
        UserError: The message lists the groupings of the dataset.
    """
    unknown = [column for column in by if column not in references.groups]
    if unknown:
        raise UserError(
            f"--by: no column {show(unknown[0])}; expected one of {', '.join(map(plain, references.groups))}"
        )


def judged_table(
    predictions: PredictionFile, references: References, k: Sequence[int] | None = None
) -> tuple[ThreadTable, tuple[str, ...]]:
    """Compute all measures per turn, and the sentences that a reader must know.

    Args:
        predictions: The predictions.
        references: The corpus.
        k: Cutoffs; None for the default ones of the protocol.

    Raises:
        UserError: A thread is unknown, or no ranked entry names an item of the catalogue.
    """
    rankings = rankings_for(predictions, references)
    warnings = tuple(f"Warning: {warning}" for warning in predictions.warnings)
    if not isinstance(references, Corpus):
        hits = hits_from_strings(rankings, references.ground_truth, references.candidates)
        return thread_table(hits, k or DEFAULT_K), warnings
    _check_ids(rankings, references.catalogue, str(predictions.path))
    judged = judge_rankings(rankings, references.ground_truth, references.known, references.catalogue)
    table = catalogue_table(judged.hits, k or CATALOGUE_K)
    return table, (*_catalogue_notes(judged, rankings, references.catalogue, max(table.k)), *warnings)


def _check_ids(rankings: Sequence[Sequence[str] | None], catalogue: Catalogue, path: str) -> None:
    ranked = [item for ranking in rankings for item in ranking or ()]
    if not ranked or any(item in catalogue.codes for item in ranked):
        return
    example = catalogue.items[0].id
    titles = "; these are titles, and a title is no id" if ranked[0] in catalogue.titles else ""
    raise UserError(
        f"{path}: none of the {len(ranked)} ranked entries is an id of the catalogue, such as {show(ranked[0])}{titles}"
        f"; expected ids such as {show(example)}"
    )


def _catalogue_notes(
    judged: JudgedRankings, rankings: Sequence[Sequence[str] | None], catalogue: Catalogue, depth: int
) -> Iterator[str]:
    yield (
        f"Each system ranks {len(catalogue)} items in {count(catalogue.n_clusters, 'cluster')}, without the known ones."
        " Compare a score with chance and with that of BM25 (`lexical`)."
    )
    short = judged.n_short(depth)
    if short:
        lengths = judged.lengths[~judged.hits.missing]
        yield (
            f"{count(short, 'turn')} with fewer than {depth} clusters left in the ranking (shortest {lengths.min()}, "
            f"mean {lengths.mean():.1f}); the empty ranks count as misses."
        )
    if judged.hits.n_unknown.any():
        strangers = dict.fromkeys(item for ranking in rankings for item in ranking or () if item not in catalogue.codes)
        n_titles = sum(item in catalogue.titles for item in strangers)
        titles = f"; {n_titles} of them are titles, and a title is no id" if n_titles else ""
        yield f"Not in the catalogue: {some([show(item) for item in strangers])}{titles}."
