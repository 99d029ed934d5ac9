"""FUTGA: SALMONN-7B trained further to describe music in time, asked in words.

It hears 30 s of a prompt, as 88 tokens. Each of a thread's n clips gives its first 30/n s, and these are joined. The
MusiCRS paper's own run joined 300/n s of each, of which the model heard the first 30 s, those of the first clip. It
drew answers at random from ten beams, of up to 2,048 tokens; `--protocol titles` searches with ten beams and the
published penalty of repetitions (1.5), draws nothing, and stops at 512 tokens unless `--answer-tokens` says otherwise.
The other protocols are greedy.

Source: Wu et al., "Futga: Towards Fine-grained Music Understanding through Temporally-enhanced Generative Augmentation"
(arXiv:2407.20445).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audio_text.checkpoint_files import HELP as WEIGHTS_HELP
from ..audio_text.checkpoints import HELP
from ..generative.families.salmonn import SalmonnModel, SalmonnOptions, Search
from ..generative.transformers_model import LocalGenerative
from ..options import option
from ..system import ALL_MODALITIES, Declaration
from .salmonn_7b import VICUNA, Salmonn7BModel

MODEL_ID = "JoshuaW1997/FUTGA"


class FutgaModel(SalmonnModel):
    """FUTGA."""

    limits = Salmonn7BModel.limits
    file = "salomnn_7b.bin"  # so the authors spelt it
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


@dataclass(frozen=True)
class FutgaOptions(SalmonnOptions):
    """Options of `futga`."""

    weights: str = option(MODEL_ID, WEIGHTS_HELP)
    vicuna: str = option(VICUNA, f"the language model: {HELP}")


class Futga(LocalGenerative):
    """Asks FUTGA."""

    declaration = Declaration(
        name="futga",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks FUTGA, which hears 30 s of the clips joined into one, for a ranking.",
        note="Hears 30 s of a thread, a share of each clip; the published run let it hear the first clip alone, and "
        "drew answers at random where the protocol `titles` searches. Vicuna v1.5 is under the licence of Llama 2.",
        needs=("torch", "torchaudio", "transformers", "accelerate", "sentencepiece", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0 (FUTGA, Whisper), MIT (BEATs), Llama 2 Community License (Vicuna v1.5)",
        open_weights=True,
        batch_size=1,
    )
    Options = FutgaOptions

    def make_language_model(self) -> FutgaModel:
        """FUTGA of the chosen parts."""
        return FutgaModel(self.options, self.context)
