"""Calls over plain HTTP that name an endpoint or a field that there is not: answered with the names that there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from gradio.route_utils import FnIndexInferError
from starlette.responses import JSONResponse

from musicrs_metric.errors import show

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_CALL = "/call/"
Handler = Callable[["Request", Exception], Awaitable["Response"]]


def handlers() -> Mapping[type[Exception], Handler]:
    """What a gradio app takes as `launch(app_kwargs={"exception_handlers": ...})`.

    Gradio looks names up and lets whatever comes of it pass: a bare "Internal Server Error" to the other end.
    """
    return dict.fromkeys((TypeError, KeyError, FnIndexInferError), _answer)


async def _answer(request: Request, error: Exception) -> Response:
    """Say what is wrong with the names of a call; what has another cause goes on as it came."""
    if _CALL not in request.url.path:
        raise error
    endpoint = str(request.path_params.get("api_name"))
    endpoints = request.app.get_blocks().get_api_info()["named_endpoints"]
    if f"/{endpoint}" not in endpoints:
        return _refusal(404, f"found no endpoint {show(endpoint)}, expected {_listed(name[1:] for name in endpoints)}")
    fields = {one["parameter_name"]: one["parameter_has_default"] for one in endpoints[f"/{endpoint}"]["parameters"]}
    given = await request.json()
    for name in given:
        if name not in fields:
            return _refusal(400, f"{endpoint}: found {show(name)}, expected {_listed(fields)}")
    needed = [name for name, has_default in fields.items() if not has_default and name not in given]
    if not needed:
        raise error
    others = f"; it also takes {_listed(rest)}" if (rest := [name for name in fields if name not in needed]) else ""
    return _refusal(400, f"{endpoint}: {_listed(needed)} is missing{others}")


def _refusal(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
