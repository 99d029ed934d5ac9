"""PE-Audio: similarity of titles to the clips and the query under the Perception Encoder for audio by Meta.

Two kinds of checkpoints fit. `facebook/pe-av-*` give one vector per window; their video model is not loaded.
`facebook/pe-a-frame-*` give one vector per 40 ms; the window gets their mean. The model was trained with windows of any
length. 10 s are the windows of the other systems of this kind. The authors compare vectors by dot product. Here it is
the cosine, so that no title gains by the length of its vector.

Source: Vyas et al., "Pushing the Frontier of Audiovisual Perception with Large-Scale Multimodal Correspondence
Learning" (arXiv:2512.19687).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError, some

from ..audio_text.dual import CheckpointEncoder, CheckpointOptions
from ..audio_text.model import CheckpointModel
from ..embedding.vector_cache import Vectors
from ..options import with_defaults
from ..system import ALL_MODALITIES, Context, Declaration

if TYPE_CHECKING:
    from torch import Tensor

MODEL_ID = "facebook/pe-av-large"
MAX_TOKENS = 512  # as in the code of the authors


class PeAudioEncoder(CheckpointModel):
    """A PE-Audio model."""

    window_s: ClassVar[float] = 10.0
    windows_at_once: ClassVar[int] = 8  # its first layers work on samples, and take memory

    @property
    def sampling_rate(self) -> int:
        """Rate of the extractor; 48 kHz in the published model."""
        rate: int = self._extractor.sampling_rate
        return rate

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows of one length."""
        import torch

        model = self._model
        inputs = self._extractor(list(windows), sampling_rate=self.sampling_rate, return_tensors="pt")
        with torch.inference_mode():
            # All have one length, so they need no mask.
            vectors = model.get_audio_embeds(inputs["input_values"].to(self._context.device))
            if vectors.ndim == 3:  # per frame
                vectors = vectors.mean(1)
        embedded: Vectors = vectors.float().cpu().numpy()
        return embedded

    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of up to 512 tokens."""
        from ..embedding.batches import embed_tokens

        tokenizer = self._tokenizer
        tokens = tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS)["input_ids"]
        return embed_tokens(tokens, MAX_TOKENS, tokenizer.pad_token_id, self._context.device, self._read)

    def _read(self, ids: Tensor, mask: Tensor) -> Tensor:
        # As in `forward` of the model. Its `get_text_audio_embeds` does not ask for states (transformers 5.24).
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
        logging.set_verbosity_error()  # otherwise every parameter of the video model gets a line
        try:
            # Without the audio part of the configuration, transformers takes default sizes.
            model, info = cls.from_pretrained(folder, config=kinds[config.model_type], output_loading_info=True)
        finally:
            logging.set_verbosity(verbosity)
        if info["missing_keys"]:
            raise UserError(f"--weights {folder}: lacks {some(sorted(info['missing_keys']))}; expected PE-Audio")
        return model.float().eval().to(self._context.device)


class PeAudio(CheckpointEncoder):
    """Ranks by the cosine of title and thread under PE-Audio."""

    declaration = Declaration(
        name="pe_audio",
        paradigm="retrieval",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Cosine of title and clips, query or both under Meta's Perception Encoder for audio.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
    )
    Options = with_defaults(CheckpointOptions, weights=MODEL_ID)
    Model = PeAudioEncoder

    def __init__(self, options: CheckpointOptions, context: Context) -> None:
        super().__init__(options, context)
        if options.weights.startswith("facebook/pe-"):  # all of these are under one licence
            self.declaration = replace(self.declaration, licence=type(self).declaration.licence)
