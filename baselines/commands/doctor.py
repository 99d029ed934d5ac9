"""What there is to run systems with: versions, devices, memory and disk; and, system by system, what is lacking."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from musicrs_metric.errors import UserError

from ..registry import SYSTEMS, missing_packages, system_class
from .catalogue import weights_gib

if TYPE_CHECKING:
    from rich.table import Table

_PACKAGES = (
    "torch",
    "transformers",
    "accelerate",
    "huggingface_hub",
    "datasets",
    "soundfile",
    "soxr",
    "rapidfuzz",
    "openai",
)
_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.pth")


class Device(NamedTuple):
    """What models can be put on.

    Attributes:
        name: What it is called.
        gib: Its memory in GiB; None where nobody knows.
        width: Bytes of a number there: 2 in bfloat16, 4 on a CPU.
    """

    name: str
    gib: float | None
    width: int


def environment_lines() -> Iterator[str]:
    """The environment, one fact a line, fit for a bug report."""
    yield f"python {platform.python_version()}, {platform.platform()}"
    yield ", ".join(f"{package} {_version(package)}" for package in _PACKAGES)
    for each in devices():
        yield f"device: {each.name}" + ("" if each.gib is None else f", {each.gib:.1f} GiB")
    yield torchcodec_line()
    cache = hub_cache()
    free = shutil.disk_usage(next(path for path in (cache, *cache.parents) if path.exists())).free / 2**30
    yield f"cache of the Hub: {cache}, {free:.1f} GiB free on its disk"


def torchcodec_line() -> str:
    """Whether `datasets` can decode clips by itself; it does so with torchcodec, which needs FFmpeg's libraries."""
    found = f"torchcodec {_version('torchcodec')}"
    try:
        importlib.import_module("torchcodec.decoders")
    except ModuleNotFoundError as error:
        fault = "" if error.name == "torchcodec" else f" does not load ({error})"
    except (ImportError, OSError, RuntimeError) as error:
        fault = f" does not load ({str(error).strip().partition(chr(10))[0].strip()})"
    else:
        return found
    return f"{found}{fault}; clips are read all the same, datasets needs Audio(decode=False)"


def systems_table() -> Table:
    """One row per system: whether it can run here, and what it lacks."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE)
    for heading in ("system", "runs here", "lacks"):
        table.add_column(heading, no_wrap=heading != "lacks")
    device = max(devices(), key=lambda each: (each.width == 2, each.gib or 0))
    for name in SYSTEMS:
        lacking, absent = list(lacks(name, device)), missing_weights(name)
        if absent:
            lacking.append(f"weights, which its first run downloads: {', '.join(absent)}")
        runs = "yes" if not lacking else "after a download" if len(lacking) == 1 and absent else "no"
        table.add_row(name, runs, Text("; ".join(lacking)))
    return table


def lacks(name: str, device: Device) -> Iterator[str]:
    """What keeps a system from running here with its own defaults, beside weights that are not downloaded yet.

    Args:
        name: A name of the registry.
        device: Where it would run.
    """
    try:
        cls = system_class(name)
    except UserError as error:
        yield str(error)
        return
    missing = missing_packages(cls.declaration)
    if missing:
        yield f"packages {', '.join(missing)}: pip install 'musicrs[{cls.declaration.extra}]'"
    try:
        gib = weights_gib(cls, device.width)
    except UserError as error:  # an option without a default, such as a server's name for its model
        yield str(error)
        return
    if device.gib is not None and gib > device.gib:
        yield f"memory: its weights take {gib:.1f} GiB, {device.name} has {device.gib:.1f}"


def missing_weights(name: str) -> list[str]:
    """Repositories of the Hub that the defaults of a system's options name and of which no weights lie in the cache."""
    try:
        cls = system_class(name)
    except UserError:
        return []
    named = [item.default for item in fields(cls.Options) if isinstance(item.default, str)]
    found = [name.partition("@")[0] for name in named if name.partition("@")[0].count("/") == 1]
    return [repository for repository in dict.fromkeys(found) if not is_cached(repository)]


def is_cached(repository: str) -> bool:
    """Whether any weights of a repository lie in the cache of the Hub."""
    snapshots = hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots"
    return any(found for kind in _WEIGHTS for found in snapshots.glob(f"*/{kind}"))


def hub_cache() -> Path:
    """Where the Hub's library keeps what it downloads."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def devices() -> list[Device]:
    """The accelerators, or the CPU where there are none."""
    try:
        import torch
    except ImportError:
        return [_cpu()]
    found = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    if not found and torch.backends.mps.is_available():
        return [Device("Apple GPU (mps)", _cpu().gib, 2)]
    return [Device(each.name, each.total_memory / 2**30, 2) for each in found] or [_cpu()]


def _cpu() -> Device:
    try:
        gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (AttributeError, ValueError, OSError):  # not on Windows
        gib = None
    return Device(f"CPU ({platform.machine()}, {os.cpu_count()} cores)", gib, 4)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
