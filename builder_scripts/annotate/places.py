"""Where the annotation of a corpus lies in its work folder. What names annotators is private, the rest is gold."""

from __future__ import annotations

from pathlib import Path

from ..layout import Work


def worklist(work: Work) -> Path:
    """The threads to judge."""
    return work.gold / "worklist.jsonl"


def answers(work: Work) -> Path:
    """Folder of the annotators' files."""
    return work.root / "private" / "annotations"


def agreement(work: Work) -> Path:
    """Folder of what `agree` writes."""
    return work.root / "private" / "agreement"
