"""What people choose with: native fields, whose names are parts of the address (`address.Address`)."""

from __future__ import annotations

from collections.abc import Mapping

from .address import STANDARD, Address
from .html import Html, tag


def choice(name: str, label: str, options: Mapping[str, str], address: Address) -> Html:
    """A labelled list to choose from.

    Args:
        name: Part of the address that it sets.
        label: What it is called.
        options: Value to what it is called.
        address: What the page shows.
    """
    chosen = getattr(address, name)
    made = [tag("option", text, value=value, selected=value == chosen) for value, text in options.items()]
    return _labelled(label, tag("select", made, name=name, **_state(name, chosen)))


def filter_choice(name: str, label: str, options: Mapping[str, str], address: Address) -> Html:
    """A labelled list that starts with "all"."""
    return choice(name, label, {"": "All", **options}, address)


def joined_choice(name: str, label: str, options: Mapping[str, str], chosen: str) -> Html:
    """One of several lists that set one part of the address together, with commas between."""
    made = [tag("option", text, value=value, selected=value == chosen) for value, text in options.items()]
    return _labelled(label, tag("select", made, data_join=name, data_chosen=chosen))


def search(label: str, address: Address) -> Html:
    """A labelled search field."""
    field = tag("input", type="search", name="find", value=address.find, maxlength=200, **_state("find", address.find))
    return _labelled(label, field)


def switch(name: str, label: str, address: Address) -> Html:
    """A tick box for a part of the address that is "yes" or "no"."""
    chosen = getattr(address, name)
    field = tag("input", type="checkbox", name=name, checked=chosen == "yes", **_state(name, chosen))
    return tag("label", field, tag("span", label), class_="switch")


def form(label: str, *fields: Html | None) -> Html:
    """Fields that change the address as soon as one of them changes.

    Args:
        label: What they are for, for screen readers.
        fields: The fields, with their labels.
    """
    return tag("form", fields, class_="controls", aria_label=label)


def link(
    address: Address, *content: str | Html | None, label: str | None = None, class_: str | None = None, **changes: str
) -> Html:
    """A link within the page: the same page with something changed.

    Args:
        address: What the page shows.
        content: What the link shows.
        label: What it is called where that says too little.
        class_: Its class.
        changes: What is changed.
    """
    return tag("a", content, href=address.to(**changes), data_go=True, aria_label=label, class_=class_)


def _labelled(label: str, field: Html) -> Html:
    return tag("label", tag("span", label), field, class_="choice")


def _state(name: str, chosen: str) -> dict[str, str]:
    # A field that somebody has touched no longer follows its attributes: the page sets it from `data-chosen` when
    # another address was opened. What is as it always is stays out of the address.
    return {"data_chosen": chosen, "data_standard": STANDARD[name]}
