"""PE-Audio: candidates whose names lie closest to the clips and the query in Meta's Perception Encoder for audio.

Two kinds of checkpoints fit: `facebook/pe-av-*`, which hold a video model besides (it is not loaded), give one vector
per window; `facebook/pe-a-frame-*` give one per 40 ms, and their mean stands for the window. The model was trained with
windows of any length; 10 s are what the other systems of this kind hear at once. It compares vectors by dot product;
here it is the cosine, so that no name gains by the length of its vector.

Source: Vyas et al., "Pushing the Frontier of Audiovisual Perception with Large-Scale Multimodal Correspondence
Learning" (arXiv:2512.19687).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError, some

from ..audio_text.checkpoints import HELP, find_checkpoint
from ..audio_text.dual import DualEncoder, DualOptions
from ..audio_text.model import AudioTextModel, CheckpointModel
from ..embedding.vector_cache import Vectors
from ..options import option
from ..system import ALL_MODALITIES, Context, Declaration

if TYPE_CHECKING:
    from torch import Tensor

MODEL_ID = "facebook/pe-av-large"
MAX_TOKENS = 512  # as in the authors' own code


class PeAudioEncoder(CheckpointModel):
    """A PE-Audio model."""

    window_s: ClassVar[float] = 10.0
    windows_at_once: ClassVar[int] = 8  # its first layers work on samples, and take memory

    @property
    def sampling_rate(self) -> int:
        """48 kHz, says the published extractor."""
        rate: int = self._extractor.sampling_rate
        return rate

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows of one length."""
        import torch

        model = self._model
        inputs = self._extractor(list(windows), sampling_rate=self.sampling_rate, return_tensors="pt")
        with torch.inference_mode():
            # All are of one length, so the mask that comes with them marks nothing.
            vectors = model.get_audio_embeds(inputs["input_values"].to(self._context.device))
            if vectors.ndim == 3:  # per frame
                vectors = vectors.mean(1)
        embedded: Vectors = vectors.float().cpu().numpy()
        return embedded

    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of up to 512 tokens."""
        from ..vendored.tokens import embed_tokens

        tokenizer = self._tokenizer
        tokens = tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS)["input_ids"]
        return embed_tokens(tokens, MAX_TOKENS, tokenizer.pad_token_id, self._context.device, self._read)

    def _read(self, ids: Tensor, mask: Tensor) -> Tensor:
        # As the model's `forward` has it; its `get_text_audio_embeds` forgets to ask for states (transformers 5.24).
        states = self._model.text_model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        vectors: Tensor = self._model.text_audio_head(states[-1][:, 0])
        return vectors

    @cached_property
    def _extractor(self) -> Any:
        from transformers import AutoFeatureExtractor

        return AutoFeatureExtractor.from_pretrained(self._checkpoint.folder)

    @cached_property
    def _model(self) -> Any:
        import transformers
        from transformers.utils import logging

        folder = self._checkpoint.folder
        if not hasattr(transformers, "PeAudioModel"):
            raise UserError(
                f"pe_audio needs transformers 5, found {transformers.__version__}; pip install -U transformers"
            )
        config = transformers.AutoConfig.from_pretrained(folder)
        kinds = {"pe_audio": config, "pe_audio_video": getattr(config, "audio_config", None)}
        if config.model_type not in kinds:
            raise UserError(
                f"--weights {folder}: found a model of type {config.model_type}, expected {' or '.join(kinds)}, such "
                f"as {MODEL_ID}"
            )
        per_frame = "PeAudioFrameLevelModel" in (config.architectures or [])
        cls = transformers.PeAudioFrameLevelModel if per_frame else transformers.PeAudioModel
        verbosity = logging.get_verbosity()
        logging.disable_progress_bar()  # the runner shows its own
        logging.set_verbosity_error()  # else every parameter of the video model gets a line of its own
        try:
            # The audio part of the configuration must be handed over: told nothing, transformers takes default sizes.
            model, found = cls.from_pretrained(folder, config=kinds[config.model_type], output_loading_info=True)
        finally:
            logging.set_verbosity(verbosity)
        if found["missing_keys"]:
            raise UserError(f"--weights {folder}: lacks {some(sorted(found['missing_keys']))}; expected PE-Audio")
        return model.float().eval().to(self._context.device)


@dataclass(frozen=True)
class PeAudioOptions(DualOptions):
    """Options of `pe_audio`."""

    weights: str = option(MODEL_ID, HELP)


class PeAudio(DualEncoder):
    """Ranks by the cosine of candidate name and thread under PE-Audio."""

    declaration = Declaration(
        name="pe_audio",
        paradigm="retrieval",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Cosine of candidate name with clips, query or both under Meta's Perception Encoder for audio.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
    )
    Options = PeAudioOptions

    def __init__(self, options: PeAudioOptions, context: Context) -> None:
        super().__init__(options, context)
        named = self.declaration.for_weights(options.weights)
        if options.weights.startswith("facebook/pe-"):  # all of which are under one licence
            named = replace(named, licence=self.declaration.licence)
        self.declaration = named

    def make_model(self) -> AudioTextModel:
        """PE-Audio with the chosen weights."""
        return PeAudioEncoder(find_checkpoint(self.options.weights), self.context)
