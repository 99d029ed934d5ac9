"""Adversaries and a yardstick that compare texts by meaning, with an embedder of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..records import Thread
from .adversary import Adversary, Weights
from .resemblance import Embed, resemblance_adversaries, unit_vectors


def embedding_adversaries(embed: Embed) -> tuple[Adversary, ...]:
    """Declare the adversaries that need an embedder.

    Args:
        embed: Any text encoder. Every distinct text is embedded once per adversary.

    Returns:
        One adversary that reads the titles in the post, two that compare the candidates of a pool with each other, and
        a yardstick that reads the query. The yardstick uses the text as the task intends, and shows how much signal the
        pools leave to a simple system.
    """
    return (
        Adversary(
            "like the asker's titles", "named by the asker", "thread",
            "Candidates closest in meaning to a title in the post come first (cosine, best match).",
            lambda threads: _nearest(threads, embed, lambda thread: thread.submission_entities),
        ),
        *resemblance_adversaries(embed, "in meaning"),
        Adversary(
            "like the query", "honest signal", "thread",
            "Not an artefact but a yardstick: candidates closest in meaning to the query come first (cosine).",
            lambda threads: _nearest(threads, embed, lambda thread: (thread.query,) if thread.query else ()),
        ),
    )  # fmt: skip


def _nearest(threads: Sequence[Thread], embed: Embed, texts: Callable[[Thread], Sequence[str]]) -> Weights:
    distinct = dict.fromkeys(text for thread in threads for text in (*texts(thread), *thread.candidates))
    row = {text: i for i, text in enumerate(distinct)}
    vectors = unit_vectors(embed, list(distinct))

    def weigh(thread: Thread) -> list[float]:
        anchors = [row[text] for text in texts(thread)]
        pool = [row[candidate] for candidate in thread.candidates]
        if not anchors or not pool:
            return [0.0] * len(pool)
        best: list[float] = (vectors[pool] @ vectors[anchors].T).max(axis=1).tolist()
        return best

    return [weigh(thread) for thread in threads]
