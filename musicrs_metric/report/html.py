"""The report as one HTML file that needs nothing else: no network and no script, with drawings and audio inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from importlib import resources
from pathlib import PurePath

from ..base.html import load_template
from ..base.tables import Table
from .document import Document, Figure, Section
from .draw import inline_svg
from .threads import ClipAudio

# Nothing may be loaded and nothing run, whatever the texts of a dataset or a run hold.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
)
_WIDE = 11  # columns from which a table is printed across the page
_MEDIA_TYPES = {".flac": "audio/flac", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".opus": "audio/ogg"}


def render_html(document: Document, drawings: Mapping[str, bytes], sounds: Mapping[str, ClipAudio]) -> str:
    """Write a document as a page.

    Args:
        document: The report.
        drawings: Name of each figure to its SVG.
        sounds: Key of each embedded clip to its audio.

    Returns:
        The text of the file.
    """
    from markupsafe import Markup

    def drawing(figure: Figure) -> Markup:
        return Markup(inline_svg(drawings[figure.name], escape(figure.caption)))  # noqa: S704 - drawn from escaped text

    def media_type(key: str) -> str:
        return _MEDIA_TYPES.get(PurePath(sounds[key].name).suffix.lower(), "audio/wav")

    def audio(key: str) -> str:
        return base64.b64encode(sounds[key].audio).decode()

    return load_template(__package__, "report.html.j2").render(
        document=document,
        policy=_POLICY,
        style=resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8"),
        is_wide=_is_wide,
        drawing=drawing,
        media_type=media_type,
        audio=audio,
    )


def _is_wide(section: Section) -> bool:
    return any(isinstance(block, Table) and len(block.columns) >= _WIDE for block in section.blocks)
