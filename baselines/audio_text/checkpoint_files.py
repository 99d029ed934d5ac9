"""Checkpoints of one file, on disk or on the Hub, and their revisions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

HELP = "a Hub id with or without @REVISION, the checkpoint file, or its folder"
# No hub has BEATs.
BEATS_SOURCE = "https://github.com/microsoft/unilm/tree/master/beats"


class CheckpointFile(NamedTuple):
    """One file of a model.

    Attributes:
        path: Path of the file.
        revision: Commit of the Hub, or hash of the file.
    """

    path: Path
    revision: str


def find_checkpoint_file(source: str, name: str) -> CheckpointFile:
    """Find a checkpoint of one file, and download it if necessary.

    Args:
        source: Value of `--weights`; see `HELP`.
        name: Name of the file, in a folder or on the Hub.

    Raises:
        UserError: The file does not exist, or the Hub does not provide it.
    """
    from huggingface_hub import hf_hub_download

    path = Path(source)
    if path.exists():
        return hash_checkpoint_file(path / name if path.is_dir() else path)
    repository, _, revision = source.partition("@")
    if repository.count("/") != 1 or repository.startswith((".", "/")):
        raise UserError(f"--weights {source}: no such file; expected {HELP}")
    try:
        path = Path(hf_hub_download(repository, name, revision=revision or None))
    except (OSError, ValueError) as error:  # no network, not in the cache, refused by the Hub
        raise UserError(
            f"{repository}: {name} is not in the cache, and the Hub does not provide it "
            f"({missing_file_reason(error)}); "
            "name the file with --weights"
        ) from error
    return CheckpointFile(path, path.parent.name)  # snapshots are named by their commit


def find_beats(source: str | None) -> CheckpointFile:
    """Find the checkpoint of BEATs that `--beats` names.

    Raises:
        UserError: The option is missing, or the file cannot be read.
    """
    if source is None:
        raise UserError(f"--beats: expected a checkpoint of BEATs; download one from {BEATS_SOURCE}")
    return hash_checkpoint_file(Path(source), "--beats")


def hash_checkpoint_file(path: Path, flag: str = "--weights") -> CheckpointFile:
    """Hash a checkpoint file on disk.

    Args:
        path: The file.
        flag: The option that named it, for messages.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        return CheckpointFile(path, f"sha256:{file_sha256(path)}")
    except OSError as error:
        raise UserError(f"{flag} {path}: cannot be read ({error.strerror})") from error
