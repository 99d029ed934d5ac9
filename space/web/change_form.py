"""Form of the tab Submit in which a sender changes or withdraws a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from musicrs_metric.errors import UserError

from ..service import LeaderboardService
from ..store.notes import EDITABLE
from ..views import display_names, submit
from ..views.html import Html
from .api import caller_at
from .submit_form import rendered


class ChangePanel:
    """The components of the form, added to the open `gr.Blocks`.

    Args:
        service: Changes the rows.
        html_panel: Makes the panel that shows the result.
    """

    def __init__(self, service: LeaderboardService, html_panel: Callable[[], gr.HTML]) -> None:
        self._service, limits = service, service.settings.limits
        with gr.Accordion("Change or withdraw a row", open=False, elem_id="change"):
            with gr.Row():
                key = gr.Textbox(label="Key of the row, from its details", max_length=64, elem_id="change-key")
                receipt = gr.Textbox(
                    label="Receipt" + (", or sign in as the sender" if service.settings.sign_in else ""),
                    max_length=100, type="password", elem_id="change-receipt",
                )  # fmt: skip
            show = gr.Button("Open the row", elem_id="change-open")
            with gr.Group(visible=False, elem_id="change-fields") as group:
                reads = [(text, name) for name, text in display_names.READS.items()]
                fields = {
                    "name": gr.Textbox(label="Name of the system", max_length=limits.name, elem_id="change-name"),
                    "reads": gr.Radio(reads, label="Reads", elem_id="change-reads"),
                    "link": gr.Textbox(label="Link (https)", max_length=limits.link, elem_id="change-link"),
                    "code_link": gr.Textbox(
                        label="Link to the code (https)", max_length=limits.link, elem_id="change-code"
                    ),
                    "description": gr.Textbox(
                        label="Short description", max_length=limits.description, lines=3, elem_id="change-description"
                    ),
                }
                shown = gr.Checkbox(
                    label="Show my user name", visible=service.settings.sign_in, elem_id="change-show-sender"
                )
                with gr.Row():
                    save = gr.Button("Save the changes", variant="primary", elem_id="change-save")
                    withdraw = gr.Button("Withdraw the row", variant="stop", elem_id="change-withdraw")
            result = html_panel()
        options: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": None}
        values = [fields[name] for name in EDITABLE]
        show.click(self._open, [key, receipt], [result, group, shown, *values], **options)
        save.click(self._save, [key, receipt, shown, *values], result, **options)
        withdraw.click(self._withdraw, [key, receipt], [result, group], **options)

    def _open(self, request: gr.Request, key: str, receipt: str) -> list[Any]:
        caller = caller_at(self._service, request)
        try:
            entry = self._service.editable(key.strip(), receipt, caller=caller)
        except UserError as error:
            return [submit.refused(error), gr.update(visible=False), False, *([None] * len(EDITABLE))]
        of = {"name": entry.card.name, "reads": entry.card.reads}
        values = [of[name] if name in of else getattr(entry, name) or "" for name in EDITABLE]
        return ["", gr.update(visible=True), entry.note.show_sender, *values]

    def _save(self, request: gr.Request, key: str, receipt: str, show_sender: bool, *values: Any) -> str:
        caller, sent = caller_at(self._service, request), dict(zip(EDITABLE, values, strict=True))

        def work() -> Html:
            answer = self._service.edit(key.strip(), receipt, sent, show_sender=show_sender, caller=caller)
            return submit.changed("Saved. The row shows the new values.", answer["warnings"])

        return rendered(work)

    def _withdraw(self, request: gr.Request, key: str, receipt: str) -> tuple[str, Any]:
        caller = caller_at(self._service, request)

        def work() -> Html:
            self._service.withdraw(key.strip(), receipt, caller=caller)
            return submit.changed("Withdrawn. The URL of the row states this.")

        return rendered(work), gr.update(visible=False)
