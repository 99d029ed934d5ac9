"""SALMONN-7B and SALMONN-13B: Vicuna with audio from the encoder of Whisper and from BEATs, asked by prompt.

Both take 30 s of audio per prompt, as 88 tokens. Each of the n clips of a thread gives its first 30/n s, and these are
joined, as in the own run of the MusiCRS paper. That run searched with four beams. `--protocol titles` does so, too; the
other protocols search greedily.

In SALMONN-13B, prompt and answer share 2,048 tokens. With the vocabulary of LLaMA, all published threads fit under the
protocols `titles`, `constrained` and `pointwise`. Under `listwise`, the answers to more than half of them (267 of 477)
lose room for sentences next to the numbers. With audio, 18 threads do not fit, because the numbers of all candidates
take up to 491 tokens. With `--answer-tokens 400` all but one fit, but some answers are cut.

Source: Tang et al., "SALMONN: Towards Generic Hearing Abilities for Large Language Models" (ICLR 2024,
arXiv:2310.13289).
"""

from __future__ import annotations

from ..generative.families.salmonn import SalmonnModel, SalmonnOptions, Search, salmonn_limits
from ..generative.transformers_model import LocalGenerative
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

MODEL_ID_7B, VICUNA_7B = "tsinghua-ee/SALMONN-7B", "lmsys/vicuna-7b-v1.5"
MODEL_ID_13B, VICUNA_13B = "tsinghua-ee/SALMONN", "lmsys/vicuna-13b-v1.1"
NEEDS = ("torch", "torchaudio", "transformers", "accelerate", "sentencepiece", "soundfile", "soxr")


class Salmonn7BModel(SalmonnModel):
    """SALMONN-7B."""

    limits = salmonn_limits(context=4096, weights_gib=12.6, cache_kib_per_token=512)
    file = "salmonn_7b_v0.pth"
    published = Search(beams=4)


class Salmonn7B(LocalGenerative):
    """Asks SALMONN-7B."""

    declaration = Declaration(
        name="salmonn_7b",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks SALMONN-7B for a ranking; it takes 30 s of the clips joined into one.",
        note="Takes 30 s of audio per thread. Vicuna v1.5 is under the licence of Llama 2.",
        needs=NEEDS,
        model_id=MODEL_ID_7B,
        licence="Apache-2.0 (SALMONN, Whisper), MIT (BEATs), Llama 2 Community License (Vicuna v1.5)",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(SalmonnOptions, weights=MODEL_ID_7B, vicuna=VICUNA_7B)
    Model = Salmonn7BModel


class Salmonn13BModel(SalmonnModel):
    """SALMONN-13B."""

    limits = salmonn_limits(context=2048, weights_gib=24.2, cache_kib_per_token=800)
    file = "salmonn_v1.pth"
    published = Search(beams=4)


class Salmonn13B(LocalGenerative):
    """Asks SALMONN-13B."""

    declaration = Declaration(
        name="salmonn_13b",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks SALMONN-13B for a ranking; it takes 30 s of the clips joined into one.",
        note="Takes 30 s of audio per thread. Its context of 2,048 tokens is too short for 18 of the 477 published "
        "threads under the protocol `listwise`, and leaves less room for sentences next to the numbers in 267. "
        "Vicuna v1.1 is LLaMA 1, for non-commercial use only.",
        needs=NEEDS,
        model_id=MODEL_ID_13B,
        licence="Apache-2.0 (SALMONN, Whisper), MIT (BEATs), LLaMA non-commercial licence (Vicuna v1.1)",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(SalmonnOptions, weights=MODEL_ID_13B, vicuna=VICUNA_13B)
    Model = Salmonn13BModel
