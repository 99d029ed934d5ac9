"""Rebuild a dataset with the clips of a folder: same threads, pools and source, new audio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import dataset_folder

from ..loading import config_names, iter_threads
from ..pools.files import NamedPools
from ..repo.build import Track, build
from ..repo.manifest import MANIFEST
from ..schema import CONFIGS, base_config
from ..sources import About
from .folder import AudioFolder


def recut(dataset: str | Path, audio: AudioFolder, *, track: Track = iter) -> Path:
    """Replace the clips of a built dataset by the clips of a folder.

    Args:
        dataset: The directory given to `build`, or the folder in it.
        audio: The folder of audio files with its clip plan. Its stored clips are removed at the end.
        track: Wraps the loop over threads, for a progress bar.

    Returns:
        The dataset folder. It is replaced in one step, so a killed command leaves the old dataset.

    Raises:
        UserError: The path is no built dataset, no configuration has audio, or no file of the folder belongs to it.
    """
    folder = dataset_folder(dataset)
    if folder is None:
        raise UserError(f"{dataset}: a name, expected the directory given to `build --out`")
    names = config_names(folder)
    configs = [name for name in CONFIGS if name in names]
    if not any(CONFIGS[name].with_audio for name in configs):
        raise UserError(f"{folder}: none of its configurations carries audio; build it with audio_query or audio_only")
    manifest = _manifest(folder)
    # A configuration with text has all columns of a thread.
    threads = list(iter_threads(folder, min(configs, key=lambda name: not CONFIGS[name].with_text), audio=False))
    audio.check_matches(threads)  # otherwise the build would replace the clips by none
    pools = []
    for name in sorted({name.removeprefix(base_config(name).name).removeprefix("_") for name in names} - {""}):
        config = next(other for other in names if other.endswith(f"_{name}"))
        drawn = {thread.thread_id: thread.candidates for thread in iter_threads(folder, config, audio=False)}
        pools.append(NamedPools(name, drawn, manifest["pools"][name]["pool_file_sha256"]))
    source = manifest["source"]
    about = About(**{**source, "notes": tuple(source["notes"]), "limits": tuple(source["limits"])})
    about = replace(about, loads_as=folder.name)  # the folder may have been renamed
    built = build(
        threads, folder.parent, about=about, configs=configs, pools=pools,
        add_clips=audio.add_clips, clip_plan=audio.plan, track=track,
    )  # fmt: skip
    audio.forget()
    return built


def _manifest(folder: Path) -> Mapping[str, Any]:
    path = folder / MANIFEST
    try:
        manifest: Mapping[str, Any] = strict_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not the manifest of a build ({error}); rebuild the dataset") from error
    return manifest
