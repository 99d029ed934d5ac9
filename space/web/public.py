"""Public routes: the table as JSON, the predictions of a row, and the state of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError

from ..board.table_rows import RowQuery
from ..service import LeaderboardService
from .fields import row_query

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

TABLE_PATH = "/leaderboard.json"
PREDICTIONS_PATH = "/predictions.jsonl"
HEALTH_PATH = "/healthz"


class PublicRoutes:
    """Answers `GET /leaderboard.json`, `GET /predictions.jsonl?key=KEY` and `GET /healthz`.

    Args:
        service: The leaderboard.
    """

    def __init__(self, service: LeaderboardService) -> None:
        self.service = service

    def routes(self) -> list[BaseRoute]:
        """Return the routes for `launch(app_kwargs={"routes": ...})` of a gradio app."""
        from starlette.routing import Route

        endpoints = ((TABLE_PATH, self.leaderboard), (PREDICTIONS_PATH, self.predictions), (HEALTH_PATH, self.health))
        return [Route(path, endpoint, methods=["GET"]) for path, endpoint in endpoints]

    def table(self, query: RowQuery, *, details: bool = False) -> bytes:
        """Return the table as JSON, in the form of the endpoint `/leaderboard`.

        Raises:
            UserError: The query names an unknown version, pool design, genre, choice or order.
        """

        def compute() -> bytes:
            return to_json(self.service.leaderboard(query, details=details)).encode()

        return self.service.board_of(query.version).cached(("json", query, details), compute)

    def leaderboard(self, request: Request) -> Response:
        """Answer with the table, or with status 400 and the error."""
        sent = dict(request.query_params)
        details = sent.pop("details", "") == "true"
        try:
            return _json(self.table(row_query(sent), details=details))
        except UserError as error:
            return _json(to_json({"error": str(error)}), status=400)

    def health(self, _request: Request) -> Response:
        """Answer with the number of rows, or with status 503 if submissions do not reach the disk or the Hub."""
        board = self.service.board
        snapshot = board.snapshot()
        problem = self.service.storage_problem()
        about = {
            "ok": problem is None,
            "rows": len(snapshot.rows),
            "pending": snapshot.pending,
            "set_aside": len(snapshot.set_aside),
        }
        # The words of a problem may name files or a repository of the owner, who reads them in the page and the log.
        return _json(to_json(about), status=200 if problem is None else 503)

    def predictions(self, request: Request) -> Response:
        """Answer with a prediction file, with status 404 and the error, or 410 for a withdrawn row."""
        from starlette.responses import Response

        key = request.query_params.get("key", "")
        try:
            text = self.service.predictions(key)
        except UserError as error:
            return _json(to_json({"error": str(error)}), status=410 if self.service.is_withdrawn(key) else 404)
        # A known key holds hexadecimal digits only, so it is safe in a file name.
        headers = {"Content-Disposition": f'attachment; filename="predictions-{key[:12]}.jsonl"'}
        return Response(text, media_type="application/jsonl", headers=headers)


def _json(content: str | bytes, *, status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(content, status_code=status, media_type="application/json")
