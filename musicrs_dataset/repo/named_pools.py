"""Pools that become configurations of their own, beside those that a dataset was published with."""

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
        name: What stands behind the names of the published configurations, as in `query_only_balanced`.
        pools: Thread id to candidates.
        sha256: Hash of the file that they came from; None where there is none.
    """

    name: str
    pools: Mapping[str, tuple[str, ...]]
    sha256: str | None = None


def read_named_pools(path: Path, name: str | None = None) -> NamedPools:
    """Read a pool file.

    Args:
        path: JSON lines of `{"thread_id", "candidates"}`, as `musicrs_dataset pools` writes them.
        name: Its name; None for the design that its first line or the manifest beside it states.

    Returns:
        The pools.

    Raises:
        UserError: The file is not of that form, or no name is given and no design stated.
    """
    pools = read_pools(path)
    return NamedPools(name or _design(path), pools, file_sha256(path))


def _design(path: Path) -> str:
    stated = next(read_objects(path)).values.get("design")
    manifest = manifest_path(path)
    if stated is None and manifest.is_file():
        try:
            stated = strict_json(manifest.read_text(encoding="utf-8"))["design"]
        except (ValueError, LookupError, TypeError) as error:
            raise UserError(f"{manifest}: not the manifest of a pool file ({error!r}); give --pools-name") from error
    if not isinstance(stated, str):
        raise UserError(f"{path}: states no design to name its configurations by; give --pools-name")
    return stated
