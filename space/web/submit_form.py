"""Form of the tab Submit, made of gradio components."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from musicrs_metric.errors import UserError

from ..service import LeaderboardService
from ..views import display_names, submit
from ..views.address import Address
from ..views.html import Html
from .api import caller_at, in_one_sentence
from .fields import SUBMIT_FIELDS, submission_form

_OPEN = {"yes": True, "no": False}


class SubmitPanel:
    """The components of the form, added to the open `gr.Blocks`.

    Args:
        service: Receives the submissions.
        html_panel: Makes the panel that shows the result.
    """

    def __init__(self, service: LeaderboardService, html_panel: Callable[[], gr.HTML]) -> None:
        self._service, limits = service, service.settings.limits
        names = service.board.data.names
        fields: dict[str, gr.components.Component] = {}
        if service.settings.sign_in:
            gr.LoginButton(size="sm")
        with gr.Row(elem_id="form"):
            with gr.Column(min_width=300):
                file = gr.File(label="Predictions (predictions.jsonl)", height=150, elem_id="predictions")
                card = gr.File(label="Run card (run.json), if you have one", height=150, elem_id="card")
            with gr.Column(min_width=300):
                fields["name"] = gr.Textbox(label="Name of the system", max_length=limits.name, elem_id="name")
                fields["modality"] = _radio("Input", display_names.MODALITIES, "modality")
                fields["paradigm"] = _radio("Paradigm", display_names.PARADIGMS, "paradigm")
                fields["reads"] = _radio("Reads", display_names.READS, "reads")
            with gr.Column(min_width=300):
                weights = {"yes": "Yes", "no": "No", "": "Not stated"}
                fields["open_weights"] = _radio("Open weights", weights, "weights", "")
                fields["link"] = gr.Textbox(label="Link (https), optional", max_length=limits.link, elem_id="link")
                fields["description"] = gr.Textbox(
                    label="Short description, optional, without e-mail addresses", lines=3,
                    max_length=limits.description, elem_id="description",
                )  # fmt: skip
                # Empty by default, because a pool design that is chosen here counts more than that of the run card.
                pools = [(f"As in the run card, else {names[0]}", ""), *((name, name) for name in names)]
                fields["pools"] = gr.Dropdown(pools, value="", label="Pools", visible=len(names) > 1, elem_id="pools")
                fields["partial"] = gr.Checkbox(label="Partial: missing threads score 0", elem_id="partial")
                with gr.Row():
                    score = gr.Button("Score only", elem_id="score", min_width=110)
                    send = gr.Button("Submit", variant="primary", elem_id="send", min_width=110)
        result = html_panel()
        inputs = [file, card, *(fields[name] for name in SUBMIT_FIELDS)]
        # The service limits the work and refuses the rest with a waiting time, so gradio's own queue need not.
        options: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": None}
        for button, work, sent in ((send, self._submit, inputs), (score, self._score, [file, fields["pools"]])):
            button.click(work, sent, result, **options).then(None, js="() => space.judged()")

    def _submit(self, request: gr.Request, file: str | None, card: str | None, *values: Any) -> str:
        sent = dict(zip(SUBMIT_FIELDS, values, strict=True))
        form = submission_form(sent | {"open_weights": _OPEN.get(sent["open_weights"])})
        caller = caller_at(self._service, request)

        def work() -> Html:
            content = None if card is None else _read(card)
            submitted = self._service.submit(_read(file), form, caller=caller, card=content)
            return submit.taken(submitted, Address(tab="submit"))

        return _rendered(work)

    def _score(self, request: gr.Request, file: str | None, pools: str) -> str:
        caller = caller_at(self._service, request)
        return _rendered(lambda: submit.scored(self._service.score(_read(file), caller=caller, pools=pools or None)))


def _rendered(work: Callable[[], Html]) -> str:
    with in_one_sentence():
        try:
            return work()
        except UserError as error:
            return submit.refused(error)


def _read(file: str | None) -> bytes:
    if file is None:
        raise UserError("found no file; choose the prediction file first")
    return Path(file).read_bytes()


def _radio(label: str, options: Any, elem_id: str, value: str | None = None) -> gr.Radio:
    choices = [(text, name) for name, text in options.items()]
    return gr.Radio(choices, value=value, label=label, elem_id=elem_id)
