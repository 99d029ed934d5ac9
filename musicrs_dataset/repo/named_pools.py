"""Pools that become configurations of their own, in addition to the published pools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from musicrs_metric.base.files import strict_json
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.errors import UserError

from ..jsonl import read_objects
from ..pools.files import manifest_path, read_pools


@dataclass(frozen=True)
class NamedPools:
    """Pools with the name of their configurations.

    Attributes:
        name: Suffix of the configuration names, as in `query_only_balanced`.
        pools: Thread id to candidates.
        sha256: Hash of the pool file; None without a file.
    """

    name: str
    pools: Mapping[str, tuple[str, ...]]
    sha256: str | None = None


def read_named_pools(path: Path, name: str | None = None) -> NamedPools:
    """Read a pool file.

    Args:
        path: JSON lines of `{"thread_id", "candidates"}`, as `musicrs_dataset pools` writes them.
        name: Name of the pools; None for the pool design in the first line or in the manifest of the file.

    Returns:
        The pools.

    Raises:
        UserError: The file has another form, or neither a name nor a pool design is given.
    """
    pools = read_pools(path)
    return NamedPools(name or _design(path), pools, file_sha256(path))


def _design(path: Path) -> str:
    design = next(read_objects(path)).values.get("design")
    manifest = manifest_path(path)
    if design is None and manifest.is_file():
        try:
            design = strict_json(manifest.read_text(encoding="utf-8"))["design"]
        except (ValueError, LookupError, TypeError) as error:
            raise UserError(f"{manifest}: not the manifest of a pool file ({error!r}); give --pools-name") from error
    if not isinstance(design, str):
        raise UserError(f"{path}: found no pool design to name its configurations; give --pools-name")
    return design
