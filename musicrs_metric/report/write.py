"""Files of a report."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..base.files import to_json, write_text
from ..base.renderers.latex import latex_tables
from ..errors import UserError
from .build import Report
from .draw import draw
from .html import render_html
from .markdown import render_markdown


def write_report(report: Report, folder: Path, step: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Write `report.json`, `report.html`, `report.md`, `report.tex` (tables), and each figure as PNG, SVG and PDF.

    Args:
        report: The report.
        folder: The folder. Files of an earlier report are replaced, other files are kept.
        step: Called with the name of each step.

    Returns:
        The files.

    Raises:
        UserError: The folder cannot be written, or matplotlib is not installed.
    """
    files: dict[str, str | bytes] = {"report.json": to_json(report.data, indent=1) + "\n"}
    drawings = {}
    for figure in report.document.figures():
        step(f"drawing {figure.name}")
        drawn = draw(figure)
        files |= {f"{figure.name}.{form}": image for form, image in drawn.items()}
        drawings[figure.name] = drawn["svg"]
    step("writing")
    files["report.md"] = render_markdown(report.document)
    files["report.tex"] = latex_tables(report.document.tables())
    files["report.html"] = render_html(report.document, drawings, report.sounds)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            _write(folder / name, content)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); name another folder with --out") from error
    return [folder / name for name in files]


def _write(path: Path, content: str | bytes) -> None:
    if isinstance(content, str):
        write_text(path, [content])
        return
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(content)
    os.replace(partial, path)
