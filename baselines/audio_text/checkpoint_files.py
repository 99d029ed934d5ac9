"""Checkpoints that are one file, on a disk or in a repository of the Hub, and what to call exactly these."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from musicrs_dataset.sources import file_sha256
from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

HELP = "a Hub id, with @REVISION if need be, the checkpoint file, or the folder that it lies in"
# BEATs lies on no hub that could be asked for it.
BEATS_SOURCE = "https://github.com/microsoft/unilm/tree/master/beats"


class CheckpointFile(NamedTuple):
    """One file of a model.

    Attributes:
        path: Where it is.
        revision: The Hub's commit, or the file's hash.
    """

    path: Path
    revision: str


def find_file(source: str, name: str) -> CheckpointFile:
    """Find a checkpoint of one file, and download it where need be.

    Args:
        source: What `--weights` says; see `HELP`.
        name: Name of the file, in a folder or on the Hub.

    Raises:
        UserError: It is not there, or the Hub does not give it.
    """
    from huggingface_hub import hf_hub_download

    path = Path(source)
    if path.exists():
        return on_disk(path / name if path.is_dir() else path)
    repository, _, revision = source.partition("@")
    if repository.count("/") != 1 or repository.startswith((".", "/")):
        raise UserError(f"--weights {source}: no such file; expected {HELP}")
    try:
        path = Path(hf_hub_download(repository, name, revision=revision or None))
    except (OSError, ValueError) as error:  # no network, not in the cache, refused by the Hub
        raise UserError(
            f"{repository}: {name} not in the cache and not to be had from the Hub ({missing_file_reason(error)}); "
            "name the file with --weights"
        ) from error
    return CheckpointFile(path, path.parent.name)  # snapshots are named by their commit


def find_beats(source: str | None) -> CheckpointFile:
    """Find the checkpoint of BEATs that `--beats` names.

    Raises:
        UserError: None is named, or the file cannot be read.
    """
    if source is None:
        raise UserError(f"--beats: expected a checkpoint of BEATs, to be downloaded from {BEATS_SOURCE}")
    return on_disk(Path(source), "--beats")


def on_disk(path: Path, flag: str = "--weights") -> CheckpointFile:
    """A file as it is now.

    Args:
        path: Where it is.
        flag: The option that named it, for messages.

    Raises:
        UserError: It cannot be read.
    """
    try:
        return CheckpointFile(path, f"sha256:{file_sha256(path)}")
    except OSError as error:
        raise UserError(f"{flag} {path}: cannot be read ({error.strerror})") from error
