"""The form of the tab Submit, as Gradio's own fields: what is typed and uploaded goes to the desk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from musicrs_metric.errors import UserError

from ..intake import Form
from ..service import LeaderboardService
from ..views import display_names, submit
from ..views.address import Address
from ..views.html import Html
from .api import caller_at, in_one_sentence

_OPEN = {"yes": True, "no": False}


class SubmitForm:
    """The fields, made inside the `gr.Blocks` that is open.

    Args:
        service: Where submissions go.
        result: Where what became of them is shown.
    """

    def __init__(self, service: LeaderboardService, result: Callable[[], gr.HTML]) -> None:
        self._service, limits = service, service.settings.limits
        if service.settings.sign_in:
            gr.LoginButton(size="sm")
        with gr.Row(elem_id="form"):
            with gr.Column(min_width=300):
                self.file = gr.File(label="Predictions (predictions.jsonl)", height=150, elem_id="predictions")
                self.card = gr.File(label="Run card (run.json), if there is one", height=150, elem_id="card")
            with gr.Column(min_width=300):
                self.name = gr.Textbox(label="Name of the system", max_length=limits.name, elem_id="name")
                self.modality = _radio("It is given", display_names.MODALITIES, "modality")
                self.paradigm = _radio("It ranks by", display_names.PARADIGMS, "paradigm")
                self.reads = _radio("It reads", display_names.READS, "reads")
            with gr.Column(min_width=300):
                self.weights = _radio("Its weights are open", {"yes": "Yes", "no": "No", "": "Not said"}, "weights", "")
                self.link = gr.Textbox(label="Link (https), if any", max_length=limits.link, elem_id="link")
                self.description = gr.Textbox(
                    label="In a few words, if you like; no addresses of people", lines=3,
                    max_length=limits.description, elem_id="description",
                )  # fmt: skip
                names = service.board.data.names
                self.pools = gr.Dropdown(names, value=names[0], label="Pools", visible=len(names) > 1, elem_id="pools")
                self.partial = gr.Checkbox(label="Partial: threads that are missing score 0", elem_id="partial")
                with gr.Row():
                    score = gr.Button("Only score it", elem_id="score", min_width=110)
                    send = gr.Button("Submit", variant="primary", elem_id="send", min_width=110)
        self.result = result()
        fields = [
            self.file, self.card, self.name, self.modality, self.paradigm, self.reads, self.weights, self.link,
            self.description, self.pools, self.partial,
        ]  # fmt: skip
        # The desk bounds how many are worked on, and tells the others to come again: the page's own queue need not.
        options: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": None}
        for button, work, given in ((send, self._submit, fields), (score, self._score, [self.file, self.pools])):
            button.click(work, given, self.result, **options).then(None, js="() => space.told()")

    def _submit(self, request: gr.Request, file: str | None, card: str | None, *fields: Any) -> str:
        name, modality, paradigm, reads, weights, link, description, pools, partial = fields
        form = Form(
            name=name, modality=modality or "", paradigm=paradigm or "", reads=reads or "", link=link,
            description=description, open_weights=_OPEN.get(weights), partial=partial, pools=pools,
        )  # fmt: skip
        caller = caller_at(self._service, request)

        def work() -> Html:
            sent = self._service.submit(_read(file), form, caller=caller, card=None if card is None else _read(card))
            return submit.taken(sent, Address(tab="submit"))

        return _shown(work)

    def _score(self, request: gr.Request, file: str | None, pools: str) -> str:
        caller = caller_at(self._service, request)
        return _shown(lambda: submit.scored(self._service.score(_read(file), caller=caller, pools=pools)))


def _shown(work: Callable[[], Html]) -> str:
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
