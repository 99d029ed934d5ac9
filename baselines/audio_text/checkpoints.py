"""Checkpoints of transformers, in a folder or on the Hub, and their revisions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

HELP = "a Hub id with or without @REVISION, or a folder as `save_pretrained` writes it"
# The Whisper whose encoder several models use.
WHISPER = "openai/whisper-large-v2"
# Weights without code come first.
_KINDS = ("*.safetensors", "*.bin")
_REST = ("*.json", "*.txt", "*.model", "*.jinja")
_TOKENIZERS = ("tokenizer.*", "vocab.*", "*.model")


class Checkpoint(NamedTuple):
    """A model on disk.

    Attributes:
        folder: Folder for `from_pretrained`.
        revision: Commit of the Hub, or hash of the files of a folder.
    """

    folder: Path
    revision: str


def find_checkpoint(source: str, flag: str = "--weights", *, weights: bool = True) -> Checkpoint:
    """Find a model, and download it if necessary.

    Args:
        source: See `HELP`.
        flag: The option that named it, for messages.
        weights: Whether the weights are needed. If not, only the other files are downloaded, such as configuration and
            tokenizer. The revision is the same.

    Raises:
        UserError: The folder does not exist or has no weights, or the Hub does not provide them.
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


def check_tokenizer(folder: Path) -> None:
    """Check that a folder has a tokenizer. Without one, transformers makes one that knows no word.

    Raises:
        UserError: It has none.
    """
    if not any(file for kind in _TOKENIZERS for file in folder.glob(kind)):
        raise UserError(f"--weights {folder}: no tokenizer in it; expected {HELP}")


@contextmanager
def loading_tokenizer(folder: Path) -> Iterator[None]:
    """Turn errors of a tokenizer into one line.

    Raises:
        UserError: The tokenizer cannot be loaded.
    """
    try:
        yield
    except Exception as error:  # tokenizers raises no other class
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"--weights {folder}: its tokenizer cannot be loaded ({reason}); download it again") from error


def with_weights(checkpoint: Checkpoint, source: str, flag: str = "--weights") -> Checkpoint:
    """Download the weights of a checkpoint that was found without them, at the same revision.

    Args:
        checkpoint: Result of `find_checkpoint`.
        source: Its source.
        flag: The option that named it, for messages.

    Raises:
        UserError: See `find_checkpoint`.
    """
    if Path(source).is_dir():
        return checkpoint
    return find_checkpoint(f"{source.partition('@')[0]}@{checkpoint.revision}", flag)


def _hashed(folder: Path, flag: str) -> Checkpoint:
    weights = next((paths for kind in _KINDS if (paths := sorted(folder.glob(kind)))), [])
    if not weights or not (folder / "config.json").is_file():
        raise UserError(f"{flag} {folder}: no weights or no config.json in it; expected {HELP}")
    others = [file for kind in _REST for file in sorted(folder.glob(kind))]
    nested = [file for kind in (*_REST, *_KINDS) for file in sorted(folder.glob(f"[!.]*/{kind}"))]  # such as adapters
    files = [*others, *weights, *nested]
    states = [file.stat() for file in files]
    keys = tuple((str(file), state.st_size, state.st_mtime_ns) for file, state in zip(files, states, strict=True))
    return Checkpoint(folder, f"sha256:{_hash(folder, keys)}")


@cache
def _hash(folder: Path, files: tuple[tuple[str, int, int], ...]) -> str:
    """Hash files once per path, size and time. The files of a large model take a minute."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        name = Path(path).relative_to(folder).as_posix()
        digest.update(name.encode() + b"\0" + bytes.fromhex(file_sha256(path)))
    return digest.hexdigest()


def _download(name: str, revision: str | None, patterns: list[str], flag: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
    except (OSError, ValueError) as error:  # no network, not in the cache, refused by the Hub
        raise UserError(
            f"{name}: is not in the cache, and the Hub does not provide it ({missing_file_reason(error)}); "
            f"name a folder with {flag}"
        ) from error
