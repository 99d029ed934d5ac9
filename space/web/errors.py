"""Answers to HTTP calls that name an unknown endpoint or field: an error that lists the valid names."""

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
    """Return the handlers for `launch(app_kwargs={"exception_handlers": ...})` of a gradio app.

    Gradio looks up the names without a check, and answers a bare "Internal Server Error".
    """
    return dict.fromkeys((TypeError, KeyError, FnIndexInferError), _answer)


async def _answer(request: Request, error: Exception) -> Response:
    """Answer wrong names of a call. An exception with another cause is raised again."""
    if _CALL not in request.url.path:
        raise error
    endpoint = str(request.path_params.get("api_name"))
    endpoints = request.app.get_blocks().get_api_info()["named_endpoints"]
    if f"/{endpoint}" not in endpoints:
        return _refusal(404, f"found no endpoint {show(endpoint)}, expected {_listed(name[1:] for name in endpoints)}")
    fields = {
        field["parameter_name"]: field["parameter_has_default"] for field in endpoints[f"/{endpoint}"]["parameters"]
    }
    sent = await request.json()
    for name in sent:
        if name not in fields:
            return _refusal(400, f"{endpoint}: found {show(name)}, expected {_listed(fields)}")
    required = [name for name, has_default in fields.items() if not has_default and name not in sent]
    if not required:
        raise error
    others = f"; it also accepts {_listed(rest)}" if (rest := [name for name in fields if name not in required]) else ""
    return _refusal(400, f"{endpoint}: {_listed(required)} is missing{others}")


def _refusal(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
