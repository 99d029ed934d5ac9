"""Errors for a person: one line that says what was found, what was expected and what to do; exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable


class UserError(ValueError):
    """A mistake in what the user gave (a path, a name, a file), told in words that they can act on."""


def front_door(app: Callable[[], object]) -> None:
    """Run a command-line application so that a user's mistake ends in one line and exit code 2, never a traceback.

    Args:
        app: A typer application, or any function without arguments.
    """
    try:
        app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `... | head`
        sys.stderr.close()
        sys.exit(1)
