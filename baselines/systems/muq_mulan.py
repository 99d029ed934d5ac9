"""MuQ-MuLan: similarity of titles to the clips and the query in the space of music and text by Tencent.

The package `muq` has the model. It cuts clips to 10 s itself; here they arrive cut. It averages texts over their
padding, too, so it gets one text at a time. The weights must not be used commercially.

Source: Zhu et al., "MuQ: Self-Supervised Music Representation Learning with Mel Residual Vector Quantization"
(arXiv:2501.01108).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError

from ..audio_text.dual import CheckpointEncoder, CheckpointOptions
from ..audio_text.model import CheckpointModel
from ..embedding.vector_cache import Vectors
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

if TYPE_CHECKING:
    from torch import Tensor

MODEL_ID = "OpenMuQ/MuQ-MuLan-large"
MAX_TOKENS = 512  # of XLM-RoBERTa, which fails on more


class MuqMulanEncoder(CheckpointModel):
    """A MuQ-MuLan model."""

    window_s: ClassVar[float] = 10.0
    sampling_rate = 24_000

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows of one length, up to 10 s. The model repeats a shorter one once, or up to 10 s."""
        import torch

        model, waves = self._model, torch.from_numpy(np.stack(windows)).to(self._context.device)
        with torch.inference_mode():
            return _vectors(model(wavs=waves))

    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of up to 512 tokens."""
        import torch

        model, shorter = self._model, [self._cut(text) for text in texts]
        with torch.inference_mode():
            return np.concatenate([_vectors(model(texts=[text])) for text in shorter])

    def _cut(self, text: str) -> str:
        tokenizer = self._model.mulan_module.text.tokenizer
        if len(tokenizer(text)["input_ids"]) <= MAX_TOKENS:
            return text
        shorter: str = tokenizer.decode(
            tokenizer(text, truncation=True, max_length=MAX_TOKENS)["input_ids"], skip_special_tokens=True
        )
        return shorter

    @cached_property
    def _model(self) -> Any:
        try:
            from muq import MuQMuLan
        except ImportError as error:
            raise UserError(f"muq_mulan needs the package muq ({error}); pip install 'muq>=0.1,<0.2'") from error
        with redirect_stdout(sys.stderr):  # muq prints as it loads
            model = MuQMuLan.from_pretrained(str(self._checkpoint.folder))
        model = model.float().eval().to(self._context.device)
        for module in model.modules():
            if type(module).__name__ == "Wav2Vec2ConformerEncoder":
                _restore_outputs_of_version_4(module)
        return model


def _restore_outputs_of_version_4(encoder: Any) -> None:
    """Give an encoder of transformers 5 the behaviour of version 4 that muq 0.1.0 needs.

    It takes a dictionary as configuration, and returns the states before each layer and after the last one.
    """
    if not hasattr(encoder.config, "_attn_implementation"):
        encoder.config._attn_implementation = "eager"
    before: list[Tensor] = []

    def remember(_: Any, inputs: tuple[Any, ...]) -> None:
        before.append(inputs[0])

    def add_states(_: Any, __: Any, output: Any) -> None:
        output["hidden_states"] = (*before, output.last_hidden_state)

    encoder.register_forward_pre_hook(lambda *_: before.clear())
    for layer in encoder.layers:
        layer.register_forward_pre_hook(remember)
    encoder.register_forward_hook(add_states)


def _vectors(latents: Tensor) -> Vectors:
    vectors: Vectors = latents.float().cpu().numpy()
    return vectors


class MuqMulan(CheckpointEncoder):
    """Ranks by the cosine of title and thread under MuQ-MuLan."""

    declaration = Declaration(
        name="muq_mulan",
        paradigm="retrieval",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Cosine of title and clips, query or both under MuQ-MuLan.",
        note="The weights are for non-commercial use only.",
        needs=("muq", "torch", "torchaudio", "transformers", "accelerate", "soundfile", "soxr"),
        extra="muq",
        model_id=MODEL_ID,
        licence="CC-BY-NC-4.0",
        open_weights=True,
    )
    Options = with_defaults(CheckpointOptions, weights=MODEL_ID)
    Model = MuqMulanEncoder
