"""The fields of a request that a server takes, found out with the first request of a run.

Servers differ in the fields that they take. Reasoning models take no temperature and call the budget
`max_completion_tokens`. Gateways do not know `response_format`. If a server refuses a field with status 400 or 422, the
request is sent again without it, or with its other name. The form records the omitted fields, because readers of the
scores must know them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# Words for each field in the messages of servers. Fields are given up in this order. The temperature is last, because
# without it an answer is sampled.
_NAMES = {
    "top_p": r"top_?p\b",
    "seed": r"\bseed\b",
    "response_format": r"response_?format|json_?schema|json_object|structured.?output|guided|grammar|additionalprop",
    "max_tokens": r"max_(?:completion_|new_|output_)?tokens",
    "temperature": r"temperature",
}
# The prompt is too long, and no field is at fault, although servers name `max_tokens` in this message.
_TOO_LONG = re.compile(r"context.?(?:length|window|size)|too long|too many tokens|reduce the (?:length|prompt|number)")
BUDGETS = ("max_tokens", "max_completion_tokens")


class FieldRefusedError(Exception):
    """A request that the server refuses with status 400 or 422.

    Attributes:
        named: What the server names as the reason: the parameter, or its whole words.
    """

    def __init__(self, message: str, named: str) -> None:
        super().__init__(message)
        self.named = named


@dataclass(frozen=True)
class Form:
    """The form of a request that a server takes.

    Attributes:
        left_out: Fields that the server refuses: "temperature", "top_p", "seed", "response_format", "max_tokens".
        budget: What the server calls the most tokens of an answer.
    """

    left_out: tuple[str, ...] = ()
    budget: str = BUDGETS[0]

    def apply(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields as this server takes them.

        Args:
            fields: All fields that the run wants to send, the budget as "max_tokens".
        """
        kept = {name: value for name, value in fields.items() if name not in self.left_out}
        return {self.budget if name == BUDGETS[0] else name: value for name, value in kept.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, for a run card or a manifest."""
        return {"fields_left_out": list(self.left_out), "budget_field": self.budget}

    def __str__(self) -> str:
        out = f"without {', '.join(self.left_out)}" if self.left_out else "with all fields"
        return f"{out}, the budget as {self.budget}"


def learn_form(fields: Mapping[str, Any], fixed: Mapping[str, Any], send: Callable[[Form], None]) -> Form:
    """Find out which fields a server takes, with as few requests as its words allow.

    Args:
        fields: What the run wants to send; each of them may be left out.
        fixed: Fields that the user asks for; none of them is ever left out.
        send: Sends one request in a form; raises `FieldRefusedError` where the server refuses it.

    Returns:
        The form with the most fields that the server takes.

    Raises:
        FieldRefusedError: The server refuses every form, a field that the user asks for, or a prompt that is too long.
    """
    optional = [name for name in _NAMES if name in fields and name not in fixed]
    form, refused = Form(), None
    for _ in range(len(optional) + 1):  # as far as the server names what it refuses
        try:
            send(form)
        except FieldRefusedError as refusal:
            if _TOO_LONG.search(refusal.named.lower()):
                raise
            following = _following(form, refusal, optional)
            if following is None or (refused is not None and str(refusal) == str(refused)):
                return _search(optional, refusal, send)
            form, refused = following, refusal
        else:
            return form
    return _search(optional, refused, send)


def names_field(words: str) -> bool:
    """Check whether the words of a server name a field that may be left out."""
    return any(re.search(pattern, words.lower()) for pattern in _NAMES.values())


def _following(form: Form, refusal: FieldRefusedError, optional: list[str]) -> Form | None:
    """The form without the field that a refusal names; None where it names none that may be left out."""
    words = refusal.named.lower()
    for name in optional:
        if name in form.left_out or not re.search(_NAMES[name], words):
            continue
        if name == BUDGETS[0] and form.budget == BUDGETS[0]:
            return replace(form, budget=BUDGETS[1])
        return replace(form, left_out=(*form.left_out, name))
    return None


def _search(optional: list[str], refusal: FieldRefusedError | None, send: Callable[[Form], None]) -> Form:
    """Begin with no optional field, and take back each that the server does not refuse."""
    others = tuple(name for name in optional if name != BUDGETS[0])
    with_budget = [Form(others, budget) for budget in BUDGETS] if BUDGETS[0] in optional else []
    for form in (*with_budget, Form(tuple(optional))):
        try:
            send(form)
        except FieldRefusedError as error:
            refusal = error
        else:
            break
    else:
        assert refusal is not None  # noqa: S101 - the last form was refused
        raise refusal
    for name in reversed(others):
        fuller = replace(form, left_out=tuple(other for other in form.left_out if other != name))
        try:
            send(fuller)
        except FieldRefusedError:
            continue
        form = fuller
    return form
