"""SALMONN-7B: Vicuna-7B that hears through Whisper's encoder and BEATs, asked in words.

It hears 30 s of a prompt, as 88 tokens. Each of a thread's n clips gives its first 30/n s, and these are joined, as in
the MusiCRS paper's own run. That searched with four beams; `--protocol titles` does, the other protocols are greedy.

Source: Tang et al., "SALMONN: Towards Generic Hearing Abilities for Large Language Models" (ICLR 2024,
arXiv:2310.13289).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..audio_text.checkpoint_files import HELP as WEIGHTS_HELP
from ..audio_text.checkpoints import HELP
from ..generative.families.salmonn import SalmonnModel, SalmonnOptions, Search, salmonn_limits
from ..generative.transformers_model import LocalGenerative
from ..options import option
from ..system import ALL_MODALITIES, Declaration

MODEL_ID = "tsinghua-ee/SALMONN-7B"
VICUNA = "lmsys/vicuna-7b-v1.5"


class Salmonn7BModel(SalmonnModel):
    """SALMONN-7B."""

    limits = salmonn_limits(context=4096, weights_gib=12.6, cache_kib_per_token=512)
    file = "salmonn_7b_v0.pth"
    published = Search(beams=4)


@dataclass(frozen=True)
class Salmonn7BOptions(SalmonnOptions):
    """Options of `salmonn_7b`."""

    weights: str = option(MODEL_ID, WEIGHTS_HELP)
    vicuna: str = option(VICUNA, f"the language model: {HELP}")


class Salmonn7B(LocalGenerative):
    """Asks SALMONN-7B."""

    declaration = Declaration(
        name="salmonn_7b",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks SALMONN-7B, which hears 30 s of the clips joined into one, for a ranking.",
        note="Hears 30 s of a thread. Vicuna v1.5 is under the licence of Llama 2.",
        needs=("torch", "torchaudio", "transformers", "accelerate", "sentencepiece", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0 (SALMONN, Whisper), MIT (BEATs), Llama 2 Community License (Vicuna v1.5)",
        open_weights=True,
        batch_size=1,
    )
    Options = Salmonn7BOptions

    def make_language_model(self) -> Salmonn7BModel:
        """SALMONN-7B of the chosen parts."""
        return Salmonn7BModel(self.options, self.context)
