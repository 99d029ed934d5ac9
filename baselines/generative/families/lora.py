"""Add low-rank changes (LoRA) to the weights of a model once, so that inference needs no adapter.

The files are those of the library peft, and the changes are merged as peft merges them: W + alpha / r * B A.

Source: Hu et al., LoRA, ICLR 2022, arXiv 2106.09685.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError, show

from ..loading import check_keys

if TYPE_CHECKING:
    from torch import Tensor, nn

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
# Settings of peft that are not supported here. An empty or false setting is allowed.
_OTHERS = ("use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save", "fan_in_fan_out", "lora_bias")


def merge_lora(model: nn.Module, folder: Path, maps: str) -> None:
    """Add an adapter to the weights of a model.

    Args:
        model: The model. Its linear maps change in place.
        folder: The adapter.
        maps: Regular expression of the names of the maps that the adapter must change, all of them and no others. The
            part before `layers.` may differ in the adapter.

    Raises:
        UserError: The adapter is missing, is of another kind, lacks a change, or holds a change for no map.
    """
    import torch

    rank, scale = _settings(folder)
    changed = {name: module for name, module in model.named_modules() if re.fullmatch(maps, name)}
    changes = _changes(folder, list(changed))
    for name, module in changed.items():
        weight = module.weight
        if weight.is_meta:
            raise UserError(
                f"--device-map: leaves {name} outside the GPUs, where the adapter cannot change it; expected GPUs that "
                "hold the whole model"
            )
        down, up = (changes[f"{name}.lora_{side}"].to(weight.device, torch.float32) for side in "AB")
        rows, columns = weight.shape
        shapes, expected = (tuple(up.shape), tuple(down.shape)), ((rows, rank), (rank, columns))
        if shapes != expected:
            raise UserError(f"--weights {folder / WEIGHTS}: the change of {name} has {shapes}, expected {expected}")
        with torch.no_grad():
            weight.copy_(weight.float() + scale * (up @ down))


def _settings(folder: Path) -> tuple[int, float]:
    """Read rank and scale of the changes."""
    file = folder / CONFIG
    try:
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        rank = int(config["r"])
        scale = float(config["lora_alpha"]) / rank
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise UserError(f"--weights {file}: cannot be read ({error!r}); expected LoRA's r and lora_alpha") from error
    others = [name for name in _OTHERS if config.get(name)]
    if others:
        raise UserError(f"--weights {file}: found {others[0]} = {show(str(config[others[0]]))}, expected plain LoRA")
    return rank, scale


def _changes(folder: Path, names: list[str]) -> dict[str, Tensor]:
    """Read the matrices by map and side, such as model.layers.0.mlp.down_proj.lora_A."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    file = folder / WEIGHTS
    try:
        stored = load_file(file)
    except (OSError, SafetensorError) as error:
        raise UserError(f"--weights {file}: cannot be read ({error}); expected a LoRA adapter") from error
    by_layer = {name[name.index("layers.") :]: name for name in names}
    changes = {}
    for key, tensor in stored.items():
        # Such as base_model.model.model.layers.0.mlp.down_proj.lora_A.default.weight. Prefix and suffix vary.
        parts = re.fullmatch(r"(?:.*\.)?(layers\.\d+\..+?)\.lora_([AB])(?:\.[^.]+)?\.weight", key)
        name = by_layer.get(parts[1]) if parts else None
        changes[f"{name}.lora_{parts[2]}" if parts and name else key] = tensor
    expected = {f"{name}.lora_{side}" for name in names for side in "AB"}
    check_keys(file, expected - changes.keys(), changes.keys() - expected, "a LoRA adapter for this model")
    return changes
