"""SALMONN-13B: Vicuna-13B that hears through Whisper's encoder and BEATs, asked in words.

It hears 30 s of a prompt, as 88 tokens. Each of a thread's n clips gives its first 30/n s, and these are joined, as in
the MusiCRS paper's own run. That searched with four beams; `--protocol titles` does, the other protocols are greedy.
Prompt and answer share 2,048 tokens. Counted with LLaMA's vocabulary, all published threads fit under the protocols
`titles`, `constrained` and `pointwise`. Under `listwise`, the answers to more than half of them (267 of 477) give up
room for talk beside the numbers, and where clips are heard, 18 threads do not fit, for the numbers of all candidates
take up to 491 tokens; with `--answer-tokens 400` all but one fit, at the price that some answers are cut.

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

MODEL_ID = "tsinghua-ee/SALMONN"
VICUNA = "lmsys/vicuna-13b-v1.1"


class Salmonn13BModel(SalmonnModel):
    """SALMONN-13B."""

    limits = salmonn_limits(context=2048, weights_gib=24.2, cache_kib_per_token=800)
    file = "salmonn_v1.pth"
    published = Search(beams=4)


@dataclass(frozen=True)
class Salmonn13BOptions(SalmonnOptions):
    """Options of `salmonn_13b`."""

    weights: str = option(MODEL_ID, WEIGHTS_HELP)
    vicuna: str = option(VICUNA, f"the language model: {HELP}")


class Salmonn13B(LocalGenerative):
    """Asks SALMONN-13B."""

    declaration = Declaration(
        name="salmonn_13b",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks SALMONN-13B, which hears 30 s of the clips joined into one, for a ranking.",
        note="Hears 30 s of a thread. Its context of 2,048 tokens is too short for 18 of the 477 published threads "
        "under the protocol `listwise`, and leaves less room for talk beside the numbers in 267. "
        "Vicuna v1.1 is LLaMA 1, for non-commercial use only.",
        needs=("torch", "torchaudio", "transformers", "accelerate", "sentencepiece", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0 (SALMONN, Whisper), MIT (BEATs), LLaMA non-commercial licence (Vicuna v1.1)",
        open_weights=True,
        batch_size=1,
    )
    Options = Salmonn13BOptions

    def make_language_model(self) -> Salmonn13BModel:
        """SALMONN-13B of the chosen parts."""
        return Salmonn13BModel(self.options, self.context)
