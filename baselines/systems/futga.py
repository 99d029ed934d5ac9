"""FUTGA: SALMONN-7B trained further to describe music over time, asked by prompt.

It takes 30 s of audio per prompt, as 88 tokens. Each of the n clips of a thread gives its first 30/n s, and these are
joined. The own run of the MusiCRS paper joined 300/n s of each clip, of which the model took the first 30 s, those of
the first clip. That run sampled answers from ten beams, of up to 2,048 tokens. `--protocol titles` searches with ten
beams and the published repetition penalty (1.5), does not sample, and stops at 512 tokens unless `--answer-tokens` sets
another budget. The other protocols search greedily.

Source: Wu et al., "Futga: Towards Fine-grained Music Understanding through Temporally-enhanced Generative Augmentation"
(arXiv:2407.20445).
"""

from __future__ import annotations

from ..generative.families.salmonn import SalmonnModel, SalmonnOptions, Search
from ..generative.transformers_model import LocalGenerative
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration
from .salmonn import NEEDS, VICUNA_7B, Salmonn7BModel

MODEL_ID = "JoshuaW1997/FUTGA"


class FutgaModel(SalmonnModel):
    """FUTGA."""

    limits = Salmonn7BModel.limits
    file = "salomnn_7b.bin"  # the spelling of the authors
    published = Search(beams=10, repetition_penalty=1.5)

    @property
    def differences(self) -> tuple[str, ...]:
        """The number format, the search, and the clips."""
        search = (
            "search: ten beams without sampling; the published run drew at random among them (temperature 0.2, top_p "
            "0.7) and had up to 2,048 tokens"
        )
        audio = (
            "audio: 30 s, a share of each clip; the published run joined 300 s, of which Whisper took the first 30 s "
            "and BEATs attended over up to 240 s"
        )
        return (*super().differences, search, *([] if self.context.modality == "query_only" else [audio]))


class Futga(LocalGenerative):
    """Asks FUTGA."""

    declaration = Declaration(
        name="futga",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks FUTGA for a ranking; it takes 30 s of the clips joined into one.",
        note="Takes 30 s of audio per thread, a share of each clip. The published run gave it the first clip only, and "
        "drew answers at random where the protocol `titles` searches. Vicuna v1.5 is under the licence of Llama 2.",
        needs=NEEDS,
        model_id=MODEL_ID,
        licence="Apache-2.0 (FUTGA, Whisper), MIT (BEATs), Llama 2 Community License (Vicuna v1.5)",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(SalmonnOptions, weights=MODEL_ID, vicuna=VICUNA_7B)
    Model = FutgaModel
