"""Gradio app of the leaderboard: reads the URL, renders what it names with `views`, and serves the endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import LRUCache
from starlette.middleware import Middleware

from musicrs_metric.errors import UserError

from .factory import make_service
from .service import LeaderboardService
from .settings import LeaderboardSettings
from .views.address import TABS, Address
from .views.dataset_threads import DatasetThreads
from .views.event_list import event_list
from .views.html import Html, join
from .views.leaderboard import download
from .views.page import Page
from .views.submit import intro
from .web.api import caller_at, expose, in_one_sentence
from .web.change_form import ChangePanel
from .web.errors import handlers
from .web.link_previews import LinkPreviews, picture_route
from .web.middleware import Blocks, RequestLimits
from .web.public import PublicRoutes
from .web.slow_connections import ConnectionLimits, limited_connections
from .web.submit_form import SubmitPanel

_FOLDER = Path(__file__).parent
_PENDING_ANSWERS = 256
_EVENTS = 50  # shown to leaderboard owners
_HOUR_S = 3_600  # age at which gradio deletes an upload from the disk; submissions are in the store


def build(service: LeaderboardService, page: Page, older: Mapping[str, Page] = {}) -> gr.Blocks:
    """Build the page and the endpoints for programs.

    Args:
        service: The leaderboard.
        page: Renders the tabs.
        older: Version of the data to the page that renders it.
    """

    def page_of(address: Address) -> Page:
        return older.get(address.data, page)

    def for_owners(page: Page) -> Html:
        return join(page.for_owners(service.storage_problem()), event_list(service.events.latest(_EVENTS)))

    def file(sent: Any) -> dict[str, str]:
        with in_one_sentence():
            values = _mapping(sent)
            requested = Address.read(_mapping(values.get("address")))
            address = page_of(requested).normalise_address(requested)
            return download(service, address, values.get("what"))

    with Blocks(title="MusiCRS leaderboard", analytics_enabled=False, delete_cache=(_HOUR_S, _HOUR_S)) as blocks:
        with_plot = {"compare": Page.compare, "genres": Page.genres, "trends": Page.trends}
        header = html_panel(
            elem_id="frame", js_on_load="space.attach(element, trigger, server)", server_functions=[file]
        )
        tabs: dict[str, gr.Column] = {}
        panels: dict[str, gr.HTML] = {}
        plots: dict[str, gr.Plot] = {}
        below: dict[str, gr.HTML] = {}
        for name in TABS:
            with gr.Column(visible=name == TABS[0], elem_id=f"tab-{name}", elem_classes="tab") as tabs[name]:
                panels[name] = html_panel()
                if name in with_plot:
                    plots[name] = gr.Plot(show_label=False, container=False, elem_id=f"plot-{name}")
                    below[name] = html_panel()
                if name == "submit":
                    SubmitPanel(service, html_panel)
                    ChangePanel(service, html_panel)
        drawer, notice = html_panel(elem_id="drawer"), html_panel(elem_id="notice")
        without_plot = {"leaderboard": Page.leaderboard, "threads": Page.threads, "about": Page.about}
        introduction = intro(len(service.board.data.designs[0].references), service.settings.limits)

        def show(sent: Mapping[str, Any], request: gr.Request) -> dict[Any, Any]:
            requested = Address.read(sent)
            page = page_of(requested)
            address = page.normalise_address(requested)
            updates: dict[Any, Any] = {tab: gr.update(visible=name == address.tab) for name, tab in tabs.items()}
            updates[header] = page.header(address, requested, Address.unknown(sent))
            updates[drawer] = page.details(address)
            is_owner = _is_owner(service, request)
            updates[notice] = for_owners(page) if is_owner else ""
            if address.tab == "submit":
                updates[panels["submit"]] = introduction
            elif address.tab in plots:
                plotted = with_plot[address.tab](page, address)
                updates[panels[address.tab]], updates[below[address.tab]] = plotted.above, plotted.below
                updates[plots[address.tab]] = gr.update(value=plotted.figure, visible=plotted.figure is not None)
            else:
                updates[panels[address.tab]] = without_plot[address.tab](page, address)
            return updates

        def navigate(event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
            with in_one_sentence():
                return show(_mapping(event._data), request)

        def load(request: gr.Request) -> dict[Any, Any]:
            with in_one_sentence():
                return show(dict(request.query_params), request)

        outputs = [header, drawer, notice, *tabs.values(), *panels.values(), *plots.values(), *below.values()]
        options: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "queue": False}
        for event, answer in ((header.input, navigate), (blocks.load, load)):
            event(answer, None, outputs, trigger_mode="multiple", **options).then(None, js="() => space.shown()")
        expose(service)
    blocks.queue(max_size=None, default_concurrency_limit=None)
    # Gradio keeps the answers of 2,000 calls that nobody fetches.
    blocks._queue.pending_messages_per_session = LRUCache(_PENDING_ANSWERS)
    return blocks


def serve(settings: LeaderboardSettings, *, host: str, port: int) -> None:
    """Serve the leaderboard until it is stopped.

    Args:
        settings: The leaderboard to serve.
        host: IP address to listen on.
        port: Port to listen on.

    Raises:
        UserError: The dataset cannot be read, or the port is in use.
    """
    service = make_service(settings)
    service.board.open()  # with many rows without scores, the first visitor sees a part of them
    versions = {"": f"Current ({service.board.data.version})", **{name: f"Older ({name})" for name in service.older}}
    page, *others = (
        Page(board, DatasetThreads(board.data.dataset), versions, status=settings.default_status)
        for board in (service.board, *service.older.values())
    )
    older = dict(zip(service.older, others, strict=True))
    try:
        blocks = build(service, page, older)
        launch(blocks, service, page, *others, server_name=host, server_port=port)
    except OSError as error:
        raise UserError(
            f"port {port} of {host} cannot be used; it may be in use: choose another with --port"
        ) from error


def launch(blocks: gr.Blocks, service: LeaderboardService, *pages: Page, **options: Any) -> tuple[Any, str, str]:
    """Launch an app with the looks and the limits of the leaderboard.

    Args:
        blocks: The app.
        service: The leaderboard.
        pages: Their clips may be downloaded.
        options: Further arguments of `gr.Blocks.launch`.

    Returns:
        The result of `gr.Blocks.launch`: the server app, its local URL and its public URL.
    """
    with limited_connections(ConnectionLimits(), behind_proxy=service.settings.behind_proxy):
        launched: tuple[Any, str, str] = blocks.launch(**options, **launch_options(service, *pages))
    return launched


def launch_options(service: LeaderboardService, *pages: Page) -> dict[str, Any]:
    """Return the arguments of `gr.Blocks.launch` for looks, routes and limits.

    Args:
        service: The leaderboard.
        pages: Their clips may be downloaded.
    """
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    fonts = {"font": ["system-ui", "sans-serif"], "font_mono": ["ui-monospace", "monospace"]}
    return {
        # Not as `css`: Gradio writes a prefix before every comma, also before those within `:is(...)`.
        "head": f"<style>{style}</style><script>{script}</script>",
        # Fonts of the system, because the theme's own come from another server; darker soft text and button.
        "theme": gr.themes.Base(primary_hue="blue", **fonts).set(
            body_text_color_subdued="*neutral_600",
            button_primary_background_fill="*primary_600",
            button_primary_background_fill_hover="*primary_700",
        ),
        "allowed_paths": [str(page.dataset.folder) for page in pages],
        "max_file_size": service.settings.limits.upload_bytes,
        "app_kwargs": {
            "routes": [*PublicRoutes(service).routes(), picture_route(service)],
            "exception_handlers": handlers(),
            "middleware": [Middleware(RequestLimits, service=service), Middleware(LinkPreviews, service=service)],
        },
        "enable_monitoring": False,  # gradio's page about calls is public, and its log shows the URL of a second one
        "footer_links": ["api"],
        "ssr_mode": False,
        "show_error": True,
    }


def html_panel(*, js_on_load: str | None = None, **options: Any) -> gr.HTML:
    """Return an HTML component without gradio's style; `page.css` lays out its content."""
    return gr.HTML(js_on_load=js_on_load, apply_default_css=False, elem_classes="sheet", **options)


def _is_owner(service: LeaderboardService, request: gr.Request) -> bool:
    return caller_at(service, request) in {f"user {name}" for name in service.settings.owners}


def _mapping(sent: Any) -> Mapping[str, Any]:
    """Return a mapping as it was sent, and an empty one for everything else."""
    return sent if isinstance(sent, dict) else {}
