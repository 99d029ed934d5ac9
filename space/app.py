"""The page, wired: an address comes in, the parts that it names go out. `views` renders, `board` knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from .views.address import TABS, Address
from .views.page import Page

_HERE = Path(__file__).parent
_ATTACH = "space.attach(element, trigger, server)"


def wire(page: Page) -> gr.Blocks:
    """Make the page.

    Args:
        page: What it shows.
    """
    with gr.Blocks(title="MusiCRS leaderboard", analytics_enabled=False) as blocks:
        frame = _sheet(elem_id="frame", js_on_load=_ATTACH, server_functions=[])
        tabs: dict[str, gr.Column] = {}
        shown: dict[str, Any] = {}
        for name in TABS:
            with gr.Column(visible=name == TABS[0], elem_id=f"tab-{name}", elem_classes="tab") as tabs[name]:
                shown[name] = _sheet()
                if name == "compare":
                    scatter = gr.Plot(show_label=False, elem_id="scatter", visible=False)
                    gains = _sheet()
                if name == "genres":
                    figure = gr.Plot(show_label=False, elem_id="by-genre")
        drawer = _sheet(elem_id="drawer")

        def show(given: Mapping[str, Any]) -> dict[Any, Any]:
            here = page.settle(Address.read(given))
            made: dict[Any, Any] = {tab: gr.update(visible=name == here.tab) for name, tab in tabs.items()}
            made |= {frame: page.frame(here), drawer: ""}
            match here.tab:
                case "leaderboard":
                    made |= {shown["leaderboard"]: page.leaderboard(here), drawer: page.details(here)}
                case "compare":
                    html, plot = page.compare(here)
                    made |= {shown["compare"]: html, gains: page.gains(here)}
                    made |= {scatter: gr.update(value=plot, visible=plot is not None)}
                case "genres":
                    html, plot = page.genres(here)
                    made |= {shown["genres"]: html, figure: plot}
                case "threads":
                    made[shown["threads"]] = page.threads(here)
                case "about":
                    made[shown["about"]] = page.about(here)
            return made

        def navigate(event: gr.EventData) -> dict[Any, Any]:
            return show(event._data or {})

        def arrive(request: gr.Request) -> dict[Any, Any]:
            return show(dict(request.query_params))

        outputs = [frame, drawer, *tabs.values(), *shown.values(), scatter, gains, figure]
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "queue": False}
        after: dict[str, Any] = {"js": "() => space.shown()"}
        frame.input(navigate, None, outputs, trigger_mode="multiple", **quiet).then(None, **after)
        blocks.load(arrive, None, outputs, **quiet).then(None, **after)
    return blocks


def _sheet(*, js_on_load: str | None = None, **options: Any) -> gr.HTML:
    """A part of the page; what stands in it is laid out by `page.css` alone."""
    return gr.HTML(js_on_load=js_on_load, apply_default_css=False, elem_classes="sheet", **options)


def launch_options(page: Page) -> dict[str, Any]:
    """What `gr.Blocks.launch` needs to serve the page as it is meant to look."""
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return {
        # Not as `css`: Gradio writes a prefix before every comma, also before those within `:is(...)`.
        "head": f"<style>{style}</style><script>{script}</script>",
        "theme": gr.themes.Base(
            primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
        ),
        "allowed_paths": [str(page.conversations.folder)],
        "ssr_mode": False,
        "show_error": True,
        "footer_links": ["api"],
    }
