"""Form of the tab Submit, made of gradio components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from musicrs_metric.errors import UserError

from ..service import LeaderboardService
from ..views import display_names, submit
from ..views.address import Address
from ..views.html import Html
from .api import caller_at, in_one_sentence
from .card_fill import fill, without_cleared
from .fields import SUBMIT_FIELDS, submission_form

_FLAGS = {"yes": True, "no": False}
_ANSWERS = {"yes": "Yes", "no": "No", "": "Not stated"}
_ABOUT_MODEL = {
    "parameters": "Parameters, such as 7B",
    "licence": "Licence of the weights",
    "model_id": "Model, such as org/name",
    "model_revision": "Revision of the model",
    "hardware": "Hardware",
    "wall_time_s": "Run time in seconds",  # as text, because an empty number of gradio is 0
}


class SubmitPanel:
    """The components of the form, added to the open `gr.Blocks`.

    Args:
        service: Receives the submissions.
        html_panel: Makes the panels that show results.
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
                card = gr.File(label="Run card (run.json), fills the fields", height=150, elem_id="card")
            with gr.Column(min_width=300):
                fields["name"] = gr.Textbox(label="Name of the system", max_length=limits.name, elem_id="name")
                fields["modality"] = _radio("Input", display_names.MODALITIES, "modality")
                fields["paradigm"] = _radio("Paradigm", display_names.PARADIGMS, "paradigm")
                fields["reads"] = _radio("Reads", display_names.READS, "reads")
            with gr.Column(min_width=300):
                fields["open_weights"] = _radio("Open weights", _ANSWERS, "weights", "")
                fields["link"] = gr.Textbox(label="Link (https), optional", max_length=limits.link, elem_id="link")
                fields["code_link"] = gr.Textbox(
                    label="Link to the code (https), optional", max_length=limits.link, elem_id="code_link"
                )
                fields["description"] = gr.Textbox(
                    label="Short description, optional, without e-mail addresses", lines=3,
                    max_length=limits.description, elem_id="description",
                )  # fmt: skip
                # Empty by default, because a pool design that is chosen here counts more than that of the run card.
                pools = [(f"As in the run card, else {names[0]}", ""), *((name, name) for name in names)]
                fields["pools"] = gr.Dropdown(pools, value="", label="Pools", visible=len(names) > 1, elem_id="pools")
                fields["partial"] = gr.Checkbox(label="Partial: missing threads score 0", elem_id="partial")
                fields["show_sender"] = gr.Checkbox(
                    label="Show my user name", visible=service.settings.sign_in, elem_id="show_sender"
                )
                with gr.Row():
                    score = gr.Button("Score only", elem_id="score", min_width=110)
                    send = gr.Button("Submit", variant="primary", elem_id="send", min_width=110)
        with gr.Accordion("Model and run, optional", open=False, elem_id="model"), gr.Row():
            for name, label in _ABOUT_MODEL.items():
                fields[name] = gr.Textbox(label=label, max_length=limits.name, elem_id=name, min_width=220)
            fields["trained"] = _radio("Trained or tuned for this task", _ANSWERS, "trained", "")
        note, result = html_panel(), html_panel()
        filled = gr.State({})
        values = [fields[name] for name in SUBMIT_FIELDS]
        # The service limits the work and refuses the rest with a waiting time, so gradio's own queue need not.
        options: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": None}
        card.change(self._fill, [card, filled, *values], [note, filled, *values], **options)
        sent = [file, card, filled, *values]
        for button, work, inputs in ((send, self._submit, sent), (score, self._score, [file, fields["pools"]])):
            button.click(work, inputs, result, **options).then(None, js="() => space.judged()")

    def _fill(self, card: str | None, before: dict[str, Any], *values: Any) -> list[Any]:
        content = None if card is None else Path(card).read_bytes()[: self._service.settings.limits.card_bytes + 1]
        filled = fill(content, dict(zip(SUBMIT_FIELDS, values, strict=True)), before)
        return [submit.card_notes(filled.notes), filled.from_card, *(filled.values[name] for name in SUBMIT_FIELDS)]

    def _submit(
        self, request: gr.Request, file: str | None, card: str | None, filled: dict[str, Any], *values: Any
    ) -> str:
        typed = dict(zip(SUBMIT_FIELDS, values, strict=True))
        form = submission_form(typed | {name: _FLAGS.get(typed[name]) for name in ("open_weights", "trained")})
        caller = caller_at(self._service, request)

        def work() -> Html:
            content: bytes | None = None
            notes: list[str] = []
            if card is not None:
                content, notes = without_cleared(_read(card), typed, filled)
            submitted = self._service.submit(_read(file), form, caller=caller, card=content)
            return submit.taken(replace(submitted, warnings=(*notes, *submitted.warnings)), Address(tab="submit"))

        return rendered(work, left=lambda: self._service.refusals_left(caller))

    def _score(self, request: gr.Request, file: str | None, pools: str) -> str:
        caller = caller_at(self._service, request)
        return rendered(lambda: submit.scored(self._service.score(_read(file), caller=caller, pools=pools or None)))


def rendered(work: Callable[[], Html], *, left: Callable[[], int | None] = lambda: None) -> str:
    """Return the HTML of a result, or of the refusal.

    Args:
        work: Returns the result.
        left: Returns the number of refused submissions that the caller may still send; None for no limit.
    """
    with in_one_sentence():
        try:
            return work()
        except UserError as error:
            return submit.refused(error, left())


def _read(file: str | None) -> bytes:
    if file is None:
        raise UserError("found no file; choose the prediction file first")
    return Path(file).read_bytes()


def _radio(label: str, options: Any, elem_id: str, value: str | None = None) -> gr.Radio:
    choices = [(text, name) for name, text in options.items()]
    return gr.Radio(choices, value=value, label=label, elem_id=elem_id)
