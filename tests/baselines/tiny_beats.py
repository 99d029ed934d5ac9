"""A BEATs of few and random weights."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from baselines.vendored.beats import Beats, BeatsConfig

TINY = BeatsConfig(
    encoder_layers=2,
    encoder_embed_dim=16,
    encoder_ffn_embed_dim=24,
    encoder_attention_heads=2,
    embed_dim=8,
    conv_pos=6,
    conv_pos_groups=4,
)
# Fields of the `cfg` of a published checkpoint without the sizes.
PUBLISHED_RECIPE = {
    "layer_norm_first": False,
    "deep_norm": True,
    "conv_bias": False,
    "relative_position_embedding": True,
    "gru_rel_pos": True,
    "activation_fn": "gelu",
    "finetuned_model": True,
    "dropout": 0.0,
}


def tiny_beats() -> Beats:
    """The same weights in every call."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Beats(TINY).eval()


def save_beats(file: Path, *, model: dict[str, torch.Tensor] | None = None, **cfg: Any) -> Path:
    """A checkpoint of the authors' layout, with the classifier that the finetuned ones have.

    Args:
        file: Where to write it.
        model: Other parameters.
        cfg: Other values of `cfg`.
    """
    classifier = {"predictor.weight": torch.zeros(3, 2), "predictor.bias": torch.zeros(3)}
    parameters = tiny_beats().state_dict() if model is None else model
    torch.save({"cfg": asdict(TINY) | PUBLISHED_RECIPE | cfg, "model": parameters | classifier}, file)
    return file
