"""Make a system from its name and its command line arguments."""

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
    """Make a system without loading its model.

    Args:
        name: See `baselines.registry.system_class`.
        modality: Data of a thread that the system uses; None if the system has only one modality.
        arguments: Options of the system, as on the command line.
        seed: Seed of all random choices.
        cache: Folder for embeddings; None keeps them in memory.
        missing_audio: Policy for threads without clips; None for the default of `baselines.run.missing_audio`.

    Raises:
        UserError: The system or an option does not exist, the system does not have the modality or has several and
            none was chosen, the policy has no clips to apply to, a package is missing, or the code of the system
            raised an error.
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
    chosen = cast(Modality, modality or known)
    policy = choose_policy(cls, chosen, missing_audio)
    with attribute_errors(declared.name, "__init__"):
        return cls(options, Context(modality=chosen, seed=seed, cache=cache, missing_audio=policy))


def default_cache() -> Path:
    """Return `HF_HOME/assets/musicrs/baselines/vectors`, where Hugging Face libraries keep what can be rebuilt."""
    from huggingface_hub import cached_assets_path

    return cached_assets_path(library_name="musicrs", namespace="baselines", subfolder="vectors")
