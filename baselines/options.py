"""The options of a system: fields of a frozen dataclass, read from `--name value` on the command line.

Declare a field as in `center: bool = option(False, "subtract the mean vectors")`. Then `--center` sets it. Declare an
option that changes no ranking, such as a number of attempts, with `identity=False`. A stopped run can then resume with
another value.
"""

from __future__ import annotations

import argparse
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields, make_dataclass
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
        default: Value if the user sets none.
        text: Help for `show`, in one line.
        identity: Whether two values mean two different runs.
        aliases: Former names of values and their present names. They work, but no help shows them.
        read: Converts the text of the command line to the value, such as a path to the content of the file. It raises
            `UserError`.
    """
    metadata = {"help": text, "identity": identity, "aliases": aliases or {}, "read": read}
    return field(default=default, metadata=metadata)


def with_defaults(cls: type[Any], **defaults: Any) -> type[Any]:
    """Return an options class with other defaults.

    Args:
        cls: A frozen dataclass of options.
        defaults: Field names and their new defaults.
    """
    hints = get_type_hints(cls)
    metadata = {item.name: item.metadata for item in fields(cls)}
    changed = [(name, hints[name], field(default=value, metadata=metadata[name])) for name, value in defaults.items()]
    return make_dataclass(cls.__name__, changed, bases=(cls,), frozen=True)


def parse_options(cls: type[Any], arguments: Sequence[str], system: str) -> Any:
    """Read the options of a system.

    Args:
        cls: The dataclass that declares them. Fields are bool, int, float, str, Path, a Literal of strings, or one of
            these or None.
        arguments: Arguments of the command line, without the options of the runner.
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
    """Return the name of a field on the command line."""
    return f"--{name.replace('_', '-')}"


def as_json(options: Any) -> dict[str, Any]:
    """Return options as plain JSON types, for the run card."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(options).items()}


def passing_options(options: Any) -> list[str]:
    """Return the names of the options that are not part of the identity of a run."""
    return [item.name for item in fields(options) if not item.metadata.get("identity", True)]


def describe(options: Any) -> Iterator[tuple[str, str, str]]:
    """Yield flag, default and help of every option, of an instance or of a class."""
    for item in fields(options):
        yield flag(item.name), str(item.default), item.metadata.get("help", "")


def changed_options(options: Any) -> str:
    """Return the options whose values differ from the defaults and change rankings, as on the command line."""
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
        except UserError as error:  # argparse shows the text of its own errors only
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _keywords(hint: Any, aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of `add_argument` for a type."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(choice for choice in get_args(hint) if choice is not type(None))
    if hint is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint), "type": lambda value: aliases.get(value, value)}
    return {"type": hint}
