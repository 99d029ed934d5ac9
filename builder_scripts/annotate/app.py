"""Events of the page. `session` decides, `screen` shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from musicrs_metric.errors import UserError

from . import page
from .form import Shape, read_fields
from .screen import Screen
from .session import AnnotationSession, Sent, Step

_HERE = Path(__file__).parent


class _Saved(NamedTuple):
    status: str
    may_leave: bool


def build(session: AnnotationSession, files: Mapping[str, Path]) -> gr.Blocks:
    """Build the page.

    Args:
        session: The work list and its answers.
        files: Downloaded audio by video id.
    """
    with gr.Blocks(title="MusiCRS annotation", analytics_enabled=False) as blocks:
        screen = Screen(Shape.of(session.items.values()), files)

        def save(values: tuple[Any, ...], request: gr.Request, *, done: bool) -> _Saved:
            annotator, thread_id, clock, *flat = values
            at = float(clock or 0)
            try:
                answers = read_fields(session.item(thread_id), screen.shape, flat, done=done)
                left = session.save(annotator, answers, Sent(str(request.session_hash), at))
            except (UserError, OSError) as error:
                return _Saved(page.status(f"Not saved: {error}"), may_leave=False)
            if done and left:
                return _Saved(page.status("Saved, but not finished:", left, sent=at), may_leave=False)
            return _Saved(page.status(f"Saved at {datetime.now():%H:%M:%S}", sent=at), may_leave=True)

        def autosave(request: gr.Request, *values: Any) -> str:
            return save(values, request, done=False).status

        def leave_for(step: Step, *, done: bool = False) -> Callable[..., dict[Any, Any]]:
            def move(request: gr.Request, *values: Any) -> dict[Any, Any]:
                saved = save(values, request, done=done)
                if not saved.may_leave:
                    return {screen.saved: saved.status}
                return screen.fill(session.view(values[0], values[1], step), saved.status)

            return move

        def join(name: str, thread_id: str | None = None) -> dict[Any, Any]:
            try:
                return screen.fill(session.join(name, thread_id))
            except (UserError, OSError) as error:
                return {screen.notice: page.status(str(error))}

        def restore(request: gr.Request) -> dict[Any, Any]:
            name = request.query_params.get("annotator")
            return join(name, request.query_params.get("thread")) if name else {screen.notice: ""}

        sent = [screen.annotator, screen.thread, screen.stamp, *screen.answers]
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        stamped = quiet | {"js": "annotate.stamp"}
        after: dict[str, Any] = {"inputs": [screen.annotator, screen.thread, screen.saved], "js": "annotate.shown"}
        changes = [*(field.input for field in screen.answers), screen.save.click]
        gr.on(changes, autosave, sent, screen.saved, trigger_mode="always_last", **stamped).then(None, **after)
        for button, move in (
            (screen.previous, leave_for("previous")),
            (screen.next, leave_for("next")),
            (screen.unfinished, leave_for("unfinished")),
            (screen.finish, leave_for("unfinished", done=True)),
        ):
            button.click(move, sent, screen.all, **stamped).then(None, **after)
        gr.on([screen.start.click, screen.name.submit], join, screen.name, screen.all, **quiet).then(None, **after)
        blocks.load(restore, None, screen.all, **quiet).then(None, **after)
    blocks.queue(default_concurrency_limit=8)
    return blocks


def serve(session: AnnotationSession, files: Mapping[str, Path], *, host: str, port: int) -> None:
    """Serve the page until the process stops.

    Args:
        session: The work list and its answers.
        files: Downloaded audio by video id.
        host: Host name or IP address of the server.
        port: Port of the server.

    Raises:
        UserError: The port is taken.
    """
    try:
        build(session, files).launch(
            server_name=host, server_port=port, allowed_paths=sorted({str(file.parent) for file in files.values()}),
            css=(_HERE / "style.css").read_text(encoding="utf-8"),
            head=f"<script>{(_HERE / 'page.js').read_text(encoding='utf-8')}</script>",
            footer_links=[], quiet=True, max_file_size=1, ssr_mode=False, show_error=True,
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"port {port} of {host} cannot be used; it may be taken: give another with --port") from error
