"""The page, wired: an address comes in, the parts that it names go out. `views` renders, `desk` and `board` know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from musicrs_metric.errors import UserError

from .factory import make_service
from .service import LeaderboardService
from .settings import LeaderboardSettings
from .views.address import TABS, Address
from .views.conversations import Conversations
from .views.leaderboard import download
from .views.page import Page
from .views.submit import intro
from .web.api import caller_at, expose, in_one_sentence
from .web.errors import handlers
from .web.middleware import Blocks, RequestLimits
from .web.public import PublicRoutes
from .web.submit_form import SubmitPanel

_HERE = Path(__file__).parent
_HOUR_S = 3_600  # after which an upload is removed from the disk; what was taken lies in the store


def build(service: LeaderboardService, page: Page) -> gr.Blocks:
    """Make the page and the endpoints for programs.

    Args:
        service: The board with its limits.
        page: What is shown of it.
    """

    def file(asked: Any) -> dict[str, str]:
        with in_one_sentence():
            named = _names(asked)
            return download(
                service, page.normalise_address(Address.read(_names(named.get("address")))), named.get("what")
            )

    with Blocks(title="MusiCRS leaderboard", analytics_enabled=False, delete_cache=(_HOUR_S, _HOUR_S)) as blocks:
        header = html_panel(
            elem_id="frame", js_on_load="space.attach(element, trigger, server)", server_functions=[file]
        )
        tabs: dict[str, gr.Column] = {}
        sheets: dict[str, gr.HTML] = {}
        plots: dict[str, gr.Plot] = {}
        below: dict[str, gr.HTML] = {}
        for name in TABS:
            with gr.Column(visible=name == TABS[0], elem_id=f"tab-{name}", elem_classes="tab") as tabs[name]:
                sheets[name] = html_panel()
                if name in ("compare", "genres"):
                    plots[name] = gr.Plot(show_label=False, container=False, elem_id=f"plot-{name}")
                    below[name] = html_panel()
                if name == "submit":
                    SubmitPanel(service, html_panel)
        drawer, notice = html_panel(elem_id="drawer"), html_panel(elem_id="notice")
        single = {"leaderboard": page.leaderboard, "threads": page.threads, "about": page.about}
        said = intro(len(service.board.data.designs[0].references), service.settings.limits)

        def show(given: Mapping[str, Any], request: gr.Request) -> dict[Any, Any]:
            asked = Address.read(given)
            address = page.normalise_address(asked)
            made: dict[Any, Any] = {tab: gr.update(visible=name == address.tab) for name, tab in tabs.items()}
            made |= {header: page.header(address, asked, Address.unknown(given)), drawer: page.details(address)}
            made[notice] = page.for_owners() if _is_owner(service, request) else ""
            if address.tab == "submit":
                made[sheets["submit"]] = said
            elif address.tab in plots:
                shown = page.compare(address) if address.tab == "compare" else page.genres(address)
                made[sheets[address.tab]], made[below[address.tab]] = shown.above, shown.below
                made[plots[address.tab]] = gr.update(value=shown.figure, visible=shown.figure is not None)
            else:
                made[sheets[address.tab]] = single[address.tab](address)
            return made

        def navigate(event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
            with in_one_sentence():
                return show(_names(event._data), request)

        def arrive(request: gr.Request) -> dict[Any, Any]:
            with in_one_sentence():
                return show(dict(request.query_params), request)

        outputs = [header, drawer, notice, *tabs.values(), *sheets.values(), *plots.values(), *below.values()]
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "queue": False}
        for event, answer in ((header.input, navigate), (blocks.load, arrive)):
            event(answer, None, outputs, trigger_mode="multiple", **quiet).then(None, js="() => space.shown()")
        expose(service)
    blocks.queue(max_size=None, default_concurrency_limit=None)
    return blocks


def serve(settings: LeaderboardSettings, *, host: str, port: int) -> None:
    """Serve the leaderboard until it is stopped.

    Args:
        settings: Which leaderboard.
        host: Address to listen on.
        port: Port to listen on.

    Raises:
        UserError: The dataset cannot be read, or the port is taken.
    """
    service = make_service(settings)
    service.board.snapshot()  # the first reader need not wait
    page = Page(service.board, Conversations(settings.dataset))
    try:
        build(service, page).launch(server_name=host, server_port=port, **launch_options(service, page))
    except OSError as error:
        raise UserError(f"port {port} of {host} cannot be used; it may be taken: give another with --port") from error


def launch_options(service: LeaderboardService, page: Page) -> dict[str, Any]:
    """What `gr.Blocks.launch` needs to serve the page as it is meant to look, and no more than it is meant to give.

    Args:
        service: The board with its limits.
        page: Whose clips may be fetched.
    """
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    fonts = {"font": ["system-ui", "sans-serif"], "font_mono": ["ui-monospace", "monospace"]}
    return {
        # Not as `css`: Gradio writes a prefix before every comma, also before those within `:is(...)`.
        "head": f"<style>{style}</style><script>{script}</script>",
        # No font of the theme's own is fetched from elsewhere, and its soft text and its button can be read.
        "theme": gr.themes.Base(primary_hue="blue", **fonts).set(
            body_text_color_subdued="*neutral_600",
            button_primary_background_fill="*primary_600",
            button_primary_background_fill_hover="*primary_700",
        ),
        "allowed_paths": [str(page.conversations.folder)],
        "max_file_size": service.settings.limits.upload_bytes,
        "app_kwargs": {
            "routes": PublicRoutes(service).routes(),
            "exception_handlers": handlers(),
            "middleware": [Middleware(RequestLimits, service=service)],
        },
        "enable_monitoring": False,  # its page is open to all, and prints the address of another into the log
        "footer_links": ["api"],
        "ssr_mode": False,
        "show_error": True,
    }


def _is_owner(service: LeaderboardService, request: gr.Request) -> bool:
    return caller_at(service, request) in {f"user {name}" for name in service.settings.owners}


def _names(sent: Any) -> Mapping[str, Any]:
    """Names and values as somebody sent them; whatever else was sent names nothing."""
    return sent if isinstance(sent, dict) else {}


def html_panel(*, js_on_load: str | None = None, **options: Any) -> gr.HTML:
    """A part of the page; what stands in it is laid out by `page.css` alone."""
    return gr.HTML(js_on_load=js_on_load, apply_default_css=False, elem_classes="sheet", **options)
