"""Templates of pages and Markdown files (jinja2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


def load_template(package: str, name: str) -> Template:
    """Load a template from the folder `templates` of a package.

    In `*.html.j2` every value is escaped for HTML. In other templates nothing is; the filter `md` escapes a value for
    Markdown. An undefined name is an error. `{% from "table.html.j2" import table %}` gives the macro that writes a
    `musicrs_metric.base.tables.Table` as HTML.

    Args:
        package: The package, usually `__package__`.
        name: The file name of the template.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape

    from .text import escape_markdown

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=select_autoescape(["html.j2"]),  # checks how the name ends
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escape_markdown
    return environment.get_template(name)
