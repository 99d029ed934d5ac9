"""The parts of CoLLAP in the version of the MusiCRS paper: two pretrained towers, and two projections.

The features of a text are the state of GPT-2 at its last token. The features of audio are the means over time of the
output of the encoder of Whisper and of BEATs, concatenated. A linear map projects either to 512 numbers, which are
compared by cosine.

Source: Wu et al., "CoLLAP: Contrastive Long-form Language-Audio Pretraining with Musical Temporal Structure
Augmentation" (arXiv:2410.02271).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError

from ..embedding.vector_cache import Vectors
from .beats import RATE, Beats

DIMENSIONS = 512
NAMES = ("text_proj", "audio_proj")


class AudioTower(nn.Module):
    """The encoder of Whisper, and BEATs.

    Args:
        extractor: Feature extractor of Whisper.
        whisper: Encoder of Whisper.
        beats: BEATs.
    """

    def __init__(self, extractor: Any, whisper: nn.Module, beats: Beats) -> None:
        super().__init__()
        self._extractor, self.whisper, self.beats = extractor, whisper, beats

    def forward(self, windows: Sequence[Samples]) -> Tensor:
        """Turn audio into features.

        Args:
            windows: n windows, mono at 16 kHz, each at most 30 s long.

        Returns:
            Shape (n, d): features of Whisper, then those of BEATs.
        """
        device = next(self.parameters()).device
        mel = self._extractor(list(windows), sampling_rate=RATE, return_tensors="pt").input_features
        speech = self.whisper(mel.to(device)).last_hidden_state
        waves = np.stack([np.pad(window, (0, self._extractor.n_samples - len(window))) for window in windows])
        lengths = [max(len(window), RATE) for window in windows]  # BEATs gets at least 1 s
        sound = self.beats(torch.from_numpy(waves).to(device), lengths)
        # Both means are over the frames of 30 s, to which Whisper pads. After the window, BEATs counts as 0.
        return torch.cat([speech.mean(1), sound.sum(1) / speech.shape[1]], dim=-1)


def last_state(gpt2: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """Return the state of GPT-2 at the last token of each text, shape (n, d). Texts are padded on the right."""
    states: Tensor = gpt2(input_ids=ids, attention_mask=mask).last_hidden_state
    return states[torch.arange(len(ids), device=ids.device), mask.sum(1) - 1]


class Projection(NamedTuple):
    """A linear map.

    Attributes:
        weight: Shape (`DIMENSIONS`, d).
        bias: Shape (`DIMENSIONS`,).
    """

    weight: Vectors
    bias: Vectors

    def __call__(self, features: Vectors) -> Vectors:
        """Map shape (n, d) to (n, `DIMENSIONS`)."""
        # einsum adds in one order; a BLAS product may not, depending on n.
        mapped: Vectors = (np.einsum("nd,kd->nk", features, self.weight, dtype=np.float64) + self.bias).astype(
            np.float32
        )
        return mapped


def untrained_projection(name: str, width: int, seed: int) -> Projection:
    """Draw a projection as torch initialises a linear layer, with its own generator.

    Args:
        name: One of `NAMES`. Each has its own numbers.
        width: Width of its input.
        seed: Seed of both projections.
    """
    generator = torch.Generator().manual_seed(2 * seed + NAMES.index(name))
    bound = width**-0.5
    weight = torch.empty(DIMENSIONS, width).uniform_(-bound, bound, generator=generator)
    bias = torch.empty(DIMENSIONS).uniform_(-bound, bound, generator=generator)
    return Projection(weight.numpy(), bias.numpy())


def load_projections(file: Path) -> dict[str, Projection]:
    """Load trained projections.

    Args:
        file: A .safetensors file that holds `text_proj.weight`, `text_proj.bias`, `audio_proj.weight` and
            `audio_proj.bias`, and nothing else.

    Returns:
        The projections in `NAMES`.

    Raises:
        UserError: The file cannot be read, or holds other tensors.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(file)
    except (OSError, SafetensorError) as error:
        raise UserError(f"--weights {file}: cannot be read ({error}); expected a .safetensors file") from error
    expected = sorted(f"{name}.{part}" for name in NAMES for part in Projection._fields)
    if sorted(tensors) != expected:
        raise UserError(f"--weights {file}: found {', '.join(sorted(tensors))}, expected {', '.join(expected)}")
    projections = {
        name: Projection(*(tensors[f"{name}.{part}"].float().numpy() for part in Projection._fields)) for name in NAMES
    }
    for name, (weight, bias) in projections.items():
        if weight.ndim != 2 or len(weight) != DIMENSIONS or bias.shape != (DIMENSIONS,):
            raise UserError(
                f"--weights {file}: {name} has weights of shape {weight.shape} and a bias of shape {bias.shape}, "
                f"expected ({DIMENSIONS}, d) and ({DIMENSIONS},)"
            )
    return projections
