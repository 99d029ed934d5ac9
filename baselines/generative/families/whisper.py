"""Models with a Whisper encoder: log-mel frames of clips, the number of audio vectors, and prompts with placeholders.

The numbers are those of the official processors (tests compare them). These processors cannot be used for all models:
those of the Omni models import torchvision for images that do not occur here, and those of the Flamingo models take no
batch in which one prompt has audio and another has none.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError

from ..language_model import Prompt
from ..transformers_model import TransformersModel
from .prompt_text import audio_placeholders, left_padded

if TYPE_CHECKING:
    from torch import Tensor

# Ways to bring the clips of a prompt to frames of one length.
#   beyond   Silence follows every clip. The processor of Qwen2.5-Omni fills each clip up to 300 s, and the model gets
#            the part that the mask covers. One frame of silence gives the same, for ten clips of 30 s in 0.5 s, not
#            in 3.9 s.
#   longest  Silence fills the shorter clips up to the longest. At the end of that one, the extractor mirrors the audio.
#   windows  Clips are cut into windows of the length of the extractor. Silence fills the last one.
Filling = Literal["beyond", "longest", "windows"]


class AudioFeatures(NamedTuple):
    """The clips of one prompt as input of a model.

    Attributes:
        features: Shape (pieces, mel bands, frames).
        mask: Shape (pieces, frames): 1 for a frame of audio, 0 for padding.
        counts: Number of audio vectors of each clip.
    """

    features: Tensor
    mask: Tensor
    counts: list[int]


def quartered(frames: int) -> int:
    """Return the vectors of some frames in Qwen2-Audio, Qwen2.5-Omni and the Flamingo models: about a quarter."""
    return ((frames - 1) // 2 + 1 - 2) // 2 + 1


def in_chunks(frames: int) -> int:
    """Return the vectors of some frames in Qwen3-Omni: 13 per 100, and an eighth of the rest, rounded up."""
    return frames // 100 * 13 + -(-(frames % 100) // 8)


@dataclass(frozen=True)
class WhisperFeatures:
    """Turns clips into log-mel frames.

    Attributes:
        extractor: A `WhisperFeatureExtractor` of transformers.
        count: Maps the frames of a clip to its vectors.
        filling: See `Filling`.
    """

    extractor: Any
    count: Callable[[int], int]
    filling: Filling

    def extract(self, clips: Sequence[Samples]) -> AudioFeatures:
        """Turn the clips of one prompt into frames.

        Args:
            clips: At least one, each of shape (n,), mono at the rate of the extractor.

        Raises:
            ValueError: With "beyond", a clip is longer than the extractor takes.
        """
        full, hop = self.extractor.n_samples, self.extractor.hop_length
        size = full if self.filling == "windows" else max(map(len, clips))
        if self.filling == "beyond":
            check_length(clips, self.extractor)
        pieces = [[clip[start : start + size] for start in range(0, len(clip), size)] for clip in clips]
        padding: dict[str, Any] = {"padding": "max_length", "max_length": full}
        if self.filling == "beyond":
            enough = size + self.extractor.n_fft
            padding["max_length"] = min(-(-enough // hop) * hop, full)
        elif self.filling == "longest":
            padding = {"padding": "longest", "truncation": False}
        extracted = self.extractor(
            [piece for clip in pieces for piece in clip],
            sampling_rate=self.extractor.sampling_rate,
            return_attention_mask=True,
            return_tensors="pt",
            **padding,
        )
        mask: Tensor = extracted["attention_mask"]
        frames = iter(mask.sum(-1).tolist())
        counts = [self.count(sum(islice(frames, len(clip)))) for clip in pieces]
        return AudioFeatures(extracted["input_features"], mask, counts)


def check_length(clips: Sequence[Samples], extractor: Any) -> None:
    """Refuse clips whose end an extractor would silently drop.

    Args:
        clips: Each of shape (n,), mono at the rate of the extractor.
        extractor: A `WhisperFeatureExtractor` of transformers.

    Raises:
        ValueError: A clip is too long.
    """
    longest = max(map(len, clips), default=0)
    if longest > extractor.n_samples:
        raise ValueError(
            f"a clip of {longest / extractor.sampling_rate:.1f} s, but the extractor next to the weights takes "
            f"{extractor.n_samples / extractor.sampling_rate:g} s and would drop the rest; are these the weights of "
            "another model?"
        )


def as_inputs(batch: Sequence[AudioFeatures], mask: str) -> dict[str, Tensor]:
    """Return the audio of a batch as arguments of the model.

    Args:
        batch: Features of the prompts that have audio, in order, at least one.
        mask: Name of the mask in the model.
    """
    import torch
    from torch.nn.functional import pad

    longest = max(features.mask.shape[-1] for features in batch)

    def joined(parts: Sequence[Tensor]) -> Tensor:
        return torch.cat([pad(part, (0, longest - part.shape[-1])) for part in parts])

    return {
        "input_features": joined([features.features for features in batch]),
        mask: joined([features.mask for features in batch]),
    }


class WhisperLanguageModel(TransformersModel):
    """A language model with a Whisper encoder, whose prompts are made from tokenizer and feature extractor.

    Attributes:
        token: Placeholder of one audio vector in the prompt.
        clip_markers: Markers before and after each clip.
        mask: Name of the mask of its frames.
        filling: See `Filling`.
    """

    token: ClassVar[str]
    clip_markers: ClassVar[tuple[str, str]] = ("", "")
    mask: ClassVar[str]
    filling: ClassVar[Filling]

    @staticmethod
    @abstractmethod
    def count(frames: int) -> int:
        """Return the number of vectors of a clip with this many frames."""

    @abstractmethod
    def write(self, text: str, audio: str) -> str:
        """Write the prompt of the family from a request and its audio placeholders, which may be empty."""

    @cached_property
    def extractor(self) -> Any:
        """Feature extractor next to the weights."""
        from transformers import WhisperFeatureExtractor

        extractor = WhisperFeatureExtractor.from_pretrained(self.folder)
        if extractor.sampling_rate != self.limits.sampling_rate:
            raise UserError(
                f"--weights {self.folder}: its extractor takes {extractor.sampling_rate} Hz, expected "
                f"{self.limits.sampling_rate} Hz, the sampling rate of {type(self).__name__}"
            )
        return extractor

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """Return token ids and their mask, frames and their mask."""
        whisper = WhisperFeatures(self.extractor, self.count, self.filling)
        features = [whisper.extract(prompt.clips) if prompt.clips else None for prompt in prompts]
        pairs = zip(prompts, features, strict=True)
        inputs = left_padded(
            self.tokenizer, [self.write(prompt.text, self._placeholders(own)) for prompt, own in pairs]
        )
        batch = [own for own in features if own is not None]
        return inputs | as_inputs(batch, self.mask) if batch else inputs

    def _placeholders(self, features: AudioFeatures | None) -> str:
        return "" if features is None else audio_placeholders(self.token, features.counts, *self.clip_markers)
