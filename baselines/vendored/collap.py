"""The parts of CoLLAP in the MusiCRS paper's version: two towers that others trained, and two projections.

A text is GPT-2's state at its last token. Sound is the mean over time of what Whisper's encoder and BEATs make of it,
side by side. A linear map takes either to 512 numbers, which are compared by cosine.

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
    """Whisper's encoder and BEATs.

    Args:
        extractor: Whisper's feature extractor.
        whisper: Its encoder.
        beats: BEATs.
    """

    def __init__(self, extractor: Any, whisper: nn.Module, beats: Beats) -> None:
        super().__init__()
        self._extractor, self.whisper, self.beats = extractor, whisper, beats

    def forward(self, windows: Sequence[Samples]) -> Tensor:
        """Turn sound into features.

        Args:
            windows: n of them, mono at 16 kHz, each at most 30 s long.

        Returns:
            Shape (n, d): Whisper's features, then those of BEATs.
        """
        device = next(self.parameters()).device
        mel = self._extractor(list(windows), sampling_rate=RATE, return_tensors="pt").input_features
        spoken = self.whisper(mel.to(device)).last_hidden_state
        waves = np.stack([np.pad(window, (0, self._extractor.n_samples - len(window))) for window in windows])
        lengths = [max(len(window), RATE) for window in windows]  # BEATs is given 1 s at least
        heard = self.beats(torch.from_numpy(waves).to(device), lengths)
        # Both means are over the frames of 30 s, which is what Whisper pads to: BEATs counts as 0 after the window.
        return torch.cat([spoken.mean(1), heard.sum(1) / spoken.shape[1]], dim=-1)


def last_state(gpt2: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """GPT-2's state at the last token of each text, shape (n, d); texts are padded on the right."""
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
        """Shape (n, d) to (n, `DIMENSIONS`)."""
        # einsum adds in one order; a BLAS product may not, depending on n.
        mapped: Vectors = (np.einsum("nd,kd->nk", features, self.weight, dtype=np.float64) + self.bias).astype(
            np.float32
        )
        return mapped


def untrained_projection(name: str, width: int, seed: int) -> Projection:
    """Draw a projection as torch draws a new linear layer, from a generator of its own.

    Args:
        name: One of `NAMES`; each has its own numbers.
        width: What it is to take.
        seed: Seed of both.
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
        Those named in `NAMES`.

    Raises:
        UserError: It cannot be read, or holds something else.
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
    found = {
        name: Projection(*(tensors[f"{name}.{part}"].float().numpy() for part in Projection._fields)) for name in NAMES
    }
    for name, (weight, bias) in found.items():
        if weight.ndim != 2 or len(weight) != DIMENSIONS or bias.shape != (DIMENSIONS,):
            raise UserError(
                f"--weights {file}: {name} has weights of shape {weight.shape} and a bias of shape {bias.shape}, "
                f"expected ({DIMENSIONS}, d) and ({DIMENSIONS},)"
            )
    return found
