"""What can be taken home: the table as it is shown, and the predictions of a row."""

from __future__ import annotations

from musicrs_metric.errors import UserError, show

from ..board.export import export, file_name_of
from ..board.lines import lines
from ..service import LeaderboardService
from .address import Address
from .leaderboard import FORMATS


def file_of(service: LeaderboardService, address: Address, what: object) -> dict[str, str]:
    """Make a file.

    Args:
        service: The board.
        address: What the page shows.
        what: "table" and a format, or "predictions" and the key of a row; anything may have been sent.

    Returns:
        `name` and `text` of the file; or `error`, in one sentence.
    """
    kind, _, which = what.partition(" ") if isinstance(what, str) else ("", "", "")
    try:
        if kind == "predictions":
            return {"name": f"predictions-{which[:12]}.jsonl", "text": service.predictions(which)}
        for form in FORMATS:
            if kind == "table" and which == form:
                return {"name": file_name_of(form), "text": export(lines(service.board, address.query), form)}
        raise UserError(f"found no file {show(what)}")
    except UserError as error:
        return {"error": str(error)}
