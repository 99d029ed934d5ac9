"""Load the weights of a checkpoint completely: a missing or surplus key is an error that names the key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError, count, show, some

if TYPE_CHECKING:
    import torch


def choose_dtype(name: str | None, device: torch.device) -> torch.dtype:
    """Return the number format of the user, or by default bfloat16 on an accelerator and float32 on a CPU."""
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
    *,
    allow_surplus: bool = False,
    gguf: str | None = None,
) -> Any:
    """Load a model of transformers completely.

    Args:
        cls: Its class, or a class such as `AutoModel` that chooses one by the checkpoint.
        folder: The checkpoint.
        device: Where to put it.
        dtype: Number format of the weights.
        device_map: Distribution over several devices, as accelerate takes it; None for one device.
        ignorable: Regular expressions of keys that may be missing or surplus. Each must match a whole key.
        flag: The option that named the checkpoint, for messages.
        allow_surplus: Whether the checkpoint may hold other keys, such as those of a head that this model lacks.
        gguf: Name of the GGUF file in the folder; None for a checkpoint of transformers.

    Raises:
        UserError: Keys are missing or surplus, or the checkpoint is for another model.
    """
    import pickle

    import transformers
    from safetensors import SafetensorError

    transformers.utils.logging.disable_progress_bar()  # the runner shows its own
    dtype_argument = "dtype" if _version(transformers.__version__) >= (4, 56) else "torch_dtype"
    # On an accelerator weights go there at once, and not through as much of the machine's memory.
    target = device_map or (None if device.type == "cpu" else str(device))
    # A message below names keys that do not fit; transformers would print a table.
    arguments = {dtype_argument: dtype, "output_loading_info": True, "ignore_mismatched_sizes": True}
    arguments |= {} if target is None else {"device_map": target}
    arguments |= {"gguf_file": gguf} if gguf else {}
    try:
        if not hasattr(cls, "config_class"):  # such as AutoModel; code from the checkpoint never runs
            model, info = cls.from_pretrained(folder, trust_remote_code=False, **arguments)
            return _checked(model, info, folder, ignorable, flag, allow_surplus)
        kind = cls.config_class.get_config_dict(folder)[0].get("model_type")
        expected = cls.config_class.model_type
        # A part of a model is named after the whole, such as qwen2_5_omni_thinker.
        if not kind or not expected.startswith(kind):
            raise UserError(f"{flag} {folder}: holds a model of type {show(kind)}, expected {show(expected)}")
        model, info = cls.from_pretrained(folder, **arguments)
    except UserError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError, pickle.UnpicklingError) as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        reason = " ".join(str(error).split())[:200]
        if isinstance(error, pickle.UnpicklingError):
            reason = "its .bin file holds more than tensors, or is damaged; expected model.safetensors"
        raise UserError(f"{flag} {folder}: cannot be loaded as {cls.__name__} ({reason})") from error
    return _checked(model, info, folder, ignorable, flag, allow_surplus)


def check_keys(
    path: Path,
    missing: Iterable[str],
    unexpected: Iterable[str],
    expected: str,
    ignorable: Sequence[str] = (),
    flag: str = "--weights",
) -> None:
    """Refuse a checkpoint with missing or surplus weights.

    Args:
        path: The checkpoint, for the message.
        missing: Keys of the model that the checkpoint lacks.
        unexpected: Keys of the checkpoint that the model lacks.
        expected: The expected model, such as the name of a class.
        ignorable: Regular expressions of keys to ignore. Each must match a whole key.
        flag: The option that named the checkpoint, for messages.

    Raises:
        UserError: A key is missing or surplus.
    """
    faults = []
    for fault, keys in (("lacks", missing), ("holds beyond it", unexpected)):
        left = sorted(key for key in keys if not any(re.fullmatch(pattern, key) for pattern in ignorable))
        if left:
            faults.append(f"{fault} {count(len(left), 'key')}: {some(left)}")
    if faults:
        raise UserError(f"{flag} {path}: {'; '.join(faults)}; expected the weights of {expected}")


def _checked(
    model: Any, info: dict[str, Any], folder: Path, ignorable: Sequence[str], flag: str, allow_surplus: bool
) -> Any:
    mismatched = [str(key[0] if isinstance(key, tuple) else key) for key in info.get("mismatched_keys", ())]
    surplus = () if allow_surplus else info["unexpected_keys"]
    check_keys(folder, [*info["missing_keys"], *mismatched], surplus, type(model).__name__, ignorable, flag)
    return model.eval()


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])
