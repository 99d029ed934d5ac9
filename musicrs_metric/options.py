"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum


class By(StrEnum):
    """Ways to group threads."""

    genre = "genre"
    subreddit = "subreddit"
    macro = "macro"


class EmptyRule(StrEnum):
    """What a thread with an empty ground truth does to a mean."""

    zero = "zero"
    skip = "skip"


class ModalityOption(StrEnum):
    """`musicrs_metric.runs.run_card.Modality` as a choice of the command line."""

    audio_query = "audio_query"
    query_only = "query_only"
    audio_only = "audio_only"


class ParadigmOption(StrEnum):
    """`musicrs_metric.runs.run_card.Paradigm` as a choice of the command line."""

    generative = "generative"
    retrieval = "retrieval"
    traditional = "traditional"


class ReadsOption(StrEnum):
    """`musicrs_metric.runs.run_card.Reads` as a choice of the command line."""

    thread = "thread"
    pools = "pools"
    labels = "labels"
