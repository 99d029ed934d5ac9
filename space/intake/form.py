"""Fields that describe a submission: from a form, a run card, or both. A field that was filled in counts more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeVar

from musicrs_metric.base.files import strict_json
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import Fault
from musicrs_metric.runs.references import DEFAULT_DATASET
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, card_from_values

from ..board.data import PUBLISHED, LeaderboardData, PoolDesign
from ..board.table_rows import CHOICES
from ..look_alikes import why_refused
from ..settings import Limits
from .refusal import FORM, IntakeError, at_field
from .text import TextError, https_link, one_line, without_contact

# Fields of a run.json that the leaderboard stores next to the run card.
_NOT_IN_CARD = ("link", "code_link", "description", "partial", "show_sender")
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_PARAMETERS = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,2})?) ?([kmbt]?)", re.IGNORECASE)
_DEEPEST = 10
_LARGEST = 1e12

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
    name = sent.take("name", lambda value: _name(value, limits))
    choices = {
        **{field: sent.take(field, _choice(options)) for field, options in CHOICES.items()},
        "open_weights": sent.take("open_weights", _yes_or_no),
    }
    page = sent.take("link", lambda value: https_link(value or link, most=limits.link))
    description = sent.take(
        "description", lambda value: _free_of_contact(value, limits.description, "a description", needed=False)
    )
    code = sent.take("code_link", lambda value: https_link(value, most=limits.link))
    partial = sent.take("partial", _yes_or_no)
    about_model = {field: sent.take(field, judge) for field, judge in _about_model(limits).items()}
    about_model["parameters"] = sent.take("parameters", _parameters, None, _parameters_of_card)
    if "fingerprint" in from_card:  # it names the data better than the name of the pools
        design = sent.take("pools", _design_named(data), "fingerprint", _design_of(data))
    else:
        design = sent.take("pools", _design_named(data))
    judged = {"name", *choices, *about_model, "fingerprint", "settings", "extra"}
    others = [field.name for field in fields(RunCard) if field.name in from_card.keys() - judged]
    plain = {field: sent.judge(field, from_card[field], _plain(field, limits), RUN_CARD) for field in others}
    if sent.faults or design is None:
        raise IntakeError(sent.faults)
    config = f"{choices['modality']}" + (f"_{design.name}" if design.name != PUBLISHED else "")
    of_design = {"config": config, "pools": design.name}
    values = {"dataset": DEFAULT_DATASET, **of_design, **from_card, **plain, **choices}
    values |= {field: value for field, value in about_model.items() if value is not None}
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
    judges: Mapping[str, Callable[[Any], str | None]] = {
        "name": lambda value: _name(value, limits),
        "reads": _choice(CHOICES["reads"]),
        "link": lambda value: https_link(value, most=limits.link),
        "code_link": lambda value: https_link(value, most=limits.link),
        "description": lambda value: _free_of_contact(value, limits.description, "a description", needed=False),
    }
    fields_sent = _SentFields(SubmissionForm(), {})
    edits = {
        name: fields_sent.judge(name, sent[name], judge, FORM)
        for name, judge in judges.items()
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


def _free_of_contact(value: Any, most: int, what: str, *, needed: bool = True) -> str:
    return without_contact(one_line(value, most=most, what=what, needed=needed), what=what)


def _name(value: Any, limits: Limits) -> str:
    name = _free_of_contact(value, limits.name, "a name")
    reason = why_refused(name)
    if reason is not None:
        raise TextError(f"found {show(name)}, but {reason}; choose another name, such as 'My CLAP'")
    return name


def _choice(choices: Sequence[str]) -> Callable[[Any], str]:
    def judge(value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        found = "nothing" if value in ("", None) else show(value)
        raise TextError(f"found {found}, expected one of {', '.join(choices)}")

    return judge


def _yes_or_no(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise TextError(f"found {show(value)}, expected true or false")


def _about_model(limits: Limits) -> dict[str, Callable[[Any], Any]]:
    """Return the judges of the fields that describe model and run."""

    def text(value: Any) -> str | None:
        return one_line(value, most=limits.description, what="text", needed=False) or None

    texts = dict.fromkeys(("licence", "model_id", "model_revision", "hardware"), text)
    return texts | {"trained": _yes_or_no, "wall_time_s": _seconds}


def _parameters(value: Any) -> int | None:
    """Return a number of parameters from a number, or from text such as "7B"."""
    if value in ("", None):
        return None
    expected = "expected the number of parameters, such as 7000000000 or 7B"
    if isinstance(value, str):
        match = _PARAMETERS.fullmatch(value.strip().replace(",", ""))
        if match is None:
            raise TextError(f"found {show(value)}, {expected}")
        value = float(match[1]) * _UNITS[match[2].lower()]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 1e15:
        raise TextError(f"found {show(value)}, {expected}")
    return round(value)


def _parameters_of_card(value: Any) -> int | None:
    """Return the number of a run card, in which other programs may use the same key for something else."""
    try:
        return _parameters(value)
    except TextError:
        return None


def _seconds(value: Any) -> float | None:
    if value in ("", None):
        return None
    try:
        seconds = float(value) if isinstance(value, str) else value
    except ValueError:
        seconds = None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _LARGEST:
        raise TextError(f"found {show(value)}, expected seconds from 0 to {_LARGEST:g}")
    return seconds


def _design_named(data: LeaderboardData) -> Callable[[Any], PoolDesign]:
    def judge(name: Any) -> PoolDesign:
        if name in ("", None):
            return data.designs[0]
        if name in data.names:
            return data.design(name)
        raise TextError(f"found {show(name)}, expected {' or '.join(data.names)}")

    return judge


def _design_of(data: LeaderboardData) -> Callable[[Any], PoolDesign]:
    def judge(fingerprint: Any) -> PoolDesign:
        design = data.by_fingerprint.get(fingerprint) if isinstance(fingerprint, str) else None
        if design is None:
            names = ", ".join(f"{design.name} ({design.fingerprint[:12]}...)" for design in data.designs)
            raise TextError(
                f"found {show(fingerprint)}, which is no data of this leaderboard; it has the pools {names}"
            )
        return design

    return judge


def _plain(field: str, limits: Limits) -> Callable[[Any], Any]:
    """Judge another field of the run card: text of one line, or a number that a page can print."""

    def judge(value: Any) -> Any:
        share = value.get("threads") if field == "audio_coverage" and isinstance(value, dict) else None
        if isinstance(share, int | float) and not 0 <= share <= 1:
            raise TextError(f"found {show(share)} for threads, expected a share from 0 to 1")
        return _printable(value, limits)

    return judge


def _printable(value: Any, limits: Limits) -> Any:
    for item in value.values() if isinstance(value, dict) else [value]:
        if isinstance(item, str):
            one_line(item, most=limits.description, what="text", needed=False)
        elif isinstance(item, int | float) and not abs(item) <= _LARGEST:
            raise TextError(f"found {show(item)}, expected a number of at most {_LARGEST:g}")
    if isinstance(value, str):
        return one_line(value, most=limits.description, what="text", needed=False)
    if isinstance(value, dict):
        for key in value:
            one_line(key, most=limits.name, what="a key")
    return value
