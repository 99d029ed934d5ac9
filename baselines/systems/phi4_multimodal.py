"""Phi-4-multimodal: a small language model with a Conformer encoder and a speech adapter, asked by prompt.

The speech adapter (LoRA) is added to the weights if the prompt holds audio: without it, the model answers that it
cannot listen. In query_only only the protocol `titles` uses it. A second of audio takes 12.5 tokens.

The class of transformers needs the files of a pull request at the repository of the model, which is not merged.

Source: Microsoft, Phi-4-Mini technical report, arXiv 2503.01743.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from types import MethodType
from typing import TYPE_CHECKING, Any

from ..generative.audio_limits import AudioLimits
from ..generative.families.longrope import steady_factors
from ..generative.families.lora import merge_lora
from ..generative.families.prompt_text import audio_placeholders, left_padded
from ..generative.language_model import Allowed, Completion, Logprob, Prompt
from ..generative.transformers_model import LocalGenerative, LocalOptions, TransformersModel
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

if TYPE_CHECKING:
    import torch

MODEL_ID = "microsoft/Phi-4-multimodal-instruct"
REVISION = "refs/pr/70"
ADAPTER = "speech-lora"
# Maps that the speech adapter changes: every linear map of the language model.
ADAPTED = r"model\.layers\.\d+\.(self_attn\.(qkv|o)_proj|mlp\.(gate_up|down)_proj)"


class Phi4Model(TransformersModel):
    """Phi-4-multimodal without its adapter for images. Its processor imports torchvision and is not used."""

    limits = AudioLimits(
        sampling_rate=16_000,
        context=131_072,
        tokens_per_second=12.5,
        tokens_per_clip=1,  # a started token
        weights_gib=8.8,
        cache_kib_per_token=128,
    )
    model_class = "Phi4MultimodalForCausalLM"
    end_tokens = ("<|end|>", "<|endoftext|>")

    @property
    def differences(self) -> tuple[str, ...]:
        """The sampling rate, or the modality, in which there was no published run."""
        if self.context.modality == "query_only":
            return ("modality: the published runs of this model used audio modalities only",)
        return ("audio: clips at 16 kHz; the published run took them at their own sampling rate",)

    def load_model(self) -> Any:
        """Load the weights, and add the speech adapter if prompts hold audio or silence."""
        from transformers import GenerationMixin

        model = super().load_model()
        # Its own preparation drops the cache when the rotary factors switch, and then (transformers 5.24) continues
        # with the last token alone. Here they do not switch within a prompt and its answer.
        model.prepare_inputs_for_generation = MethodType(GenerationMixin.prepare_inputs_for_generation, model)
        if self.context.modality != "query_only" or self.options.protocol == "titles":
            merge_lora(model, self.folder / ADAPTER, ADAPTED)
        return model

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Encode prompts in the turns of Phi-4: audio, then text."""
        clips = [clip for prompt in prompts for clip in prompt.clips]
        rate = self.limits.sampling_rate
        features = self.extractor(clips, sampling_rate=rate, return_tensors="pt") if clips else {}
        counts = iter(features["audio_embed_sizes"].tolist() if clips else ())
        audio = [audio_placeholders(self.token, [next(counts) for _ in prompt.clips]) for prompt in prompts]
        texts = [f"<|user|>{own}{prompt.text}<|end|><|assistant|>" for own, prompt in zip(audio, prompts, strict=True)]
        return left_padded(self.tokenizer, texts) | dict(features)

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Complete prompts one by one, each under one set of rotary factors.

        In a batch, padding frames would leak into the shorter clips, and the longest prompt would choose the factors
        of all.
        """
        completions = []
        for prompt in prompts:
            with self._steady_factors(budget):
                completions += super().complete([prompt], budget)
        return completions

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
        """Feature extractor next to the weights."""
        from transformers import Phi4MultimodalFeatureExtractor

        return Phi4MultimodalFeatureExtractor.from_pretrained(self.folder)

    @cached_property
    def token(self) -> str:
        """Placeholder of one audio vector in a prompt: the token whose id the model looks for."""
        from transformers import Phi4MultimodalConfig

        config = Phi4MultimodalConfig.from_pretrained(self.folder)
        token: str = self.tokenizer.convert_ids_to_tokens(config.audio_config.audio_token_id)
        return token

    def _steady_factors(self, beyond: int) -> AbstractContextManager[None]:
        return steady_factors(self.model.model.rotary_emb, beyond)


class Phi4Multimodal(LocalGenerative):
    """Asks Phi-4-multimodal."""

    declaration = Declaration(
        name="phi4_multimodal",
        paradigm="generative",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Asks Phi-4-multimodal, with the clips, for a ranking.",
        note="Uses its speech adapter with audio; in query_only, only under the protocol titles.",
        needs=("torch", "transformers", "accelerate", "safetensors", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="MIT",
        open_weights=True,
        batch_size=1,
    )
    Options = with_defaults(LocalOptions, weights=f"{MODEL_ID}@{REVISION}")
    Model = Phi4Model
