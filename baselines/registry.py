"""The names of the systems and their classes. A system is imported when it is used, not before."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from musicrs_metric.errors import UserError, show, some

from .system import Declaration, System

SYSTEMS = {
    "random": "baselines.systems.random:Random",
    "file_order": "baselines.systems.file_order:FileOrder",
    "popularity": "baselines.systems.popularity:Popularity",
    "neighborhood": "baselines.systems.neighborhood:Neighborhood",
    "lexical": "baselines.systems.lexical:Lexical",
    "minilm": "baselines.systems.minilm:MiniLM",
    "text_encoder": "baselines.systems.text_encoder:TextEncoder",
    "cards": "baselines.systems.cards:Cards",
    "named": "baselines.systems.named:Named",
    "reranker": "baselines.systems.reranker:Reranker",
    "causal_lm": "baselines.systems.causal_lm:CausalLM",
    "descriptors": "baselines.systems.descriptors:Descriptors",
    "clap": "baselines.systems.clap:Clap",
    "collap": "baselines.systems.collap:Collap",
    "pe_audio": "baselines.systems.pe_audio:PeAudio",
    "muq_mulan": "baselines.systems.muq_mulan:MuqMulan",
    "qwen2_audio": "baselines.systems.qwen2_audio:Qwen2Audio",
    "qwen2_5_omni": "baselines.systems.qwen2_5_omni:Qwen25Omni",
    "qwen3_omni": "baselines.systems.qwen3_omni:Qwen3Omni",
    "audio_flamingo3": "baselines.systems.audio_flamingo3:AudioFlamingo3",
    "music_flamingo": "baselines.systems.music_flamingo:MusicFlamingo",
    "phi4_multimodal": "baselines.systems.phi4_multimodal:Phi4Multimodal",
    "salmonn_7b": "baselines.systems.salmonn:Salmonn7B",
    "salmonn_13b": "baselines.systems.salmonn:Salmonn13B",
    "futga": "baselines.systems.futga:Futga",
    "openai_api": "baselines.systems.openai_api:OpenAIApi",
}


def system_class(name: str) -> type[System]:
    """Import a system.

    Args:
        name: A key of `SYSTEMS`, or `package.module:Class` for your own system.

    Raises:
        UserError: The system, module or class does not exist, or the class is not a system.
    """
    if name not in SYSTEMS and ":" not in name:
        close = get_close_matches(name, SYSTEMS, n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise UserError(
            f"no system {show(name)}; {meant}expected one of {', '.join(SYSTEMS)}, a recipe such as fused_text, or "
            "module:Class for a system of your own, such as the one at the top of baselines/system.py; "
            "`python -m baselines list` shows all"
        )
    module_name, _, class_name = SYSTEMS.get(name, name).partition(":")
    try:
        cls = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        hint = "expected package.module:Class"
        if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
            hint += f" in an installed package or in {some(_own_folders())}; set PYTHONPATH to the folder that holds it"
        raise UserError(f"system {show(name)}: {error}; {hint}") from error
    if not (isinstance(cls, type) and issubclass(cls, System) and hasattr(cls, "declaration")):
        raise UserError(f"system {show(name)}: expected a subclass of baselines.system.System with a declaration")
    return cls


def missing_packages(declaration: Declaration) -> list[str]:
    """Return the packages that a system needs and that are not installed, without importing any."""
    return find_spec_missing(declaration.needs)


def find_spec_missing(packages: Iterable[str]) -> list[str]:
    """Return the packages that are not installed, without importing any."""
    return [package for package in packages if find_spec(package) is None]


def _own_folders() -> list[str]:
    """Return the import path without installed packages: usually the current folder and PYTHONPATH."""
    folders = (Path(folder).resolve() for folder in sys.path)
    installed = tuple(Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix))
    own = (str(folder) for folder in folders if not any(folder.is_relative_to(prefix) for prefix in installed))
    return list(dict.fromkeys(own))
