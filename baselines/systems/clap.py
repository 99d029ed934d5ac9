"""CLAP: similarity of titles to the clips and the query in a shared space of audio and language.

This is the CLAP of LAION for music and speech, as in the MusiCRS paper, with windows of exactly 10 s. (From more audio,
its own extractor would take 10 s at a random position.) The log-mel spectrogram has the parameters and filters of the
extractor, but torch computes it for all windows of a batch at once. The extractor loops over frames in Python, which
takes longer than the model on a GPU.

Source: Wu et al., Large-scale contrastive language-audio pretraining, ICASSP 2023,
doi:10.1109/ICASSP49357.2023.10095969
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError, some

from ..audio_text.dual import CheckpointEncoder, CheckpointOptions
from ..audio_text.model import CheckpointModel
from ..embedding.vector_cache import Vectors
from ..options import with_defaults
from ..system import ALL_MODALITIES, Declaration

if TYPE_CHECKING:
    import torch

MODEL_ID = "laion/larger_clap_music_and_speech"


class ClapEncoder(CheckpointModel):
    """A CLAP model without feature fusion."""

    window_s: ClassVar[float] = 10.0
    one_length: ClassVar[bool] = True

    @property
    def sampling_rate(self) -> int:
        """Rate of the extractor; 48 kHz in the published model."""
        rate: int = self._extractor.sampling_rate
        return rate

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows of at most 10 s. A shorter one is repeated as often as it fits, then followed by silence."""
        import torch

        with torch.inference_mode():
            features = _projected(self._model.get_audio_features(input_features=self.log_mel(windows)))
        vectors: Vectors = features.float().cpu().numpy()
        return vectors

    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of up to 512 tokens."""
        from ..embedding.batches import embed_tokens

        # RoBERTa counts positions from after its padding id, which is 1.
        longest = min(self._tokenizer.model_max_length, self._model.config.text_config.max_position_embeddings - 2)
        tokens = self._tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"]
        return embed_tokens(
            tokens,
            longest,
            self._tokenizer.pad_token_id,
            self._context.device,
            lambda ids, mask: _projected(self._model.get_text_features(ids, mask)),
        )

    def log_mel(self, windows: Sequence[Samples]) -> torch.Tensor:
        """Compute the features of the extractor on the device of the model.

        Args:
            windows: n windows of at most 10 s each.

        Returns:
            Shape (n, 1, frames, mel bands), in dB.
        """
        import torch

        extractor = self._extractor
        size = extractor.nb_max_samples
        repeated = [np.tile(window, size // len(window)) for window in windows]
        padded = np.stack([np.pad(window, (0, size - len(window))) for window in repeated])
        waves = torch.from_numpy(padded).to(self._context.device)
        hann = torch.hann_window(extractor.fft_window_size, device=waves.device)
        spectrum = torch.stft(
            waves, extractor.fft_window_size, extractor.hop_length, window=hann, pad_mode="reflect", return_complex=True
        )
        filters = torch.from_numpy(extractor.mel_filters_slaney).to(waves)
        power = (spectrum.real.square() + spectrum.imag.square()).transpose(1, 2) @ filters
        return (10 * power.clamp(min=1e-10).log10())[:, None]

    @cached_property
    def _extractor(self) -> Any:
        from transformers import ClapFeatureExtractor

        extractor = ClapFeatureExtractor.from_pretrained(self._checkpoint.folder)
        settings = (extractor.truncation, extractor.padding, float(extractor.max_length_s))
        expected = ("rand_trunc", "repeatpad", self.window_s)
        if settings != expected:
            raise UserError(
                f"--weights {self._checkpoint.folder}: found a feature extractor for {settings}, expected "
                f"{expected}: a CLAP model without fusion, such as {MODEL_ID}"
            )
        return extractor

    @cached_property
    def _model(self) -> Any:
        import transformers

        folder = self._checkpoint.folder
        transformers.utils.logging.disable_progress_bar()  # the runner shows its own
        model, info = transformers.ClapModel.from_pretrained(folder, output_loading_info=True)
        if info["missing_keys"]:
            raise UserError(f"--weights {folder}: lacks {some(sorted(info['missing_keys']))}; expected a CLAP model")
        return model.float().eval().to(self._context.device)


def _projected(features: Any) -> torch.Tensor:
    """Return the projected vectors. transformers 5 wraps them in an object, 4 does not."""
    vectors: torch.Tensor = getattr(features, "pooler_output", features)
    return vectors


class Clap(CheckpointEncoder):
    """Ranks by the cosine of title and thread under CLAP."""

    declaration = Declaration(
        name="clap",
        paradigm="retrieval",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Cosine of title and clips, query or both under CLAP.",
        needs=("torch", "transformers", "accelerate", "soundfile", "soxr"),
        model_id=MODEL_ID,
        licence="Apache-2.0",
        open_weights=True,
    )
    Options = with_defaults(CheckpointOptions, weights=MODEL_ID)
    Model = ClapEncoder
