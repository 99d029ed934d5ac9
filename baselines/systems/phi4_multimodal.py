"""Phi-4-multimodal: a small language model that hears through a Conformer and an adapter of its own, asked in words.

Its speech adapter (LoRA) is added to the weights where there is something to hear: without it, the model says that it
cannot listen. In query_only it is left out, but in the protocol `titles`. A second of sound takes 12.5 tokens.

transformers' own class reads the files of a pull request at the model's repository, which the authors leave unmerged.

Source: Microsoft, Phi-4-Mini technical report, arXiv 2503.01743.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from types import MethodType
from typing import TYPE_CHECKING, Any

from ..audio_text.checkpoints import HELP
from ..generative.audio_limits import AudioLimits
from ..generative.families.longrope import steady_factors
from ..generative.families.lora import merge_lora
from ..generative.families.prompt_text import left_padded, places
from ..generative.language_model import Allowed, Completion, Logprob, Prompt
from ..generative.transformers_model import LocalGenerative, LocalOptions, TransformersModel
from ..options import option
from ..system import ALL_MODALITIES, Declaration

if TYPE_CHECKING:
    import torch

MODEL_ID = "microsoft/Phi-4-multimodal-instruct"
REVISION = "refs/pr/70"
ADAPTER = "speech-lora"
# What the speech adapter changes: every linear map of the language model.
ADAPTED = r"model\.layers\.\d+\.(self_attn\.(qkv|o)_proj|mlp\.(gate_up|down)_proj)"


class Phi4Model(TransformersModel):
    """Phi-4-multimodal without its eyes' adapter; its processor imports torchvision and is not used."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=131_072,
        tokens_per_second=12.5,
        tokens_per_clip=1,  # what is begun of a token
        weights_gib=8.8,
        cache_kib_per_token=128,
    )
    model_class = "Phi4MultimodalForCausalLM"
    end_tokens = ("<|end|>", "<|endoftext|>")

    @property
    def differences(self) -> tuple[str, ...]:
        """The sampling rate, or that there was no such run."""
        if self.context.modality == "query_only":
            return ("modality: the published runs of this model used audio modalities only",)
        return ("audio: clips at 16 kHz; the published run took them at their own sampling rate",)

    def load_model(self) -> Any:
        """Load the weights, and add the speech adapter to them where it belongs."""
        from transformers import GenerationMixin

        model = super().load_model()
        # Its own preparation lets the cache go where the rotary factors switch, and then (transformers 5.24) goes on
        # with the last token alone. Here they do not switch within an exchange.
        model.prepare_inputs_for_generation = MethodType(GenerationMixin.prepare_inputs_for_generation, model)
        if self.context.modality != "query_only" or self.options.protocol == "titles":
            merge_lora(model, self.folder / ADAPTER, ADAPTED)
        return model

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Sound, then words, in the turns of Phi-4."""
        clips = [clip for prompt in prompts for clip in prompt.clips]
        rate = self.limits.sampling_rate
        sound = self.extractor(clips, sampling_rate=rate, return_tensors="pt") if clips else {}
        counts = iter(sound["audio_embed_sizes"].tolist() if clips else ())
        marks = [places(self.token, [next(counts) for _ in prompt.clips]) for prompt in prompts]
        texts = [
            f"<|user|>{mark}{prompt.text}<|end|><|assistant|>" for mark, prompt in zip(marks, prompts, strict=True)
        ]
        return left_padded(self.tokenizer, texts) | dict(sound)

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Complete prompts one by one, each under one set of rotary factors.

        In a batch, frames that fill up a shorter clip would leak into its sound, and the longest prompt would choose
        the factors of all.
        """
        found = []
        for prompt in prompts:
            with self._steady_factors(budget):
                found += super().complete([prompt], budget)
        return found

    def choose(self, prompt: Prompt, allowed: Allowed, budget: int) -> list[int]:
        """Complete a prompt with allowed tokens only, under one set of rotary factors."""
        with self._steady_factors(budget):
            return super().choose(prompt, allowed, budget)

    def score(self, prompt: Prompt, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        """Score continuations, all under the factors of the longest."""
        with self._steady_factors(max(map(len, continuations))):
            return super().score(prompt, continuations)

    @cached_property
    def extractor(self) -> Any:
        """The feature extractor beside the weights."""
        from transformers import Phi4MultimodalFeatureExtractor

        return Phi4MultimodalFeatureExtractor.from_pretrained(self.folder)

    @cached_property
    def token(self) -> str:
        """What stands in a prompt for one vector of sound: the token that the model looks for, by its number."""
        from transformers import Phi4MultimodalConfig

        config = Phi4MultimodalConfig.from_pretrained(self.folder)
        token: str = self.tokenizer.convert_ids_to_tokens(config.audio_config.audio_token_id)
        return token

    def _steady_factors(self, beyond: int) -> AbstractContextManager[None]:
        return steady_factors(self.model.model.rotary_emb, beyond)


@dataclass(frozen=True)
class Phi4Options(LocalOptions):
    """Options of `phi4_multimodal`."""

    weights: str = option(f"{MODEL_ID}@{REVISION}", HELP)


class Phi4Multimodal(LocalGenerative):
    """Asks Phi-4-multimodal."""

    declaration = Declaration(
        name="phi4_multimodal",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Phi-4-multimodal, which hears the clips, for a ranking.",
        note="With its speech adapter where it hears; in query_only without, but in the protocol titles.",
        needs=("torch", "transformers", "accelerate", "safetensors", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="MIT",
        open_weights=True,
        batch_size=1,
    )
    Options = Phi4Options

    def make_language_model(self) -> Phi4Model:
        """Phi-4-multimodal with the chosen weights."""
        return Phi4Model(self.options, self.context)
