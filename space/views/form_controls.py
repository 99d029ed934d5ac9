"""Form controls of the page: native fields, named after the attributes of `address.Address`."""

from __future__ import annotations

from collections.abc import Mapping

from .address import ALL_ROWS, STANDARD, Address
from .display_names import STATUS
from .html import Html, tag


def choice(name: str, label: str, options: Mapping[str, str], address: Address) -> Html:
    """Return a labelled list of options.

    Args:
        name: Attribute of the address that it sets.
        label: Label of the list.
        options: Value to text of each option.
        address: State of the page.
    """
    chosen = getattr(address, name)
    items = [tag("option", text, value=value, selected=value == chosen) for value, text in options.items()]
    return _labelled(label, tag("select", items, name=name, **_state(name, chosen)))


def filter_choice(name: str, label: str, options: Mapping[str, str], address: Address) -> Html:
    """Return a labelled list that starts with "All"."""
    return choice(name, label, {"": "All", **options}, address)


def status_choice(address: Address) -> Html:
    """Return the list of the status. A leaderboard with another default needs a value for all rows."""
    every = ALL_ROWS if address.status else ""
    return choice("status", "Status", {every: "All", **STATUS}, address)


def joined_choice(name: str, label: str, options: Mapping[str, str], chosen: str) -> Html:
    """Return one of several lists that set one attribute of the address together, separated by commas."""
    items = [tag("option", text, value=value, selected=value == chosen) for value, text in options.items()]
    return _labelled(label, tag("select", items, data_join=name, data_chosen=chosen))


def search(label: str, address: Address) -> Html:
    """Return a labelled search field."""
    field = tag("input", type="search", name="find", value=address.find, maxlength=200, **_state("find", address.find))
    return _labelled(label, field)


def form(label: str, *fields: Html | None) -> Html:
    """Return a form that changes the URL as soon as one of its fields changes.

    Args:
        label: Purpose of the form, for screen readers.
        fields: Fields with their labels.
    """
    return tag("form", fields, class_="controls", aria_label=label)


def link(
    address: Address, *content: str | Html | None, label: str | None = None, class_: str | None = None, **changes: str
) -> Html:
    """Return a link within the page: the same page with some changes.

    Args:
        address: State of the page.
        content: Content of the link.
        label: Text for screen readers if the content is not enough.
        class_: CSS class.
        changes: Changed attributes of the address.
    """
    return tag("a", content, href=address.to(**changes), data_go=True, aria_label=label, class_=class_)


def _labelled(label: str, field: Html) -> Html:
    return tag("label", tag("span", label), field, class_="choice")


def _state(name: str, chosen: str) -> dict[str, str]:
    # A field that the user has changed no longer follows its attributes, so the script sets it from `data-chosen`
    # after each change of the URL. Standard values stay out of the URL.
    return {"data_chosen": chosen, "data_standard": STANDARD[name]}
