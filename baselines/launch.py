"""From names and arguments to a system that can be run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import Modality

from .options import parse_options
from .registry import missing_packages, system_class
from .run.guard import attribute_errors
from .run.missing_audio import choose_policy
from .system import Context, MissingAudio, System


def build_system(
    name: str,
    modality: str | None,
    arguments: Sequence[str] = (),
    seed: int = 0,
    cache: Path | None = None,
    missing_audio: MissingAudio | None = None,
) -> System:
    """Make a system; nothing heavy is loaded.

    Args:
        name: See `baselines.registry.system_class`.
        modality: What of a thread it is given; None where it has only one.
        arguments: Its options, as on the command line.
        seed: Seed of everything random.
        cache: Folder for embeddings; None keeps them in memory.
        missing_audio: What is done with a thread without clips; None for the default of `baselines.run.missing_audio`.

    Raises:
        UserError: No such system or option, a modality that it does not have, a choice of modalities and none made,
            a policy for clips where there are none, a package that it needs and that is not installed, or an error in
            the system's own code.
    """
    cls = system_class(name)
    declared = cls.declaration
    known = ", ".join(declared.modalities)
    if modality is None and len(declared.modalities) > 1:
        raise UserError(f"--modality: {declared.name} has several, name one of {known}")
    if modality is not None and modality not in declared.modalities:
        raise UserError(f"--modality {modality}: {declared.name} does not have it, only {known}")
    with attribute_errors(declared.name, "Options"):
        options = parse_options(cls.Options, arguments, declared.name)
    missing = missing_packages(declared)
    if missing:
        raise UserError(f"{declared.name} needs {', '.join(missing)}; pip install 'musicrs[{declared.extra}]'")
    given = cast(Modality, modality or known)
    policy = choose_policy(cls, given, missing_audio)
    with attribute_errors(declared.name, "__init__"):
        return cls(options, Context(modality=given, seed=seed, cache=cache, missing_audio=policy))


def default_cache() -> Path:
    """Where Hugging Face libraries keep what can be made again: `HF_HOME/assets`, in a folder of this project."""
    from huggingface_hub import cached_assets_path

    return cached_assets_path(library_name="musicrs", namespace="baselines", subfolder="vectors")
