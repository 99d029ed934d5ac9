"""Adversaries and a yardstick that compare texts by meaning, with an embedder that the caller hands in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..records import Thread
from .adversary import Adversary, Weights

# Texts to vectors of shape (n, d); they are brought to unit length here.
Embed = Callable[[Sequence[str]], npt.NDArray[np.floating]]


def embedding_adversaries(embed: Embed) -> tuple[Adversary, ...]:
    """Declare the adversaries that need an embedder.

    Args:
        embed: Any text encoder. Every distinct text is embedded once per adversary.

    Returns:
        One that looks at what the asker named, and one that looks at the query: the latter is the honest use of the
        task's text, and says how much signal the pools leave to a plain system.
    """
    return (
        Adversary(
            "like the asker's titles", "named by the asker", "thread",
            "What is closest in meaning to a title that the asker named goes first (cosine, best match).",
            lambda threads: _nearest(threads, embed, lambda thread: thread.submission_entities),
        ),
        Adversary(
            "like the query", "honest signal", "thread",
            "Not an artefact but a yardstick: what is closest in meaning to the query goes first (cosine).",
            lambda threads: _nearest(threads, embed, lambda thread: (thread.query,) if thread.query else ()),
        ),
    )  # fmt: skip


def _nearest(threads: Sequence[Thread], embed: Embed, texts: Callable[[Thread], Sequence[str]]) -> Weights:
    wanted = dict.fromkeys(text for thread in threads for text in (*texts(thread), *thread.candidates))
    row = {text: i for i, text in enumerate(wanted)}
    vectors = np.asarray(embed(list(wanted)), dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)

    def weigh(thread: Thread) -> list[float]:
        anchors = [row[text] for text in texts(thread)]
        pool = [row[candidate] for candidate in thread.candidates]
        if not anchors or not pool:
            return [0.0] * len(pool)
        best: list[float] = (vectors[pool] @ vectors[anchors].T).max(axis=1).tolist()
        return best

    return [weigh(thread) for thread in threads]
