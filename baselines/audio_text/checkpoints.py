"""Where a model's weights come from, and what to call exactly these."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

HELP = "a Hub id, with @REVISION if need be, or a folder as `save_pretrained` writes it"
# The Whisper whose encoder several models hear through.
WHISPER = "openai/whisper-large-v2"
# Weights without code in them are taken where there are any.
_KINDS = ("*.safetensors", "*.bin")
_REST = ("*.json", "*.txt", "*.model", "*.jinja")


class Checkpoint(NamedTuple):
    """A model on disk.

    Attributes:
        folder: What `from_pretrained` takes.
        revision: The Hub's commit, or the hash of the files where they come from a folder.
    """

    folder: Path
    revision: str


def find_checkpoint(source: str, flag: str = "--weights", *, weights: bool = True) -> Checkpoint:
    """Find a model, and download it where need be.

    Args:
        source: See `HELP`.
        flag: The option that named it, for messages.
        weights: Whether the weights are needed; otherwise no more is downloaded than what lies beside them, such as
            configuration and tokenizer. The revision is the same.

    Raises:
        UserError: No such folder, no weights in it, or the Hub does not give them.
    """
    if Path(source).is_dir():
        return _hashed(Path(source), flag)
    name, _, revision = source.partition("@")
    if name.count("/") != 1 or name.startswith((".", "/")):
        raise UserError(f"{flag} {source}: no such folder; expected {HELP}")
    if not weights:
        folder = _download(name, revision or None, list(_REST), flag)
        return Checkpoint(folder, folder.name)
    for kind in _KINDS:
        folder = _download(name, revision or None, [*_REST, kind], flag)
        if any(folder.glob(kind)):
            return Checkpoint(folder, folder.name)  # snapshots are named by their commit
    raise UserError(f"{flag} {source}: no {' or '.join(_KINDS)} in it; expected {HELP}")


def with_weights(checkpoint: Checkpoint, source: str, flag: str = "--weights") -> Checkpoint:
    """The weights of a model that was found without: of the same revision, even if the Hub has a newer one by now.

    Args:
        checkpoint: What `find_checkpoint` found.
        source: What it was asked for.
        flag: The option that named it, for messages.

    Raises:
        UserError: See `find_checkpoint`.
    """
    if Path(source).is_dir():
        return checkpoint
    return find_checkpoint(f"{source.partition('@')[0]}@{checkpoint.revision}", flag)


def _hashed(folder: Path, flag: str) -> Checkpoint:
    weights = next((found for kind in _KINDS if (found := sorted(folder.glob(kind)))), [])
    if not weights or not (folder / "config.json").is_file():
        raise UserError(f"{flag} {folder}: no weights or no config.json in it; expected {HELP}")
    beside = [file for kind in _REST for file in sorted(folder.glob(kind))]
    below = [file for kind in (*_REST, *_KINDS) for file in sorted(folder.glob(f"[!.]*/{kind}"))]  # such as adapters
    files = [*beside, *weights, *below]
    states = [file.stat() for file in files]
    seen = tuple((str(file), state.st_size, state.st_mtime_ns) for file, state in zip(files, states, strict=True))
    return Checkpoint(folder, f"sha256:{_hash(folder, seen)}")


@cache
def _hash(folder: Path, files: tuple[tuple[str, int, int], ...]) -> str:
    """Hash of files as they are now, by path, size and time; those of a large model take a minute."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        name = Path(path).relative_to(folder).as_posix()
        with open(path, "rb") as stream:
            digest.update(name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _download(name: str, revision: str | None, patterns: list[str], flag: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
    except (OSError, ValueError) as error:  # no network, not in the cache, refused by the Hub
        raise UserError(
            f"{name}: not in the cache and not to be had from the Hub ({missing_file_reason(error)}); "
            f"name a folder with {flag}"
        ) from error
