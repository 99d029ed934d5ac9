"""Fields that describe a submission: from a form, a run card, or both. A field that was filled in counts more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeVar

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import Fault
from musicrs_metric.runs.references import DEFAULT_DATASET
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, card_from_values

from ..board.data import PUBLISHED, LeaderboardData, PoolDesign
from ..board.table_rows import CHOICES
from ..settings import Limits
from .field_judges import (
    about_model,
    about_system,
    choice,
    design_named,
    design_of,
    parameters,
    parameters_of_card,
    plain_field,
    yes_or_no,
)
from .refusal import FORM, IntakeError, at_field
from .text import TextError

# Fields of a run.json that the leaderboard stores next to the run card.
_NOT_IN_CARD = ("link", "code_link", "description", "partial", "show_sender")
_DEEPEST = 10

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SubmissionForm:
    """The fields as they were sent, with values of any type.

    Attributes:
        name: Name of the system on the leaderboard.
        modality: The part of a thread that the system takes.
        paradigm: The way in which it ranks.
        reads: The data that it uses beyond its own thread.
        link: Page of the system.
        description: Short description.
        open_weights: True if anyone can download the weights; None if unknown.
        partial: True if threads may be missing, which then score 0.
        pools: Name of the pool design that it ranked; empty for that of the run card, else the first of the
            leaderboard.
        code_link: Page of the code of the system.
        parameters: Number of parameters of the model, as a number or as text such as "7B".
        licence: Licence of the weights.
        model_id: Public name of the model.
        model_revision: Commit or version of the model.
        trained: True if the system was trained or tuned for this task; None if unknown.
        hardware: Hardware of the run.
        wall_time_s: Duration of the run in seconds.
        show_sender: True to show the user name of a signed-in sender.
    """

    name: Any = ""
    modality: Any = ""
    paradigm: Any = ""
    reads: Any = ""
    link: Any = ""
    description: Any = ""
    open_weights: Any = None
    partial: Any = False
    pools: Any = ""
    code_link: Any = ""
    parameters: Any = ""
    licence: Any = ""
    model_id: Any = ""
    model_revision: Any = ""
    trained: Any = None
    hardware: Any = ""
    wall_time_s: Any = None
    show_sender: Any = False


_EMPTY = SubmissionForm()


class JudgedForm(NamedTuple):
    """Valid fields of a submission.

    Attributes:
        card: The complete run card.
        design: The pools and labels of the ranked data.
        link: Page of the system.
        code_link: Page of its code.
        description: Short description.
        partial: True if threads may be missing.
        warnings: Contradictions of form and run card, in words.
    """

    card: RunCard
    design: PoolDesign
    link: str | None
    code_link: str | None
    description: str
    partial: bool
    warnings: tuple[str, ...]


def judge_form(
    form: SubmissionForm, card: bytes | None, data: LeaderboardData, limits: Limits, *, link: str = ""
) -> JudgedForm:
    """Check the fields of a submission.

    Args:
        form: The form. A field that was filled in counts more than that of the run card.
        card: Content of `run.json`, which may lack fields of the form and may also state `link`, `description` and
            `partial`; None without a run card.
        data: Pool designs of the leaderboard.
        limits: Largest lengths.
        link: Page of the system if neither form nor run card states one.

    Raises:
        IntakeError: Lists every invalid field.
    """
    from_card = {} if card is None else _card_values(card, limits)
    sent = _SentFields(form, from_card)
    judges = about_system(limits)
    name = sent.take("name", judges["name"])
    choices = {
        **{field: sent.take(field, choice(options)) for field, options in CHOICES.items()},
        "open_weights": sent.take("open_weights", yes_or_no),
    }
    page = sent.take("link", lambda value: judges["link"](value or link))
    description = sent.take("description", judges["description"])
    code = sent.take("code_link", judges["code_link"])
    partial = sent.take("partial", yes_or_no)
    model = {field: sent.take(field, judge) for field, judge in about_model(limits).items()}
    model["parameters"] = sent.take("parameters", parameters, None, parameters_of_card)
    if "fingerprint" in from_card:  # it names the data better than the name of the pools
        design = sent.take("pools", design_named(data), "fingerprint", design_of(data))
    else:
        design = sent.take("pools", design_named(data))
    judged = {"name", *choices, *model, "fingerprint", "settings", "extra"}
    others = [field.name for field in fields(RunCard) if field.name in from_card.keys() - judged]
    plain = {field: sent.judge(field, from_card[field], plain_field(field, limits), RUN_CARD) for field in others}
    if sent.faults or design is None:
        raise IntakeError(sent.faults)
    config = f"{choices['modality']}" + (f"_{design.name}" if design.name != PUBLISHED else "")
    of_design = {"config": config, "pools": design.name}
    values = {"dataset": DEFAULT_DATASET, **of_design, **from_card, **plain, **choices}
    values |= {field: value for field, value in model.items() if value is not None}
    values |= {"name": name, "fingerprint": design.fingerprint} | (of_design if sent.is_filled_in("pools") else {})
    try:
        complete = card_from_values({field: value for field, value in values.items() if field not in _NOT_IN_CARD})
    except UserError as error:
        raise _bad_card(str(error)) from error
    return JudgedForm(complete, design, page, code, description or "", bool(partial), tuple(sent.warnings))


def judge_edits(sent: Mapping[str, Any], limits: Limits) -> dict[str, str | None]:
    """Check the fields that a sender changes on a row.

    Args:
        sent: Names of `space.store.notes.EDITABLE` to new values. None leaves a field as it is. So does empty text for
            `name` and `reads`; for the others it removes the value.
        limits: Largest lengths.

    Raises:
        IntakeError: Lists every invalid field.
    """
    fields_sent = _SentFields(SubmissionForm(), {})
    edits = {
        name: fields_sent.judge(name, sent[name], judge, FORM)
        for name, judge in about_system(limits).items()
        if sent.get(name) is not None and (sent[name] != "" or name not in ("name", "reads"))
    }
    if fields_sent.faults:
        raise IntakeError(fields_sent.faults)
    return edits


class _SentFields:
    """Judges field after field, and collects faults and contradictions of form and run card."""

    def __init__(self, form: SubmissionForm, card: Mapping[str, Any]) -> None:
        self.form, self.card = form, card
        self.faults: list[Fault] = []
        self.warnings: list[str] = []

    def is_filled_in(self, name: str) -> bool:
        return getattr(self.form, name) not in (None, getattr(_EMPTY, name))

    def judge(self, name: str, value: Any, judge: Callable[[Any], T], place: str) -> T | None:
        try:
            return judge(value)
        except TextError as error:
            self.faults.append(at_field(name, str(error), place=place))
            return None

    def take(
        self,
        name: str,
        judge: Callable[[Any], T],
        in_card: str | None = None,
        judge_card: Callable[[Any], T] | None = None,
    ) -> T | None:
        """Return the value of the form if it is filled in or stands alone, else that of the run card."""
        in_card = in_card or name
        if in_card not in self.card:
            return self.judge(name, getattr(self.form, name), judge, FORM)
        from_card = self.judge(in_card, self.card[in_card], judge_card or judge, RUN_CARD)
        if not self.is_filled_in(name):
            return from_card
        filled_in = self.judge(name, getattr(self.form, name), judge, FORM)
        if filled_in != from_card and not self.faults:
            stated = [show(getattr(value, "name", value)) for value in (filled_in, from_card)]
            self.warnings.append(f"{name}: the form states {stated[0]}, {RUN_CARD} states {stated[1]}; the form counts")
        return filled_in


def _card_values(card: bytes, limits: Limits) -> dict[str, Any]:
    if len(card) > limits.card_bytes:
        raise _bad_card(f"found {len(card):,} bytes, expected at most {limits.card_bytes:,}")
    try:
        values = strict_json(card.decode("utf-8-sig"))
    except ValueError as error:
        raise _bad_card(f"not a run card, found no JSON ({error})") from error
    if not isinstance(values, dict):
        raise _bad_card(f"not a run card, found {show(values)}, expected a JSON object")
    if _is_deeper(values, _DEEPEST):
        raise _bad_card(f"nested more than {_DEEPEST} levels deep, expected a flat object")
    return {name: value for name, value in values.items() if value is not None}


def _bad_card(message: str) -> IntakeError:
    return IntakeError([Fault(RUN_CARD, None, None, None, message.removeprefix(f"{RUN_CARD}: "))])


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in inner)
