"""What is said of a system: the fields of a form, a run card, or both; where both speak, the card's word counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeVar, get_args

from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import Fault
from musicrs_metric.runs.references import DEFAULT_DATASET
from musicrs_metric.runs.run_card import RUN_CARD, Modality, Paradigm, Reads, RunCard, card_from_values

from ..board.data import PUBLISHED, Data, Design
from ..cards import parse_card_values
from ..settings import Limits
from .refusal import FORM, IntakeError, at_field
from .text import TextError, https_link, one_line, without_contact

# What a card may say that is kept beside it.
_BESIDE = ("link", "description", "partial")
_DEEPEST = 10
_LARGEST = 1e12

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields as they were sent; anything may stand in them.

    Attributes:
        name: What the board is to call the system.
        modality: What of the thread it is given.
        paradigm: How it ranks.
        reads: What it looks at beyond its own thread.
        link: Its page.
        description: A few words on it.
        open_weights: Whether anyone can download its weights; None where nobody says.
        partial: Whether threads may be missing, which then score 0.
        pools: Name of the pools that it ranked; empty for the first design of the board.
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


class Said(NamedTuple):
    """What was said, judged.

    Attributes:
        card: The run card, complete.
        design: The data that was ranked.
        link: The system's page.
        description: A few words on it.
        partial: Whether threads may be missing.
    """

    card: RunCard
    design: Design
    link: str | None
    description: str
    partial: bool


def judge_form(form: Form, card: bytes | None, data: Data, limits: Limits) -> Said:
    """Judge what is said of a system.

    Args:
        form: The form.
        card: Content of `run.json`, which may leave out what the form says, and may say `link`, `description` and
            `partial` as well; None where there is none.
        data: The board's data.
        limits: Lengths.

    Raises:
        IntakeError: Every field that is at fault.
    """
    given = {} if card is None else _card_values(card, limits)
    found = _Fields(form, given)
    name = found.take("name", lambda value: _free_of_contact(value, limits.name, "a name"))
    choices = {
        "modality": found.take("modality", _choice(get_args(Modality))),
        "paradigm": found.take("paradigm", _choice(get_args(Paradigm))),
        "reads": found.take("reads", _choice(get_args(Reads))),
        "open_weights": found.take("open_weights", _yes_or_no),
    }
    link = found.take("link", lambda value: https_link(value, most=limits.link))
    description = found.take(
        "description", lambda value: _free_of_contact(value, limits.description, "a description", needed=False)
    )
    partial = found.take("partial", _yes_or_no)
    about = "fingerprint" if "fingerprint" in given else "pools"
    design = found.take(about, lambda value: _design(value, about, data))
    judged = {"name", *choices, "fingerprint", "settings", "extra"}
    others = [item.name for item in fields(RunCard) if item.name in given.keys() - judged]
    plain = {field: found.take(field, _plain(field, limits)) for field in others}
    if found.faults or design is None:
        raise IntakeError(found.faults)
    config = f"{choices['modality']}" + (f"_{design.name}" if design.name != PUBLISHED else "")
    standard = {"dataset": DEFAULT_DATASET, "config": config, "pools": design.name}
    values = standard | given | plain | choices | {"name": name, "fingerprint": design.fingerprint}
    try:
        made = card_from_values({field: value for field, value in values.items() if field not in _BESIDE})
    except UserError as error:
        raise _bad_card(str(error)) from error
    return Said(made, design, link, description or "", bool(partial))


class _Fields:
    """Takes field after field, the card's before the form's, and gathers what is wrong with them."""

    def __init__(self, form: Form, card: Mapping[str, Any]) -> None:
        self.form, self.card = form, card
        self.faults: list[Fault] = []

    def take(self, name: str, judge: Callable[[Any], T]) -> T | None:
        from_card = name in self.card
        try:
            return judge(self.card[name] if from_card else getattr(self.form, name, None))
        except TextError as error:
            self.faults.append(at_field(name, str(error), place=RUN_CARD if from_card else FORM))
            return None


def _card_values(card: bytes, limits: Limits) -> dict[str, Any]:
    if len(card) > limits.card_bytes:
        raise _bad_card(f"found {len(card):,} bytes, expected at most {limits.card_bytes:,}")
    try:
        values = parse_card_values(card)
    except UserError as error:
        raise _bad_card(str(error)) from error
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


def _design(value: Any, about: str, data: Data) -> Design:
    if about == "fingerprint":
        design = data.by_fingerprint.get(value) if isinstance(value, str) else None
        if design is None:
            names = ", ".join(f"{design.name} ({design.fingerprint[:12]}...)" for design in data.designs)
            raise TextError(f"found {show(value)}, which is no data of this board; it has the pools {names}")
        return design
    if value in ("", None):
        return data.designs[0]
    if value in data.names:
        return data.design(value)
    raise TextError(f"found {show(value)}, expected {' or '.join(data.names)}")


def _plain(field: str, limits: Limits) -> Callable[[Any], Any]:
    """A further field of the card: text of one line, and numbers that a page can print."""

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
