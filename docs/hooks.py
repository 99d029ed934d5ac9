"""Hooks of the documentation site: pages made from code and from other files, formulas, and a check for foreign URLs.

`mkdocs.yml` names this file. It needs no network, and the pages that it makes need none either.
"""

from __future__ import annotations

import html
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # `mkdocs build` from anywhere finds the rooms

ROOMS = ("musicrs_dataset", "musicrs_metric", "baselines", "space", "builder_scripts")
# Files outside docs/ that are pages of the site.
COPIES = {
    "metric_card.md": "musicrs_metric/README.md",
    "space_card.md": "space/README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}
_PAGE_OF = {source: page for page, source in COPIES.items()}
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_MATH = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
_LOADED = re.compile(r'<(?:link|script|img|iframe|source)\b[^>]*?(?:href|src)="(?:https?:)?//[^"]*"[^>]*>')
_IMPORTED = re.compile(r"@import\s+(?:url\()?[\"']?(?:https?:)?//|url\([\"']?(?:https?:)?//")


def on_files(files: Any, config: Any) -> Any:
    """Add the command reference and the copies of files outside docs/."""
    for room in ROOMS:
        files.append(File.generated(config, f"commands/{room}.md", content=command_page(room)))
    for page, source in COPIES.items():
        text = re.sub(r"\A---\n.*?\n---\n+", "", (ROOT / source).read_text(encoding="utf-8"), flags=re.DOTALL)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files of the repository into links to their pages, or into plain text where there is no page."""
    here = page.file.src_uri
    source = COPIES.get(here, f"docs/{here}")

    def replace(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        if re.match(r"[a-z]+:", target):
            return match[0]
        path = normpath(f"{dirname(source)}/{target}")
        page_path = _PAGE_OF.get(path, path.removeprefix("docs/"))
        if path in _PAGE_OF or path.startswith("docs/"):
            return f"[{text}]({relpath(page_path, dirname(here) or '.')}{anchor})"
        return text if text.startswith("`") else f"`{path}`"

    return _LINK.sub(replace, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers show without a script."""
    from latex2mathml.converter import convert

    def replace(match: re.Match[str]) -> str:
        return convert(html.unescape(match[3]).strip(), display="block" if match[2] == "[" else "inline")

    return _MATH.sub(replace, content)


def on_post_build(config: Any, **_: Any) -> None:
    """Refuse a site that loads anything from another host."""
    site = Path(config["site_dir"])
    faults = [
        f"{path.relative_to(site)}: {match[0][:120]}"
        for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")])
        for match in (_LOADED if path.suffix == ".html" else _IMPORTED).finditer(path.read_text(encoding="utf-8"))
        if 'rel="canonical"' not in match[0]
    ]
    if faults:
        raise PluginError("pages load files from other hosts:\n" + "\n".join(faults))


def command_page(room: str) -> str:
    """Write the reference of a room's command line in Markdown, from the typer application itself.

    Args:
        room: The package, such as "baselines".
    """
    parts = [f"# python -m {room}\n"]
    for name, command, context in commands(room):
        if name:
            parts.append(f"## {name}\n")
        parts.append(_text(command.help or "") + "\n")
        if not hasattr(command, "commands") or command.invoke_without_command:
            parts.append(f"```\n{_usage(command, context)}\n```\n")
        parts.append(_parameters(command, context))
    if room == "baselines":
        parts.append("Each system has options of its own: `python -m baselines show MODEL` lists them.\n")
    return "\n".join(part for part in parts if part.strip())


def commands(room: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the command and its context, for each command of a room, the application itself first.

    Args:
        room: The package.
    """
    from typer.main import get_command

    app = get_command(importlib.import_module(f"{room}.cli").app)
    yield from _walk(app, app.make_context(f"python -m {room}", [], resilient_parsing=True), "")


def _walk(command: Any, context: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    yield name, command, context
    for child_name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            child_context = child.make_context(child_name, [], parent=context, resilient_parsing=True)
            yield from _walk(child, child_context, f"{name} {child_name}".strip())


def _usage(command: Any, context: Any) -> str:
    return " ".join(command.get_usage(context).removeprefix("Usage: ").split())


def _parameters(command: Any, context: Any) -> str:
    """Return the table of arguments and options, without --help."""
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            rows.append(f"| `{_cell(record[0])}` | {_cell(_text(record[1]))} |")
    return "\n".join(["| argument or option | meaning |", "|---|---|", *rows, ""]) if rows else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _text(text: str) -> str:
    """Return a help text as Markdown: nothing in it is markup but code in backticks."""
    pieces = re.split(r"(`[^`]*`)", text.replace("\b", ""))
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([\[\]*_<>])", r"\\\1", piece).replace("\\<", "&lt;")
        for piece in pieces
    )
