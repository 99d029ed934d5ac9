"""The model writes 20 titles from memory; a candidate scores its largest cosine with one of them.

The prompt shows no candidate, so the order of the pool has no effect. A title also counts in parts, the text before and
after " - " or " by ", because models add artists and candidates rarely have one. A thread whose answer names no title
gets a random order, as under the other protocols, and is counted as failed, empty or refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from musicrs_dataset.records import Thread
from musicrs_metric.answers import Ledger, Reading, complete_ranking
from musicrs_metric.answers.free_titles import read_free_titles
from musicrs_metric.errors import UserError
from musicrs_metric.matching import Pool

from ...embedding.encoder_files import Encoder, find_encoder
from ...embedding.minilm_weights import find_minilm
from ...embedding.text_embedder import TextEmbedder
from ...registry import find_spec_missing
from ...system import Task
from ..language_model import Completion, LanguageModel
from ..settings import ProtocolName
from .base import Protocol, RankedAnswer, RankingRequest
from .reading import complete_all

N_TITLES = 20
_MAX_TOKENS = 512  # of an answer; a list of 20 titles takes about 200
_ENCODER_TOKENS = 256
_JOINT = re.compile(r"\s+(?:[-–—]+|by)\s+")


@dataclass(frozen=True)
class GenerateThenMatch(Protocol):
    """Asks for titles, and ranks by the likeness of candidates to them."""

    name: ClassVar[ProtocolName] = "generate_then_match"

    def __post_init__(self) -> None:
        if missing := find_spec_missing(("torch", "transformers")):
            raise UserError(f"--protocol {self.name}: needs {', '.join(missing)}; pip install 'musicrs[baselines]'")
        self._encoder  # noqa: B018 - a missing encoder ends the run before the first answer

    @property
    def weights(self) -> str:
        """Return the revision of the text encoder."""
        return self._encoder.revision

    def budget(self, language_model: LanguageModel, thread: Thread) -> int:  # noqa: ARG002
        """Return the budget of the user, or 512 tokens."""
        return self.options.answer_tokens or _MAX_TOKENS

    def rank(self, language_model: LanguageModel, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Complete the prompts, read titles, and match them."""
        completions = complete_all(language_model, requests)
        return [self._rank(*pair) for pair in zip(requests, completions, strict=True)]

    def close(self) -> None:
        """Save the vectors."""
        self._embed.save()

    def _rank(self, request: RankingRequest, completion: Completion) -> RankedAnswer:
        thread, shown = request.thread, self.shown(request.thread)
        found = read_free_titles(completion.text, N_TITLES, cut=completion.cut)
        if found.titles:
            pieces = [piece for title in found.titles for piece in (title, *_JOINT.split(title)) if piece.strip()]
            pool, written = np.split(self._embed([*shown, *pieces]), [len(shown)])
            scores = np.einsum("nd,md->nm", pool, written, dtype=np.float64).max(axis=1)
            prediction = Task(replace(thread, candidates=shown)).by_score(scores)
            prediction = replace(prediction, outcome=found.outcome, n_answered=len(shown))
        else:
            nothing = Reading((), (), Ledger(0, 0, 0, len(shown), found.is_cut, False), found.outcome)
            prediction = complete_ranking(nothing, Pool(shown), self.seed, thread.thread_id)
        n = len(found.titles)
        ledger = {"titles": n, "missing": N_TITLES - n, "repeated": found.repeated, "surplus": found.surplus}
        ledger |= {"truncated": int(found.is_cut), "without_title": int(not n)}
        details = {"titles": list(found.titles)} | (completion.details or {})
        return RankedAnswer(prediction, completion.text, completion.n_tokens, ledger, details)

    @cached_property
    def _encoder(self) -> Encoder:
        source = self.options.match_weights
        try:
            return find_encoder(source) if source else find_minilm().encoder(_ENCODER_TOKENS)
        except UserError as error:
            raise UserError(str(error).replace("--weights", "--match-weights")) from error

    @cached_property
    def _embed(self) -> TextEmbedder:
        return TextEmbedder(self._encoder, self.context)
