"""Cache of vectors on disk, one file per model, keyed by a hash of the embedded content."""

from __future__ import annotations

import logging
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from musicrs_metric.base.files import replacing_derived

Vectors = npt.NDArray[np.float32]

_log = logging.getLogger(__name__)
# A killed run loses at most the vectors of this time.
SAVE_EVERY_S = 30.0


class VectorCache:
    """Vectors of one model by the sha256 of the embedded content.

    Several processes may share a file. Each reads it once, and `save` adds to the vectors that the others saved.

    Args:
        file: An .npz file, which need not exist; None keeps the vectors in memory only.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._vectors: dict[bytes, Vectors] = {} if file is None else _read(file)
        self._unsaved: set[bytes] = set()
        self._saved_at = time.monotonic()

    def fetch(self, keys: Sequence[bytes], compute: Callable[[list[int]], Vectors]) -> Vectors:
        """Look up vectors, and compute each missing one once.

        Args:
            keys: n sha256 digests of 32 bytes, repeats allowed; n at least 1.
            compute: Maps m indices of `keys` to shape (m, d).

        Returns:
            Shape (n, d), in the order of `keys`.
        """
        missing = {key: index for index, key in enumerate(keys) if key not in self._vectors}
        if missing:
            self._vectors.update(zip(missing, compute(list(missing.values())), strict=True))
            self._unsaved.update(missing)
            if time.monotonic() - self._saved_at > SAVE_EVERY_S:
                self.save()
        return np.stack([self._vectors[key] for key in keys])

    def save(self) -> None:
        """Write new vectors, if there are any."""
        if self._file is None or not self._unsaved:
            return
        from filelock import FileLock

        self._file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._file.with_suffix(".lock")):
            vectors = _read(self._file) | {key: self._vectors[key] for key in self._unsaved}
            _write(self._file, vectors)
        self._unsaved.clear()
        self._saved_at = time.monotonic()


def _read(file: Path) -> dict[bytes, Vectors]:
    if not file.exists():
        return {}
    try:
        with np.load(file, allow_pickle=False) as stored:
            keys, vectors = stored["keys"], stored["vectors"]
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        _log.warning("%s: not readable (%s); its vectors are computed again", file, error)
        return {}
    return {key.tobytes(): vector for key, vector in zip(keys, vectors, strict=True)}


def _write(file: Path, vectors: dict[bytes, Vectors]) -> None:
    keys = np.frombuffer(b"".join(vectors), dtype=np.uint8).reshape(len(vectors), -1)
    with replacing_derived(file) as stream:
        np.savez(stream, keys=keys, vectors=np.stack(list(vectors.values())))
