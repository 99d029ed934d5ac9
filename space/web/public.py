"""What everybody who can open an address gets: the table, quick enough to be asked often, and predictions of a row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.run_card import Modality, Paradigm, Reads

from ..board.board import Snapshot
from ..board.lines import Query
from ..service import LeaderboardService

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

ADDRESS = "/leaderboard.json"
PREDICTIONS = "/predictions.jsonl"
_KEPT = 64
_YES_OR_NO = {"true": True, "false": False, "": None}
_FIELDS = ("pools", "modality", "paradigm", "reads", "genre", "open_weights", "reported", "sort", "ascending")


class PublicRoutes:
    """The text of the table for each query, made once for each state of the board.

    Args:
        service: The board.
    """

    def __init__(self, service: LeaderboardService) -> None:
        self.service = service
        self._lock = Lock()
        self._kept_of: Snapshot | None = None
        self._kept: OrderedDict[tuple[Query, bool], bytes] = OrderedDict()

    def text(self, query: Query, *, details: bool = False) -> bytes:
        """The table as JSON, as the endpoint `/leaderboard` has it.

        Raises:
            UserError: The query names what there is not.
        """
        snapshot, what = self.service.board.snapshot(), (query, details)
        with self._lock:
            if self._kept_of is not snapshot:
                self._kept_of, self._kept = snapshot, OrderedDict()
            if what in self._kept:
                return self._kept[what]
        made = to_json(self.service.leaderboard(query, details=details)).encode()
        with self._lock:
            # Ranks within a genre are made anew some seconds after a submission, so their table is not kept.
            if self._kept_of is snapshot and query.genre is None:
                self._kept[what] = made
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return made


def routes(service: LeaderboardService) -> list[BaseRoute]:
    """Make `GET /leaderboard.json` and `GET /predictions.jsonl?key=KEY`.

    A gradio app takes them as `launch(app_kwargs={"routes": ...})`.

    Args:
        service: What answers.
    """
    from starlette.responses import Response as Answer
    from starlette.routing import Route

    feed = PublicRoutes(service)

    def predictions(request: Request) -> Response:
        key = request.query_params.get("key", "")
        try:
            text = service.predictions(key)
        except UserError as error:
            return Answer(to_json({"error": str(error)}), status_code=404, media_type="application/json")
        # A name ends in what stands in a key, hexadecimal digits.
        saved = {"Content-Disposition": f'attachment; filename="predictions-{key[:12]}.jsonl"'}
        return Answer(text, media_type="application/jsonl", headers=saved)

    def leaderboard(request: Request) -> Response:
        try:
            asked = dict(request.query_params)
            details = asked.pop("details", "") == "true"
            return Answer(feed.text(query_of(asked), details=details), media_type="application/json")
        except UserError as error:
            return Answer(to_json({"error": str(error)}), status_code=400, media_type="application/json")

    addresses = ((ADDRESS, leaderboard), (PREDICTIONS, predictions))
    return [Route(address, answer, methods=["GET"]) for address, answer in addresses]


def query_of(asked: Mapping[str, Any]) -> Query:
    """A query from names and values that somebody sent: text, or true and false.

    Args:
        asked: pools, modality, paradigm, reads, genre, open_weights, reported, sort and ascending; what is empty or
            left out is as if not asked for.

    Raises:
        UserError: A name that there is not, or a value of another type.
    """
    for name, value in asked.items():
        if name not in _FIELDS:
            raise UserError(f"found {show(name)}, expected {', '.join(_FIELDS)} or details")
        if not isinstance(value, str | bool | None):
            raise UserError(f"{name} is {show(value)}, expected text")
    text = {name: value if isinstance(value, str) else "" for name, value in asked.items()}

    def chosen(name: str) -> tuple[str, ...]:
        return (text[name],) if text.get(name) else ()

    def flag(name: str) -> bool | None:
        value = asked.get(name)
        if isinstance(value, bool) or value is None:
            return value
        if value not in _YES_OR_NO:
            raise UserError(f"{name} is {show(value)}, expected true or false")
        return _YES_OR_NO[value]

    return Query(
        design=text.get("pools") or None,
        modality=cast(tuple[Modality, ...], chosen("modality")),
        paradigm=cast(tuple[Paradigm, ...], chosen("paradigm")),
        reads=cast(tuple[Reads, ...], chosen("reads")),
        genre=text.get("genre") or None,
        open_weights=flag("open_weights"),
        reported=flag("reported") is not False,
        sort=text.get("sort") or "recall@20",
        ascending=flag("ascending") is True,
    )
