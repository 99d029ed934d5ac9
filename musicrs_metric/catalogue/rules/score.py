"""`score --as`: choose the rules of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ...errors import UserError
from ..corpus import has_catalogue, load_corpus
from .result import RuleScores

Rules = Literal["cpcd", "challenge2026", "he2023"]


def score_as(rules: Rules, path: Path, dataset: str) -> RuleScores:
    """Score a prediction file by the rules of another corpus.

    Args:
        rules: Name of the rules.
        path: A prediction file of that corpus or, except for he2023, of this project.
        dataset: The corpus, as a directory. he2023 needs none, because its files hold the ground truth.

    Raises:
        UserError: The dataset has no catalogue, or the file is refused by the rules.
    """
    if rules == "he2023":
        from .he2023 import score_as_he2023

        return score_as_he2023(path)
    if not has_catalogue(dataset):
        raise UserError(
            f"--dataset {dataset}: no corpus with a catalogue, which --as {rules} needs; build it with "
            f"`python -m musicrs_dataset build --from {rules}:PATH --out DIR`"
        )
    if rules == "cpcd":
        from .cpcd import score_as_cpcd

        return score_as_cpcd(path, load_corpus(dataset))
    from .challenge2026 import score_as_challenge2026

    return score_as_challenge2026(path, load_corpus(dataset))
