"""BEATs: a transformer over patches of a mel spectrogram, as a source of features.

Chen et al., "BEATs: Audio Pre-Training with Acoustic Tokenizers" (ICML 2023, arXiv:2212.09058). Audio at 16 kHz becomes
128 mel bands in frames of 25 ms every 10 ms. A patch has 16 x 16 of these, with eight patches per time step, so 30 s
are 1496 patches of 768 features. Parameters have the names of the published checkpoints, which load unchanged
(https://github.com/microsoft/unilm/tree/master/beats, MIT).
"""

from __future__ import annotations

import logging
import math
import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torchaudio.compliance import kaldi

from musicrs_metric.errors import UserError, show, some

# The table of distances that all layers share. `named_parameters()` lists it once, under the first layer.
# `state_dict()` lists it under every layer.
TABLE = re.compile(r"encoder\.layers\.(\d{1,3})\.self_attn\.relative_attention_bias\.weight")

RATE = 16_000
MEL_BANDS = 128
_FRAME, _HOP = 400, 160
# Mean and deviation of the training data; the authors divide by twice the deviation.
_MEAN, _DEVIATION = 15.41663, 6.55582
_log = logging.getLogger(__name__)

# The code of the authors supports several recipes. All published weights use this one.
_RECIPE = {
    "layer_norm_first": False,
    "deep_norm": True,
    "conv_bias": False,
    "relative_position_embedding": True,
    "gru_rel_pos": True,
    "activation_fn": "gelu",
}


@dataclass(frozen=True)
class BeatsConfig:
    """Size of the network, with the names in `cfg` of a checkpoint and the defaults of the published ones."""

    encoder_layers: int = 12
    encoder_embed_dim: int = 768
    encoder_ffn_embed_dim: int = 3072
    encoder_attention_heads: int = 12
    embed_dim: int = 512
    input_patch_size: int = 16
    conv_pos: int = 128
    conv_pos_groups: int = 16
    num_buckets: int = 320
    max_distance: int = 800


class Beats(nn.Module):
    """The network, without the classifier of the finetuned checkpoints. Run it in float32."""

    def __init__(self, config: BeatsConfig) -> None:
        super().__init__()
        self.config = config
        patch = config.input_patch_size
        self.patch_embedding = nn.Conv2d(1, config.embed_dim, kernel_size=patch, stride=patch, bias=False)
        self.layer_norm = nn.LayerNorm(config.embed_dim)
        self.post_extract_proj = nn.Linear(config.embed_dim, config.encoder_embed_dim)
        self.encoder = Encoder(config)

    def forward(self, waves: Tensor, lengths: Sequence[int] | None = None) -> Tensor:
        """Turn audio into features.

        Args:
            waves: Shape (n, m), mono at `RATE`, between -1 and 1.
            lengths: Number of samples of each wave before its padding; None for no padding.

        Returns:
            Shape (n, t, d) with t = `n_patches(m)` and d = `encoder_embed_dim`. For a padded wave, the first
            `n_patches(length)` are those of the wave without padding, and the others are 0.

        Raises:
            ValueError: A wave is shorter than one patch, 0.175 s.
        """
        shortest = min([waves.shape[1], *(lengths or ())])
        if self.n_patches(shortest) == 0:
            least = _FRAME + (self.config.input_patch_size - 1) * _HOP
            raise ValueError(
                f"{shortest / RATE:.3f} s of audio, expected at least {least / RATE:.3f} s, the length of a patch; "
                "pad it with silence"
            )
        patches = self.patch_embedding(fbank(waves)[:, None]).flatten(2).transpose(1, 2)
        padding = None
        if lengths is not None:
            used = torch.tensor([self.n_patches(length) for length in lengths], device=waves.device)
            padding = torch.arange(patches.shape[1], device=waves.device) >= used[:, None]
        features: Tensor = self.encoder(self.post_extract_proj(self.layer_norm(patches)), padding)
        return features if padding is None else features.masked_fill(padding[..., None], 0.0)

    def n_patches(self, samples: int) -> int:
        """Return the number of patches of some samples. Frames that fill no patch are dropped."""
        frames = max(0, (samples - _FRAME) // _HOP + 1)
        patch = self.config.input_patch_size
        return frames // patch * (MEL_BANDS // patch)


class Encoder(nn.Module):
    """The transformer, with a convolution for near positions and a learnt bias for distances."""

    def __init__(self, config: BeatsConfig) -> None:
        super().__init__()
        self.config = config
        self.pos_conv = nn.ModuleList([PositionConv(config)])
        self.layer_norm = nn.LayerNorm(config.encoder_embed_dim)
        # One table for all layers. A checkpoint holds it once per layer.
        distances = nn.Embedding(config.num_buckets, config.encoder_attention_heads)
        self.layers = nn.ModuleList(Layer(config, distances) for _ in range(config.encoder_layers))

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Encode patches, shape (n, t, d), without attention to those marked in `padding`, shape (n, t)."""
        if padding is not None:
            x = x.masked_fill(padding[..., None], 0.0)
        x = self.layer_norm(x + self.pos_conv[0](x))
        positions = torch.arange(x.shape[1], device=x.device)
        buckets = distance_bucket(
            positions[None] - positions[:, None], self.config.num_buckets, self.config.max_distance
        )
        bias = self.layers[0].get_submodule("self_attn.relative_attention_bias")(buckets).permute(2, 0, 1)
        for layer in self.layers:
            x = layer(x, bias, padding)
        return x


class PositionConv(nn.Module):
    """A grouped convolution over time whose kernel has a direction and, per tap, a length (weight normalisation)."""

    def __init__(self, config: BeatsConfig) -> None:
        super().__init__()
        width, self._taps, self._groups = config.encoder_embed_dim, config.conv_pos, config.conv_pos_groups
        self.weight_g = nn.Parameter(torch.ones(1, 1, self._taps))
        self.weight_v = nn.Parameter(torch.randn(width, width // self._groups, self._taps) * 0.02)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """Convolve shape (n, t, d) to the same shape. A kernel of even length reaches further back than ahead."""
        kernel = self.weight_v * (self.weight_g / self.weight_v.norm(dim=(0, 1), keepdim=True))
        y = functional.conv1d(x.transpose(1, 2), kernel, self.bias, padding=self._taps // 2, groups=self._groups)
        return functional.gelu(y[..., : x.shape[1]].transpose(1, 2))


class Layer(nn.Module):
    """Attention and two linear maps, each added to its input times (2 N)^(1/4) and normalised after (DeepNorm)."""

    def __init__(self, config: BeatsConfig, distances: nn.Embedding) -> None:
        super().__init__()
        width, inner = config.encoder_embed_dim, config.encoder_ffn_embed_dim
        self._alpha = (2 * config.encoder_layers) ** 0.25
        self.self_attn = Attention(config, distances)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.final_layer_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, bias: Tensor, padding: Tensor | None) -> Tensor:
        """Transform patches; the arguments are those of `Attention.forward`."""
        x = self.self_attn_layer_norm(self._alpha * x + self.self_attn(x, bias, padding))
        out: Tensor = self.final_layer_norm(self._alpha * x + self.fc2(functional.gelu(self.fc1(x))))
        return out


class Attention(nn.Module):
    """Attention with a bias by distance that each query gates (section 3.1 of WavLM, arXiv:2110.13900)."""

    def __init__(self, config: BeatsConfig, distances: nn.Embedding) -> None:
        super().__init__()
        width, self._heads = config.encoder_embed_dim, config.encoder_attention_heads
        self.q_proj, self.k_proj = nn.Linear(width, width), nn.Linear(width, width)
        self.v_proj, self.out_proj = nn.Linear(width, width), nn.Linear(width, width)
        self.grep_linear = nn.Linear(width // self._heads, 8)
        self.grep_a = nn.Parameter(torch.ones(1, self._heads, 1, 1))
        self.relative_attention_bias = distances

    def forward(self, x: Tensor, bias: Tensor, padding: Tensor | None) -> Tensor:
        """Attend.

        Args:
            x: Shape (n, t, d).
            bias: Shape (heads, t, t): for each query, what is added for each key before the gate.
            padding: Shape (n, t), True where a key is not to be seen.

        Returns:
            Shape (n, t, d).
        """
        query, key, value = (
            linear(x).unflatten(-1, (self._heads, -1)).transpose(1, 2)
            for linear in (self.q_proj, self.k_proj, self.v_proj)
        )
        # Eight outputs make two gates of four summands each.
        update, reset = self.grep_linear(query).unflatten(-1, (2, 4)).sum(-1).sigmoid().split(1, dim=-1)
        gated = (update * (reset * self.grep_a - 1.0) + 2.0) * bias
        if padding is not None:
            gated = gated.masked_fill(padding[:, None, None], -math.inf)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=gated)
        out: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return out


def fbank(waves: Tensor) -> Tensor:
    """Compute log mel energies as Kaldi does, scaled to about mean 0 and deviation 1/2.

    Args:
        waves: Shape (n, m), mono at `RATE`, between -1 and 1.

    Returns:
        Shape (n, frames, `MEL_BANDS`).
    """
    bands = [
        kaldi.fbank(wave[None] * 2**15, num_mel_bins=MEL_BANDS, sample_frequency=RATE, frame_length=25, frame_shift=10)
        for wave in waves.float()
    ]
    return (torch.stack(bands) - _MEAN) / (2 * _DEVIATION)


def distance_bucket(distance: Tensor, buckets: int, farthest: int) -> Tensor:
    """Number the distances as T5 does (arXiv:1910.10683, section 2.1).

    Args:
        distance: Position of the key minus position of the query.
        buckets: Number of buckets: half of them for keys at or before the query, half for keys after it.
        farthest: Distance from which all share one bucket.

    Returns:
        0 to buckets - 1, of the shape of `distance`. Short distances have one bucket each. Buckets of longer distances
        grow with the distance.
    """
    half = buckets // 2
    exact = half // 2
    length = distance.abs()
    octaves = torch.log(length.clamp(min=1) / exact) / math.log(farthest / exact)
    shared = (exact + (octaves * (half - exact)).long()).clamp(max=half - 1)
    return torch.where(length < exact, length, shared) + (distance > 0).long() * half


def load_beats(file: Path) -> Beats:
    """Load a published checkpoint. Only tensors and plain values are read from it, no code.

    Args:
        file: For example `BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt`. Its classifier is not loaded.

    Returns:
        The network in evaluation mode, on the CPU, in float32.

    Raises:
        UserError: The file does not exist, is not such a checkpoint, or has another recipe.
    """
    try:
        checkpoint = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise UserError(f"{file}: cannot be read ({reason}); expected a checkpoint of BEATs") from error
    if not (isinstance(checkpoint, Mapping) and {"cfg", "model"} <= checkpoint.keys()):
        raise UserError(f"{file}: expected a checkpoint of BEATs with 'cfg' and 'model', found {_contents(checkpoint)}")
    beats = Beats(_config(file, checkpoint["cfg"]))
    weights = {name: value for name, value in checkpoint["model"].items() if not name.startswith("predictor.")}
    weights = _with_one_table(file, weights, beats)
    try:
        beats.load_state_dict(weights)
    except RuntimeError as error:
        differences = str(error).splitlines()[1:]
        raise UserError(f"{file}: does not fit BEATs: {some([line.strip() for line in differences])}") from error
    return beats.float().eval()


def differing(copies: Mapping[str, Tensor], first: Tensor) -> list[str]:
    """Return the names of the copies of a tensor that are not equal to it.

    Args:
        copies: Name to tensor, in any number format.
        first: The original, in any number format.

    Returns:
        The names whose shape or values differ by more than rounding to the coarser of the two formats.
    """
    names = []
    for name, copy in copies.items():
        tolerance = max(torch.finfo(tensor.dtype).eps if tensor.is_floating_point() else 0 for tensor in (copy, first))
        actual, expected = copy.detach().float().cpu(), first.detach().float().cpu()
        is_equal = actual.shape == expected.shape and torch.allclose(
            actual, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max())
        )
        if not is_equal:
            names.append(name)
    return names


def _with_one_table(file: Path, weights: dict[str, Tensor], beats: Beats) -> dict[str, Tensor]:
    """Use the table of the first layer for every layer, and warn if another one differs."""
    tables = {name: value for name, value in weights.items() if TABLE.fullmatch(name)}
    names = [name for name in beats.state_dict() if TABLE.fullmatch(name)]
    first = next((tables[name] for name in names if name in tables), None)
    if first is None:
        return weights
    others = differing(tables, first)
    if others:
        _log.warning(
            "--beats %s: BEATs shares one table of distances, but %d of %d differ from the first layer's (%s); "
            "the first is used", file, len(others), len(tables), some(others, 2),
        )  # fmt: skip
    return weights | dict.fromkeys(names, first)


def _config(file: Path, cfg: Mapping[str, Any]) -> BeatsConfig:
    for name, expected in _RECIPE.items():
        if cfg.get(name, expected) != expected:
            raise UserError(
                f"{file}: cfg has {name} {show(cfg[name])}, expected {show(expected)} as in every published BEATs"
            )
    return BeatsConfig(**{item.name: cfg[item.name] for item in fields(BeatsConfig) if item.name in cfg})


def _contents(checkpoint: object) -> str:
    return some([str(key) for key in checkpoint]) if isinstance(checkpoint, Mapping) else type(checkpoint).__name__
