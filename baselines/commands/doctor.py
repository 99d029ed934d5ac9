"""Environment report for bugs: versions, devices, memory and disk, and the requirements that each system lacks."""

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
    "openai",
)
_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.pth")


class Device(NamedTuple):
    """A device for models.

    Attributes:
        name: Name of the device.
        gib: Its memory in GiB; None if unknown.
        width: Bytes per number on it: 2 in bfloat16, 4 on a CPU.
    """

    name: str
    gib: float | None
    width: int


def environment_lines() -> Iterator[str]:
    """Yield the environment, one fact per line, for a bug report."""
    yield f"python {platform.python_version()}, {platform.platform()}"
    yield ", ".join(f"{package} {_version(package)}" for package in _PACKAGES)
    for device in devices():
        yield f"device: {device.name}" + ("" if device.gib is None else f", {device.gib:.1f} GiB")
    yield torchcodec_line()
    cache = hub_cache()
    free = shutil.disk_usage(next(path for path in (cache, *cache.parents) if path.exists())).free / 2**30
    yield f"Hub cache: {cache}, {free:.1f} GiB free on its disk"


def torchcodec_line() -> str:
    """Report whether `datasets` can decode clips itself: it needs torchcodec, which needs the libraries of FFmpeg."""
    installed = f"torchcodec {_version('torchcodec')}"
    try:
        importlib.import_module("torchcodec.decoders")
    except ModuleNotFoundError as error:
        fault = "" if error.name == "torchcodec" else f" does not load ({error})"
    except (ImportError, OSError, RuntimeError) as error:
        fault = f" does not load ({str(error).strip().partition(chr(10))[0].strip()})"
    else:
        return installed
    return f"{installed}{fault}; this project reads clips without it, datasets needs Audio(decode=False)"


def systems_table() -> Table:
    """Return a table with one row per system: whether it can run here, and what it lacks."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE)
    for heading in ("system", "runs here", "lacks"):
        table.add_column(heading, no_wrap=heading != "lacks")
    best = max(devices(), key=lambda device: (device.width == 2, device.gib or 0))
    for name in SYSTEMS:
        lacking, absent = list(lacks(name, best)), missing_weights(name)
        if absent:
            lacking.append(f"weights; the first run downloads {', '.join(absent)}")
        runs = "yes" if not lacking else "after a download" if len(lacking) == 1 and absent else "no"
        table.add_row(name, runs, Text("; ".join(lacking)))
    return table


def lacks(name: str, device: Device) -> Iterator[str]:
    """Yield what keeps a system from running here with its defaults, apart from weights that it can download.

    Args:
        name: A name of the registry.
        device: The device that would run it.
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
    except UserError as error:  # an option is required, such as the name of the model on a server
        yield str(error)
        return
    if device.gib is not None and gib > device.gib:
        yield f"memory: its weights take {gib:.1f} GiB, {device.name} has {device.gib:.1f}"


def missing_weights(name: str) -> list[str]:
    """Return the Hub repositories in the default options of a system whose weights are not in the cache."""
    try:
        cls = system_class(name)
    except UserError:
        return []
    defaults = [item.default for item in fields(cls.Options) if isinstance(item.default, str)]
    repositories = [name.partition("@")[0] for name in defaults if name.partition("@")[0].count("/") == 1]
    return [repository for repository in dict.fromkeys(repositories) if not is_cached(repository)]


def is_cached(repository: str) -> bool:
    """Return whether the Hub cache holds weights of a repository."""
    snapshots = hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots"
    return any(path for kind in _WEIGHTS for path in snapshots.glob(f"*/{kind}"))


def hub_cache() -> Path:
    """Return the folder in which the library of the Hub keeps its downloads."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def devices() -> list[Device]:
    """Return the accelerators, or the CPU if there are none."""
    try:
        import torch
    except ImportError:
        return [_cpu()]
    gpus = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    if not gpus and torch.backends.mps.is_available():
        return [Device("Apple GPU (mps)", _cpu().gib, 2)]
    return [Device(gpu.name, gpu.total_memory / 2**30, 2) for gpu in gpus] or [_cpu()]


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
