"""Report of an audit: JSON, Markdown, and one self-contained HTML page."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.base.html import load_template

from .figure import figure
from .results import Audit
from .tables import sections, summary
from .verdict import LEAK_Z

# The Markdown file shows this many rows of tables that list single threads.
_SHOWN_ROWS = 15
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?( ± \d+\.\d+)?|\d+–\d+|–")


@dataclass(frozen=True)
class Subject:
    """Pools that were audited.

    Attributes:
        dataset: Name of the dataset as the user gave it.
        config: Configuration of the dataset.
        pools: Pool file that replaced the pools of the configuration, or None.
    """

    dataset: str
    config: str
    pools: str | None = None

    def __str__(self) -> str:
        return f"{self.dataset}, {self.config}" + (f" with the pools of {self.pools}" if self.pools else "")


def to_dict(audit: Audit, subject: Subject) -> dict[str, Any]:
    """Return the audit in plain JSON types, with its subject and every count that the pages show."""
    counts = {
        "left_over_entities": sum(len(fault.entities) for fault in audit.left_over),
        "left_over_threads": len(audit.left_over),
        "collision_threads": len(audit.collisions),
        "leak_z": LEAK_Z,
    }
    return {**asdict(subject), **counts, **asdict(audit)}


def write_report(folder: str | Path, audit: Audit, subject: Subject) -> list[Path]:
    """Write `audit.json`, `audit.md` and `audit.html`.

    Args:
        folder: Folder to write into; created if missing.
        audit: The audit.
        subject: The audited pools.

    Returns:
        Paths of the three files.
    """
    texts = {
        "audit.json": to_json(to_dict(audit, subject), indent=2) + "\n",
        "audit.md": markdown(audit, subject),
        "audit.html": html(audit, subject),
    }
    for name, text in texts.items():
        write_text(Path(folder) / name, [text])
    return [Path(folder) / name for name in texts]


def markdown(audit: Audit, subject: Subject) -> str:
    """Write the report as Markdown, with the first rows of tables that list single threads."""
    return _render("audit.md.j2", audit, subject, limit=_SHOWN_ROWS)


def html(audit: Audit, subject: Subject) -> str:
    """Write the report as one page that fetches nothing: no scripts, fonts or images."""
    return _render("audit.html.j2", audit, subject, figure=figure(audit), cell_class=_cell_class)


def _render(template: str, audit: Audit, subject: Subject, **values: Any) -> str:
    return load_template(__package__ or "", template).render(
        title=f"Audit of {subject}", summary=summary(audit), fingerprint=audit.fingerprint, sections=sections(audit),
        **values,
    )  # fmt: skip


def _cell_class(text: str) -> str:
    if text in ("leaks", "faulty"):
        return "bad"
    return "number" if _NUMBER.fullmatch(text) else ""
