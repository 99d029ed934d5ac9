"""Fields of the page, and their values in a view."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from . import page
from .answers import Answers
from .form import LONGEST, NO, YES, Shape, entity_label, write_fields
from .session import View
from .worklist import CATEGORIES, WorkItem

_MEANING = """
<p>Each thread was posted with a link to a video. Say what you find; nothing is taken for granted.</p>
<ul>
<li>A thread is about <b>music</b> where it asks for music or talks about music as such, and about <b>pop culture</b>
where it is about people, films or news around it. What is not about music needs no more than its category.</li>
<li>A link is <b>valid</b> where it plays the music that the post is about. Where it does not, or plays nothing, look
for the right one.</li>
<li>An entity is <b>relevant</b> where it exists under this name and kind and answers the post or is what the post asks
about; a slip, a joke or a remark on something else is not.</li>
<li>The query says what the post asks for, without naming an answer.</li>
</ul>
"""
_KEYS = """
<p><kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> category · <kbd>j</kbd> <kbd>k</kbd> next, previous question · <kbd>y</kbd>
<kbd>n</kbd> answer it · <kbd>v</kbd> all other links are valid · <kbd>r</kbd> all other entities are relevant ·
<kbd>e</kbd> edit the query, <kbd>Esc</kbd> leave a text · <kbd>Enter</kbd> (in a text <kbd>Ctrl</kbd> <kbd>Enter</kbd>)
finish and go on · <kbd>[</kbd> <kbd>]</kbd> previous, next thread · <kbd>u</kbd> next unfinished</p>
"""


class LinkRow(NamedTuple):
    """Fields of one link."""

    group: gr.Group
    player: gr.HTML
    valid: gr.Radio
    instead: gr.Textbox


class Screen:
    """All fields of the page, created inside the open `gr.Blocks`.

    The number of fields is fixed: unused fields are hidden. Hidden fields hold annotator and thread, so that an open
    page still works after a restart of the server.

    Args:
        shape: Largest number of links and entities.
        files: Downloaded audio by video id.
    """

    def __init__(self, shape: Shape, files: Mapping[str, Path]) -> None:
        self.shape, self._files = shape, files
        self.annotator, self.thread = gr.Textbox(visible=False), gr.Textbox(visible=False)
        self.stamp = gr.Number(visible=False)
        with gr.Column(elem_id="door") as self.door:
            gr.HTML(f"<h1>MusiCRS annotation</h1>{_MEANING}")
            self.name = gr.Textbox(label="Your name", max_length=40, autofocus=True, elem_id="name")
            self.start = gr.Button("Start", variant="primary", elem_id="start")
        self.notice, self.progress = gr.HTML(elem_id="notice"), gr.HTML(elem_id="progress")
        with gr.Row(visible=False, elem_id="work") as self.work:
            with gr.Column(scale=5, min_width=340):
                self.panel = gr.HTML(elem_id="thread")
            with gr.Column(scale=4, min_width=340):
                self._questions()
                self._bar()

    @property
    def answers(self) -> list[Any]:
        """Fields with answers, in the order of `form.Fields.flat`."""
        rows = self.links
        single = [self.category, self.query, self.more_links, self.more_entities]
        return [*single, *(row.valid for row in rows), *(row.instead for row in rows), *self.entities]

    @property
    def all(self) -> list[Any]:
        """All fields that a view may change."""
        frame = [self.annotator, self.thread, self.door, self.work, self.notice, self.progress, self.saved, self.panel]
        return [*frame, *(row.group for row in self.links), *(row.player for row in self.links), *self.answers]

    def fill(self, view: View, status: str = "") -> dict[Any, Any]:
        """Return the updates of all fields.

        Args:
            view: View of the annotator.
            status: Status of the earlier answers, as HTML.
        """
        frame = {
            self.annotator: view.annotator,
            self.thread: view.item.thread_id if view.item else "",
            self.door: gr.update(visible=False),
            self.work: gr.update(visible=view.item is not None),
            self.notice: "",
            self.progress: page.progress_panel(view),
            self.saved: status,
        }
        if view.item is None or view.answers is None:
            return frame
        return frame | {self.panel: page.thread_panel(view.item)} | self._fill_answers(view.item, view.answers)

    def _fill_answers(self, item: WorkItem, answers: Answers) -> dict[Any, Any]:
        values: dict[Any, Any] = dict(zip(self.answers, write_fields(answers, self.shape).flat(), strict=True))
        for position, row in enumerate(self.links):
            is_used = position < len(item.links)
            values[row.group] = gr.update(visible=is_used)
            values[row.player] = page.player(position + 1, item.links[position], self._files) if is_used else ""
        for position, field in enumerate(self.entities):
            is_used = position < len(item.entities)
            label = entity_label(item, item.entities[position]) if is_used else ""
            values[field] = gr.update(value=values[field], label=label, visible=is_used)
        return values

    def _questions(self) -> None:
        self.category = gr.Radio(list(CATEGORIES), label="What is the thread about?", elem_id="category")
        self.query = gr.Textbox(label="Query", lines=2, max_length=LONGEST, elem_id="query")
        with gr.Column(elem_id="links"):
            self.links = [self._link_row(number) for number in range(1, self.shape.links + 1)]
            _answer_rest("All other links are valid", "#links")
            self.more_links = gr.Textbox(
                label="Missing links, one a line", lines=2, max_length=LONGEST, elem_id="more_links"
            )
        with gr.Column(elem_id="entities"):
            choices = [("relevant", YES), ("not relevant", NO)]
            self.entities = [gr.Radio(choices, label="", visible=False) for _ in range(self.shape.entities)]
            _answer_rest("All other entities are relevant", "#entities")
            self.more_entities = gr.Textbox(
                label="Missing entities, one a line", placeholder="song: So What", lines=2, max_length=LONGEST,
                elem_id="more_entities",
            )  # fmt: skip

    def _link_row(self, number: int) -> LinkRow:
        with gr.Group(visible=False) as group:
            player = gr.HTML(padding=True)
            with gr.Row(equal_height=True):
                choices = [("valid", YES), ("not valid", NO)]
                valid = gr.Radio(choices, label=f"Is link {number} about this music?", min_width=200)
                instead = gr.Textbox(label="The right link, if it is not", max_length=LONGEST, min_width=200)
        return LinkRow(group, player, valid, instead)

    def _bar(self) -> None:
        with gr.Column(elem_id="bar"):
            self.saved = gr.HTML(elem_id="saved")
            self.save = gr.Button("Save", visible="hidden", elem_id="save")  # pressed by page.js
            with gr.Row():
                self.previous = gr.Button("Previous", size="sm", elem_id="previous", min_width=70)
                self.next = gr.Button("Next", size="sm", elem_id="next", min_width=50)
                self.unfinished = gr.Button("Unfinished", size="sm", elem_id="unfinished", min_width=80)
                self.finish = gr.Button("Finish", size="sm", variant="primary", elem_id="finish", min_width=70)
        with gr.Accordion("Help", open=False):
            gr.HTML(_MEANING + _KEYS)


def _answer_rest(label: str, part: str) -> None:
    gr.Button(label, size="sm").click(None, js=f"() => annotate.answerRest('{part}')")
