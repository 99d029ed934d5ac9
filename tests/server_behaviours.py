"""Behaviours of real servers: their replies, and the expected result of a run.

A behaviour maps a request to a reply. The expected result is "answer" if the run must read every answer. Otherwise it
is a pattern of the line that must end the run, or that must be part of each failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.chat_stub import Reply, prompt_of

KEY = 'sk-invented-0123"456\\789abcdef'
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Behaviour:
    """A way to answer.

    Attributes:
        name: Name of the behaviour.
        answer: Maps a request, and the number of earlier requests with its prompt, to a reply.
        baselines: "answer", or a pattern of the message of a run of `baselines`.
        builder: The same for a stage of the builder; None if it is equal.
        n_most: Most requests per question.
    """

    name: str
    answer: Callable[[Body, int], Reply]
    baselines: str = "answer"
    builder: str | None = None
    n_most: int = 12


def right(body: Body) -> str:
    """Return the correct answer to a request of either room."""
    return '{"ranking": [2, 1, 5, 4, 3]}' if "query of t" in prompt_of(body) else '{"a": 1}'


def completion(
    message: Mapping[str, Any], finish: Any = "stop", usage: Mapping[str, Any] | None = None, **more: Any
) -> Reply:
    """Return a chat completion with any message."""
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    counted = {"prompt_tokens": 50, "completion_tokens": 5} if usage is None else usage
    value = {"object": "chat.completion", "model": "stub-2", "choices": [choice], "usage": counted, **more}
    return Reply(raw=json.dumps(value).encode())


def good(body: Body) -> Reply:
    return completion({"content": right(body)})


def error(status: int, body: Any, **headers: str) -> Reply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status=status, raw=raw, headers={name.replace("_", "-"): value for name, value in headers.items()})


def says(status: int, message: str, **fields: Any) -> Reply:
    return error(status, {"error": {"message": message, **fields}})


def refuses(field: str, reply: Reply) -> Callable[[Body, int], Reply]:
    """Refuse requests with a field."""
    return lambda body, before: reply if field in body else good(body)


def ends(finish: Any) -> Callable[[Body, int], Reply]:
    """Send the whole answer with a finish reason."""
    return lambda body, before: completion({"content": right(body)}, finish)


def once(reply: Reply) -> Callable[[Body, int], Reply]:
    """Fail at the first attempt, and answer at the second."""
    return lambda body, before: good(body) if before else reply


def always(reply: Reply) -> Callable[[Body, int], Reply]:
    return lambda body, before: reply


def in_call(name: str, make: Callable[[str], Any]) -> Callable[[Body, int], Reply]:
    """Send the answer in a tool call."""
    return lambda body, before: completion({"content": None, name: make(right(body))}, "tool_calls")


def _bare(body: Body, before: int) -> Reply:
    refused = {"temperature", "top_p", "seed", "response_format", "max_tokens"} & body.keys()
    return Reply("bad request", status=400) if refused else good(body)


def _picky(body: Body, before: int) -> Reply:
    if body.get("temperature", 1) != 1:
        return says(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature")
    if "max_tokens" in body:
        return says(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", param="max_tokens")
    return good(body)


def _thinks(body: Body, before: int) -> Reply:
    return completion({"content": None, "reasoning_content": "I look at each of them."}, "length")


def _thinks_first(body: Body, before: int) -> Reply:
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 75}
    return completion({"content": right(body), "reasoning": "First [1], then [2]."}, "stop", usage)


def _parts(body: Body, before: int) -> Reply:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "[5] > [4]"}]}
    return completion({"content": [thinking, {"type": "text", "text": right(body)}]})


def _repeats_key(body: Body, before: int) -> Reply:
    return completion({"content": f"{right(body)}\n\n", "reasoning": f"the key is {KEY}"}, "stop", model=KEY)


_RATE = "the provider is over its rate limit"
_NO_TOKENS = {"prompt_tokens": 50, "completion_tokens": 0}
_PAGE = b"<!DOCTYPE html><html><head><style>b{}</style><title>502 Bad Gateway</title></head><body>nginx</body></html>"
_EXTRA = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}
_NULL = completion({"content": None}, "stop", _NO_TOKENS)
_BUDGET = "Could not finish the message because max_tokens or model output limit was reached."
_TOO_SMALL = "thinks, and . answers in a row are empty.*--answer-tokens"

BEHAVIOURS = (
    Behaviour("good", lambda body, before: good(body), n_most=1),
    # Refused fields.
    Behaviour("reasoning model", _picky),
    Behaviour("no response_format", refuses("response_format", says(400, "response_format is not supported"))),
    Behaviour("no schema, status 500", refuses("response_format", says(500, "cannot compile grammar"))),
    Behaviour("no seed, pydantic", refuses("seed", error(422, _EXTRA))),
    Behaviour("no top_p", refuses("top_p", says(400, "not supported", param="top_p"))),
    Behaviour("no top_p, in status 200", refuses("top_p", error(200, {"error": {"code": 400, "message": "no top_p"}}))),
    Behaviour("no field at all", _bare),
    Behaviour("no request at all", always(says(400, "no way")), "refuses even a single word, status 400: no way"),
    # Ends of whole answers.
    *(Behaviour(f"finish {end!r}", ends(end)) for end in (
        None, "", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "STOP", "COMPLETE", "unknown",
    )),
    Behaviour("tool call", in_call("tool_calls", lambda text: [{"function": {"name": "rank", "arguments": text}}])),
    Behaviour("tool call, parsed", in_call("tool_calls", lambda text: [{"function": {"arguments": json.loads(text)}}])),
    Behaviour("function call", in_call("function_call", lambda text: {"name": "rank", "arguments": text})),
    Behaviour("content in parts", _parts),
    Behaviour("thinks, then answers", _thinks_first),
    # Missing answers.
    Behaviour("thinks", _thinks, _TOO_SMALL, "cut"),
    Behaviour("thinks, status 400", always(says(400, _BUDGET)), "answers in a row are empty.*--answer-tokens", "cut"),
    Behaviour("withheld", ends("content_filter"), "withheld .*content_filter", "filtered"),
    Behaviour("blocked", ends("PROHIBITED_CONTENT"), "withheld .*PROHIBITED_CONTENT", "filtered"),
    Behaviour("finish error, once", once(completion({"content": "{"}, "error"))),
    Behaviour("finish error", always(completion({"content": "{"}, "error")), "finish_reason 'error'"),
    Behaviour("null, once", once(_NULL)),
    Behaviour("null", always(_NULL), "holds no token"),
    # Errors inside status 200.
    Behaviour("error beside, once", once(completion({"content": ""}, error={"message": _RATE, "code": 429}))),
    Behaviour("error beside", always(completion({"content": ""}, error={"message": _RATE, "code": 429})), _RATE),
    Behaviour("error only, once", once(error(200, {"error": {"message": _RATE, "code": 502}}))),
    Behaviour("error only", always(error(200, {"error": {"message": _RATE, "code": 429}})), f"{_RATE}, 3 times"),
    Behaviour("error as a text", always(error(200, {"error": _RATE})), _RATE),
    Behaviour("error in a list", always(error(200, [{"error": {"message": _RATE, "status": "UNAVAILABLE"}}])), _RATE),
    Behaviour("error in detail", always(error(200, {"detail": _RATE})), _RATE),
    Behaviour("error in the choice, once", once(error(200, {"choices": [{"error": {"message": _RATE}}]}))),
    Behaviour("no choices, once", once(error(200, {"choices": []}))),
    Behaviour("choices null", always(error(200, {"choices": None, "message": _RATE})), _RATE),
    # Busy, broken or gone.
    Behaviour("429 with Retry-After", once(error(429, b"{}", Retry_After="0.01"))),
    Behaviour("429 without", once(says(429, "slow down"))),
    Behaviour("429 for an hour", always(error(429, b"{}", Retry_After="3600")), "asks to wait for 3600 s", n_most=1),
    Behaviour("no credit", always(says(429, "over quota", code="insufficient_quota")), "has no credit", n_most=1),
    Behaviour("pay first", always(says(402, "Payment required")), "Payment required.*has no credit", n_most=1),
    Behaviour("503, once", once(says(503, "loading model"))),
    Behaviour("503", always(says(503, "loading model")), "status 503: loading model, 3 times"),
    Behaviour("connection lost, once", once(Reply("half of it", cut=True))),
    Behaviour("connection lost", always(Reply("half of it", cut=True)), "no connection"),
    Behaviour("page of a gateway", always(error(502, _PAGE)), "status 502: an HTML page: 502 Bad Gateway nginx"),
    Behaviour("page with status 200", always(error(200, _PAGE)), "no JSON: an HTML page: 502 Bad Gateway"),
    Behaviour("no JSON, once", once(error(200, b"upstream timed out"))),
    Behaviour("stream of events", always(error(200, b'data: {"choices": []}\n\n')), "a stream of events"),
    Behaviour("bottomless JSON", always(error(200, b"[" * 100_000)), "no JSON"),
    Behaviour("huge", always(error(200, b" " * 300_000)), "larger than", n_most=1),
    Behaviour("slow, once", lambda body, before: Reply(raw=good(body).raw, delay_s=0.0 if before else 0.6)),
    Behaviour("slow", lambda body, before: Reply(raw=good(body).raw, delay_s=0.6), "no answer within 0.3 s, 3 times"),
    # Mistakes of the user. Servers repeat the key.
    Behaviour("401", always(says(401, f"Incorrect API key provided: {KEY}")), r"status 401.*was refused", n_most=1),
    Behaviour("401, masked", always(says(401, f"Bad {KEY[:8]}***{KEY[-4:]}")), r"Bad \*\*\*; the key", n_most=1),
    Behaviour("403", always(says(403, f"no access with {KEY!r}")), r"status 403.*\*\*\*.*check the key", n_most=1),
    Behaviour("404", always(says(404, "no such model")), "no model 'stub' there", n_most=1),
    Behaviour("500 with the key", always(says(500, f"{'x' * 190} Bearer {KEY}")), r"status 500: x{190} Bea"),
    Behaviour("key in the answer", _repeats_key),
)  # fmt: skip

# One of each kind, for `make test`.
QUICK = {
    "good", "reasoning model", "no field at all", "no request at all", "finish None", "finish 'eos'", "tool call",
    "content in parts", "thinks", "withheld", "null, once", "error beside, once", "error only", "choices null",
    "429 with Retry-After", "no credit", "connection lost, once", "page of a gateway", "401", "500 with the key",
}  # fmt: skip
