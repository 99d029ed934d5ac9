"""The options of a system: fields of a frozen dataclass, read from `--name value` on the command line.

A field is declared as in `center: bool = option(False, "subtract the mean vectors")`, and `--center` sets it. One that
changes how a run goes but no ranking, such as a number of attempts, is declared with `identity=False`: a run that was
stopped goes on with another value of it.
"""

from __future__ import annotations

import argparse
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from musicrs_metric.errors import UserError


def option(
    default: Any,
    text: str,
    *,
    identity: bool = True,
    aliases: Mapping[str, str] | None = None,
    read: Callable[[str], str] | None = None,
) -> Any:
    """Declare an option.

    Args:
        default: Its value where the user says nothing.
        text: One line for `show`.
        identity: Whether runs under two values of it are two runs.
        aliases: Earlier names of values to their names of today; they are understood and shown nowhere.
        read: Makes the value out of what the command line says, such as the content of a file; raises `UserError`.
    """
    metadata = {"help": text, "identity": identity, "aliases": aliases or {}, "read": read}
    return field(default=default, metadata=metadata)


def parse_options(cls: type[Any], arguments: Sequence[str], system: str) -> Any:
    """Read the options of a system.

    Args:
        cls: The dataclass that declares them; fields are bool, int, float, str, Path, a Literal of strings, or one of
            these or None.
        arguments: What the command line holds beyond the runner's own options.
        system: Name of the system, for messages.

    Returns:
        An instance of `cls`.

    Raises:
        UserError: An unknown option, or a value of another type.
    """
    parser = _Parser(prog=system, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    hints = get_type_hints(cls)
    for item in fields(cls):
        read, aliases = item.metadata.get("read"), item.metadata.get("aliases", {})
        keywords = {"type": _reader(read)} if read else _keywords(hints[item.name], aliases)
        parser.add_argument(flag(item.name), dest=item.name, **keywords)
    known, unknown = parser.parse_known_args(list(arguments))
    if unknown:
        flags = ", ".join(flag(item.name) for item in fields(cls))
        raise UserError(f"{unknown[0]}: no such option of `run`, nor of {system}, which takes {flags or 'none'}")
    return cls(**vars(known))


def flag(name: str) -> str:
    """How a field is written on the command line."""
    return f"--{name.replace('_', '-')}"


def as_json(options: Any) -> dict[str, Any]:
    """Options as plain JSON types, for the run card."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(options).items()}


def passing_options(options: Any) -> list[str]:
    """The names of those that are no part of a run's identity."""
    return [item.name for item in fields(options) if not item.metadata.get("identity", True)]


def describe(options: Any) -> Iterator[tuple[str, str, str]]:
    """Flag, default and help line of every option of an instance or of the class."""
    for item in fields(options):
        yield flag(item.name), str(item.default), item.metadata.get("help", "")


def chosen(options: Any) -> str:
    """The options that make a run another one than the defaults do, as one would type them."""
    words = []
    for item in fields(options):
        value = getattr(options, item.name)
        if value != item.default and item.metadata.get("identity", True):
            words.append(flag(item.name) if value is True else f"{flag(item.name)} {value}")
    return " ".join(words)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{self.prog}: {message}")


def _reader(read: Callable[[str], str]) -> Callable[[str], str]:
    def convert(text: str) -> str:
        try:
            return read(text)
        except UserError as error:  # argparse keeps the words of its own errors only
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _keywords(hint: Any, aliases: Mapping[str, str]) -> dict[str, Any]:
    """How argparse is to read a field of this type."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(choice for choice in get_args(hint) if choice is not type(None))
    if hint is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint), "type": lambda value: aliases.get(value, value)}
    return {"type": hint}
