"""Errors for users: one line that states what was found, what was expected and what to do; exit code 2."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_SHOWN = 60
_HANDLER = "musicrs-replace"  # of signs that an encoding lacks


class UserError(ValueError):
    """A mistake in the user's input (a path, a name, a file), with a message that says what to do."""


def front_door(app: Callable[..., object]) -> None:
    """Run a command-line application. A user's mistake ends in one line and exit code 2, never in a traceback.

    So does a wrong option or argument. A command without its subcommand prints its help.

    An error of the operating system ends in the same way. An output encoding without some signs does not stop it.

    Args:
        app: A typer application, or any function without arguments.
    """
    try:
        with _replacing_signs():
            _run(app)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `... | head`
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # no permission, a folder instead of a file, a full disk: the user can fix these
        print(
            f"error: {error.filename2 or error.filename or 'file system'}: {error.strerror or error}", file=sys.stderr
        )
        sys.exit(2)


def _run(app: Callable[..., object]) -> None:
    """Call a typer application, or any other function, and print a wrong option in one line."""
    import typer

    if not isinstance(app, typer.Typer):
        app()
        return
    usage_error: Any = typer.BadParameter.__base__  # the one name that all versions of typer share with their click
    try:
        code = app(standalone_mode=False)
    except typer.Abort:  # an answer to a question was refused
        print("stopped: nothing was done", file=sys.stderr)
        sys.exit(1)
    except usage_error as error:
        _print_usage_error(error)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)  # the exit code of `typer.Exit`


def _print_usage_error(error: Any) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.ctx.get_help(), end="")
        return
    message = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
    end = "" if message.endswith("?") else "."
    help_line = f"{end} `{error.ctx.command_path} --help` lists the options" if error.ctx else ""
    print(f"error: {message[:1].lower()}{message[1:]}{help_line}", file=sys.stderr)


@contextmanager
def _replacing_signs() -> Iterator[None]:
    """Print `?` for a sign that the encoding of standard output lacks, and report it at the end."""
    replaced = False

    def replace(error: UnicodeError) -> tuple[str, int]:
        nonlocal replaced
        if not isinstance(error, UnicodeEncodeError):
            raise error
        replaced = True
        return "?" * (error.end - error.start), error.end

    codecs.register_error(_HANDLER, replace)
    changed = [
        (stream, stream.errors)
        for stream in (sys.stdout, sys.stderr)
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict"
    ]
    for stream, _ in changed:
        stream.reconfigure(errors=_HANDLER)
    try:
        yield
    finally:
        for stream, errors in changed:
            if not stream.closed:
                stream.reconfigure(errors=errors)  # flushes first, so that all signs are counted
        if replaced and not sys.stderr.closed:
            encoding = sys.stdout.encoding
            print(
                f"the output is {encoding}, which lacks some of the signs; they are printed as ?. "
                "Set PYTHONIOENCODING=utf-8 to print all of them",
                file=sys.stderr,
            )


def show(value: Any) -> str:
    """Describe a value in a few words, safe for a terminal: text in quotes, long text cut, lists by their length.

    Args:
        value: Any value of a file or a caller.
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    shown = repr(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def plain(text: str) -> str:
    """Return a name as it is if it is short and printable, else as `show` describes it."""
    return text if text.isprintable() and len(text) <= _SHOWN else show(text)


def is_unicode(text: str) -> bool:
    """Return whether a text can be stored. Half a surrogate pair, which JSON can spell, is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def some(words: Sequence[str], most: int = 5) -> str:
    """Join the first words with commas and count the rest, so that a message stays one line."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def count(n: int, noun: str) -> str:
    """Write a number with its noun, in the plural except for 1."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
