"""Sound for models whose ear is a Whisper encoder: log-mel frames, and how many vectors become of them.

The numbers are those of the models' own processors (tests compare them), which cannot be used for all: the Omni models'
import torchvision for pictures that nobody shows here, and the Flamingo models' take no batch in which one prompt has
sound and another has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from musicrs_dataset.audio.cutting import Samples

if TYPE_CHECKING:
    from torch import Tensor

# How the clips of a prompt become frames of one length.
#   beyond   Silence follows every clip. Qwen2.5-Omni's processor fills each up to 300 s, of which the model is then
#            given what the mask covers; a frame of silence gives the same, for ten clips of 30 s in 0.5 s and not 3.9.
#   longest  Silence fills the shorter clips up to the longest; at the end of that one, the extractor mirrors the sound.
#   windows  Clips are cut into windows of the extractor's length, the last one filled up with silence.
Filling = Literal["beyond", "longest", "windows"]


class AudioFeatures(NamedTuple):
    """The clips of one prompt as a model takes them.

    Attributes:
        features: Shape (pieces, mel bands, frames).
        mask: Shape (pieces, frames): 1 where a frame holds sound, 0 where it fills up.
        counts: Vectors that each clip becomes.
    """

    features: Tensor
    mask: Tensor
    counts: list[int]


def quartered(frames: int) -> int:
    """Vectors of some frames in Qwen2-Audio, Qwen2.5-Omni and the Flamingo models: about a quarter of them."""
    return ((frames - 1) // 2 + 1 - 2) // 2 + 1


def in_chunks(frames: int) -> int:
    """Vectors of some frames in Qwen3-Omni: 13 of every 100, and an eighth of the rest, rounded up."""
    return frames // 100 * 13 + -(-(frames % 100) // 8)


@dataclass(frozen=True)
class WhisperFeatures:
    """Turns clips into log-mel frames.

    Attributes:
        extractor: A `WhisperFeatureExtractor` of transformers.
        count: From a clip's frames to its vectors.
        filling: See `Filling`.
    """

    extractor: Any
    count: Callable[[int], int]
    filling: Filling

    def extract(self, clips: Sequence[Samples]) -> AudioFeatures:
        """Turn the clips of one prompt into frames.

        Args:
            clips: At least one, each of shape (n,), mono at the extractor's rate.

        Raises:
            ValueError: A clip is longer than the extractor's length, under "beyond".
        """
        full, hop = self.extractor.n_samples, self.extractor.hop_length
        size = full if self.filling == "windows" else max(map(len, clips))
        if self.filling == "beyond":
            check_length(clips, self.extractor)
        pieces = [[clip[start : start + size] for start in range(0, len(clip), size)] for clip in clips]
        given: dict[str, Any] = {"padding": "max_length", "max_length": full}
        if self.filling == "beyond":
            enough = size + self.extractor.n_fft
            given["max_length"] = min(-(-enough // hop) * hop, full)
        elif self.filling == "longest":
            given = {"padding": "longest", "truncation": False}
        found = self.extractor(
            [piece for clip in pieces for piece in clip],
            sampling_rate=self.extractor.sampling_rate,
            return_attention_mask=True,
            return_tensors="pt",
            **given,
        )
        mask: Tensor = found["attention_mask"]
        frames = iter(mask.sum(-1).tolist())
        counts = [self.count(sum(islice(frames, len(clip)))) for clip in pieces]
        return AudioFeatures(found["input_features"], mask, counts)


def check_length(clips: Sequence[Samples], extractor: Any) -> None:
    """Refuse clips of which an extractor would drop the end without a message.

    Args:
        clips: Each of shape (n,), mono at the extractor's rate.
        extractor: A `WhisperFeatureExtractor` of transformers.

    Raises:
        ValueError: One is too long.
    """
    longest = max(map(len, clips), default=0)
    if longest > extractor.n_samples:
        raise ValueError(
            f"a clip of {longest / extractor.sampling_rate:.1f} s, but the extractor next to the weights takes "
            f"{extractor.n_samples / extractor.sampling_rate:g} s and would drop the rest; are these the weights of "
            "another model?"
        )


def as_inputs(sounds: Sequence[AudioFeatures], mask: str) -> dict[str, Tensor]:
    """The sound of a batch of prompts as the model's arguments.

    Args:
        sounds: Those of the prompts that have any, in order; at least one.
        mask: What the model calls the mask.
    """
    import torch
    from torch.nn.functional import pad

    longest = max(sound.mask.shape[-1] for sound in sounds)

    def joined(parts: Sequence[Tensor]) -> Tensor:
        return torch.cat([pad(part, (0, longest - part.shape[-1])) for part in parts])

    return {
        "input_features": joined([sound.features for sound in sounds]),
        mask: joined([sound.mask for sound in sounds]),
    }
