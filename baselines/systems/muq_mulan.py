"""MuQ-MuLan: candidates whose names lie closest to the clips and the query in Tencent's space of music and text.

The package `muq` has the model, which cuts clips to 10 s itself; here they come cut. It pads the texts of a batch and
then takes the mean over the padding, too, so each text goes through it alone. The weights may not be used commercially.

Source: Zhu et al., "MuQ: Self-Supervised Music Representation Learning with Mel Residual Vector Quantization"
(arXiv:2501.01108).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError

from ..audio_text.checkpoints import HELP, find_checkpoint
from ..audio_text.dual import DualEncoder, DualOptions
from ..audio_text.model import AudioTextModel, CheckpointModel
from ..embedding.vector_cache import Vectors
from ..options import option
from ..system import ALL_MODALITIES, Context, Declaration

if TYPE_CHECKING:
    from torch import Tensor

MODEL_ID = "OpenMuQ/MuQ-MuLan-large"
MAX_TOKENS = 512  # of XLM-RoBERTa, which fails on more


class MuqMulanEncoder(CheckpointModel):
    """A MuQ-MuLan model."""

    window_s: ClassVar[float] = 10.0
    sampling_rate = 24_000

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows of one length, up to 10 s; the model repeats a shorter one once, or up to 10 s."""
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
                _as_muq_knows_it(module)
        return model


def _as_muq_knows_it(encoder: Any) -> None:
    """Let an encoder of transformers 5 do what that of version 4 did and muq 0.1.0 relies on.

    It takes a dictionary for its configuration, and gives the states before each layer and after the last one.
    """
    if not hasattr(encoder.config, "_attn_implementation"):
        encoder.config._attn_implementation = "eager"
    before: list[Tensor] = []

    def remember(_: Any, given: tuple[Any, ...]) -> None:
        before.append(given[0])

    def give(_: Any, __: Any, output: Any) -> None:
        output["hidden_states"] = (*before, output.last_hidden_state)

    encoder.register_forward_pre_hook(lambda *_: before.clear())
    for layer in encoder.layers:
        layer.register_forward_pre_hook(remember)
    encoder.register_forward_hook(give)


def _vectors(latents: Tensor) -> Vectors:
    vectors: Vectors = latents.float().cpu().numpy()
    return vectors


@dataclass(frozen=True)
class MuqMulanOptions(DualOptions):
    """Options of `muq_mulan`."""

    weights: str = option(MODEL_ID, HELP)


class MuqMulan(DualEncoder):
    """Ranks by the cosine of candidate name and thread under MuQ-MuLan."""

    declaration = Declaration(
        name="muq_mulan",
        paradigm="retrieval",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Cosine of candidate name with clips, query or both under MuQ-MuLan.",
        note="The weights are for non-commercial use only.",
        needs=("muq", "torch", "torchaudio", "transformers", "accelerate", "soundfile", "soxr"),
        extra="muq",
        model_id=MODEL_ID,
        licence="CC-BY-NC-4.0",
        open_weights=True,
    )
    Options = MuqMulanOptions

    def __init__(self, options: MuqMulanOptions, context: Context) -> None:
        super().__init__(options, context)
        self.declaration = self.declaration.for_weights(options.weights)

    def make_model(self) -> AudioTextModel:
        """MuQ-MuLan with the chosen weights."""
        return MuqMulanEncoder(find_checkpoint(self.options.weights), self.context)
