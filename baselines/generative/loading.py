"""From a checkpoint to a model in memory; a key that is missing or left over is an error that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError, count, show, some

if TYPE_CHECKING:
    import torch

# What users may say of `--dtype`.
DTYPES = ("bfloat16", "float16", "float32")


def choose_dtype(name: str | None, device: torch.device) -> torch.dtype:
    """The number format of the weights: as the user says, or bfloat16 on an accelerator and float32 on a CPU."""
    import torch

    chosen: torch.dtype = getattr(torch, name or ("float32" if device.type == "cpu" else "bfloat16"))
    return chosen


def load_pretrained(
    cls: Any,
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    device_map: str | None = None,
    ignorable: Sequence[str] = (),
    flag: str = "--weights",
) -> Any:
    """Load a model of transformers, whole or not at all.

    Args:
        cls: Its class.
        folder: The checkpoint.
        device: Where to put it.
        dtype: Number format of the weights.
        device_map: How to spread it over several devices, as accelerate takes it; None for one device.
        ignorable: Regular expressions of keys that may be missing or left over; each fits a whole key.
        flag: The option that named the checkpoint, for messages.

    Raises:
        UserError: Keys are missing or left over, or the checkpoint is for another model.
    """
    import pickle

    import transformers
    from safetensors import SafetensorError

    transformers.utils.logging.disable_progress_bar()  # the runner shows its own
    named = "dtype" if _version(transformers.__version__) >= (4, 56) else "torch_dtype"
    # On an accelerator weights go there at once, and not through as much of the machine's memory.
    place = device_map or (None if device.type == "cpu" else str(device))
    spread = {} if place is None else {"device_map": place}
    # What does not fit is named below, and not in a table on the terminal.
    given = {named: dtype, "output_loading_info": True, "ignore_mismatched_sizes": True} | spread
    try:
        kind = cls.config_class.get_config_dict(folder)[0].get("model_type")
        expected = cls.config_class.model_type
        # A part of a model is named after the whole, such as qwen2_5_omni_thinker.
        if not kind or not expected.startswith(kind):
            raise UserError(f"{flag} {folder}: holds a model of type {show(kind)}, expected {show(expected)}")
        model, found = cls.from_pretrained(folder, **given)
    except UserError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError, pickle.UnpicklingError) as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{flag} {folder}: cannot be loaded as {cls.__name__} ({reason})") from error
    mismatched = [str(key[0] if isinstance(key, tuple) else key) for key in found.get("mismatched_keys", ())]
    check_keys(folder, [*found["missing_keys"], *mismatched], found["unexpected_keys"], cls.__name__, ignorable, flag)
    model.eval()
    return model


def check_keys(
    where: Path,
    missing: Iterable[str],
    unexpected: Iterable[str],
    expected: str,
    ignorable: Sequence[str] = (),
    flag: str = "--weights",
) -> None:
    """Refuse a checkpoint that lacks weights or holds others.

    Args:
        where: The checkpoint, for the message.
        missing: Keys that the model has and the checkpoint has not.
        unexpected: Keys that the checkpoint has and the model has not.
        expected: What was expected, such as the name of a class.
        ignorable: Regular expressions of keys that may be either; each fits a whole key.
        flag: The option that named the checkpoint, for messages.

    Raises:
        UserError: There is such a key.
    """
    faults = []
    for fault, keys in (("lacks", missing), ("holds beyond it", unexpected)):
        left = sorted(key for key in keys if not any(re.fullmatch(pattern, key) for pattern in ignorable))
        if left:
            faults.append(f"{fault} {count(len(left), 'key')}: {some(left)}")
    if faults:
        raise UserError(f"{flag} {where}: {'; '.join(faults)}; expected the weights of {expected}")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])
