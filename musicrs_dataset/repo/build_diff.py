"""Compare a new build with the dataset that it replaces, and list the losses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import some

from .manifest import MANIFEST


def manifest_of(folder: Path) -> dict[str, Any] | None:
    """Read the manifest of a dataset folder; None if it is missing or unreadable."""
    try:
        values = strict_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) and isinstance(values.get("configs"), dict) else None


def lost_in_rebuild(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[str]:
    """List the contents of a replaced dataset that the new dataset lacks or changes.

    Args:
        before: Manifest of the replaced dataset, or None.
        after: Manifest of the new dataset, or None.

    Yields:
        One sentence per loss.
    """
    if before is None or after is None:
        return
    lost = [name for name in before["configs"] if name not in after["configs"]]
    if lost:
        yield f"replaced a dataset that also had the configurations {some(lost)}"
    if before.get("audio_sha256") and not after.get("audio_sha256"):
        yield "replaced a dataset with audio by one without; build with --audio to keep the clips"
    changed = [
        name
        for name, config in after["configs"].items()
        if name in before["configs"] and before["configs"][name].get("fingerprint") != config["fingerprint"]
    ]
    if changed:
        yield f"replaced a dataset with other threads, pools or labels in {some(changed)}"
