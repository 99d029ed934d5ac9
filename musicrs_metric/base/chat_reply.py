"""Chat completions as servers send them: the answer, its reasoning, its tokens, and the errors among them.

The reading is wide on purpose, because servers that call themselves OpenAI-compatible differ in every field. One rule
decides: an answer is whole unless the server says that it was cut, withheld or failed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Finish = Literal["whole", "cut", "withheld"]

# Reasons of OpenAI, Azure, vLLM, SGLang, TGI, Ollama, Mistral, DeepSeek, Gemini, Anthropic, Bedrock, Cohere, GLM.
_WITHHELD = re.compile(
    r"filter|safety|block|prohibit|recitation|spii|moderat|sensitive|guardrail|toxic|polic|violat|harm"
)
_FAILED = re.compile(
    r"error|fail|abort|cancel|malformed|time_?out|overload|interrupt|insufficient|unavailable|rate_?limit"
)
_CUT = re.compile(r"length|token|limit|window|truncat|incomplete")
_END_TOKEN = re.compile(r"eos|stop|end_of")  # "eos_token" and "stop_token" name a token, and no limit
# What errors call themselves where they give no number.
_STATUS_NAMES = (
    (r"rate.?limit|too.?many|overload|exhausted", 429),
    (r"invalid.?api.?key|authentication|unauthori", 401),
    (r"invalid.?(?:request|argument|parameter)|bad.?request|unsupported", 400),
)


class ReplyError(Exception):
    """A body that holds no answer.

    Attributes:
        status: HTTP status that the body itself names; None where it names none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Usage(NamedTuple):
    """Tokens as the server counts them; None where it does not say.

    Attributes:
        prompt: Tokens of the prompt, audio and cached tokens among them.
        reasoning: Tokens of the reasoning; 0 where the server counts answers and names none.
        answer: Tokens of the answer without the reasoning.
        cached: Tokens of the prompt that the server took from its cache.
    """

    prompt: int | None = None
    reasoning: int | None = None
    answer: int | None = None
    cached: int | None = None

    @property
    def written(self) -> int:
        """Tokens of reasoning and answer together; 0 where the server does not say."""
        return (self.reasoning or 0) + (self.answer or 0)


@dataclass(frozen=True)
class ChatReply:
    """An answer.

    Attributes:
        text: What the model wrote, and after it the arguments of its tool calls; empty where it wrote nothing.
        finish: "whole"; "cut" if it reached a limit of tokens; "withheld" if a filter removed it.
        reasoning: The reasoning of the model, if the server sends it in a field of its own; else empty.
        usage: Its tokens.
        model: What the server called the model; None where it does not say.
        finish_reason: The reason as the server wrote it.
    """

    text: str
    finish: Finish = "whole"
    reasoning: str = ""
    usage: Usage = Usage()  # noqa: RUF009 - a tuple
    model: str | None = None
    finish_reason: str | None = None


def read_reply(body: Any) -> ChatReply:
    """Read a chat completion.

    Args:
        body: What the server sent with status 200, as JSON types; anything at all.

    Returns:
        Its first choice.

    Raises:
        ReplyError: The body holds an error or no choice, the answer failed, or the answer is null and has no token.
            The message has the server's words.
    """
    error = _error_in(body)
    if error is not None:
        raise error
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        words = error_words(body)
        found = f"no chat completion but: {words}" if words else "the body holds no chat completion"
        raise ReplyError(found, error_status(body))
    error = _error_in(choice)
    if error is not None:
        raise error
    message = choice.get("message")
    if not isinstance(message, dict):
        if not isinstance(choice.get("text"), str):
            raise ReplyError("the body holds no chat completion")
        message = {"content": choice["text"]}
    usage = _usage(body.get("usage"))
    text, reasoning = _answer(message), _reasoning(message)
    reason = choice.get("finish_reason")
    name = reason if isinstance(reason, str) else None if reason is None else json.dumps(reason)
    finish = _finish(name)
    if finish is None:
        raise ReplyError(f"the answer ended with finish_reason {name!r}")
    if finish != "withheld" and not text.strip() and not reasoning and _is_nothing(message, usage, finish):
        raise ReplyError(f"the answer holds no token (finish_reason {name!r})")
    model = body.get("model")
    return ChatReply(text, finish, reasoning, usage, model if isinstance(model, str) and model else None, name)


def error_words(body: Any) -> str:
    """The words of an error as servers write them; empty where there are none.

    Args:
        body: JSON types, or the text of a page.
    """
    if isinstance(body, str):
        return _page_words(body)
    if isinstance(body, list):
        return "; ".join(dict.fromkeys(words for item in body[:5] if (words := error_words(item))))
    if not isinstance(body, dict):
        return ""
    found: list[str] = []
    for key in ("error", "errors", "message", "msg", "detail", "details", "error_msg", "error_message", "reason"):
        value = body.get(key)
        words = error_words(_unpacked(value)) if value else ""
        if words and not any(words in earlier for earlier in found):
            found.append(words)
    if isinstance(place := body.get("loc"), list):
        found.append(f"({'.'.join(map(str, place))})")
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # OpenRouter: the words of the provider behind it
        found.append(error_words(_unpacked(metadata["raw"])))
    if not found:
        found = [value for key in ("code", "type", "status") if isinstance(value := body.get(key), str)][:1]
    return " ".join(word for word in found if word)


def error_status(body: Any) -> int | None:
    """The HTTP status that an error names in its own fields; None where it names none."""
    if isinstance(body, list):
        return next((status for item in body[:5] if (status := error_status(item)) is not None), None)
    if not isinstance(body, dict):
        return None
    for key in ("code", "status", "status_code", "http_status"):
        value = body.get(key)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value) if len(value) == 3 else None
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    inner = (error_status(body.get(key)) for key in ("error", "errors", "detail"))
    names = " ".join(value for key in ("code", "type", "status") if isinstance(value := body.get(key), str)).lower()
    by_name = next((status for pattern, status in _STATUS_NAMES if re.search(pattern, names)), None)
    return next((status for status in inner if status is not None), by_name)


def _error_in(body: Any) -> ReplyError | None:
    """Return the error of a body or a choice, with or without an answer next to it."""
    if isinstance(body, list):
        return next((error for item in body[:1] if (error := _error_in(item)) is not None), None)
    if not isinstance(body, dict):
        return None
    if not (body.get("error") or body.get("errors") or body.get("object") == "error"):
        return None
    words, status = error_words(body), error_status(body)
    code = "" if status is None else f"code {status}: "
    return ReplyError(f"error in a reply of status 200: {code}{words or 'no reason is given'}", status)


def _finish(reason: str | None) -> Finish | None:
    """Meaning of a finish reason; None for a failure."""
    name = (reason or "").lower().replace("-", "_")
    if _WITHHELD.search(name):
        return "withheld"
    if _FAILED.search(name):
        return None
    return "cut" if _CUT.search(name) and not _END_TOKEN.search(name) else "whole"


def _answer(message: Mapping[str, Any]) -> str:
    """The text of a message: its content, or else its refusal or transcript, and the arguments of its tool calls."""
    text = _text(message.get("content"), ("text", "output_text", "refusal"))
    if not text.strip():
        audio = message.get("audio")
        transcript = audio.get("transcript") if isinstance(audio, dict) else None
        text = next((other for other in (message.get("refusal"), transcript) if isinstance(other, str)), text)
    calls = message.get("tool_calls")
    calls = [*(calls if isinstance(calls, list) else ()), {"function": message.get("function_call")}]
    return "\n".join(part for part in (text, *map(_arguments, calls)) if part)


def _arguments(call: Any) -> str:
    function = call.get("function") or call.get("custom") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return ""
    value = _unpacked(function.get("arguments") or function.get("input") or "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _reasoning(message: Mapping[str, Any]) -> str:
    for key in ("reasoning_content", "reasoning", "thinking", "reasoning_details"):
        text = _text(message.get(key), ("text", "summary", "content", "thinking", "reasoning"))
        if text:
            return text
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(_text(part.get(kind), ("text",)) for part in parts for kind in ("thinking", "reasoning"))


def _text(value: Any, keys: tuple[str, ...]) -> str:
    """A text that is a text, a list of parts, or an object with it under one of some keys."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part, keys) for part in value if isinstance(part, dict))
    if isinstance(value, dict):
        found = next((value[key] for key in keys if value.get(key)), None)
        if value and not {*keys, "type"} & value.keys():  # an answer that the server has parsed
            return json.dumps(value, ensure_ascii=False)
        return _text(found, keys)
    return ""


def _is_nothing(message: Mapping[str, Any], usage: Usage, finish: Finish) -> bool:
    """Check whether no token was written, rather than a text without characters."""
    is_unknown = usage.answer is None and not isinstance(message.get("content"), str) and finish == "whole"
    return is_unknown or (usage.answer == 0 and not usage.reasoning)


def _usage(value: Any) -> Usage:
    """Read the token counts, under the names of both of OpenAI's interfaces, with reasoning counted in or apart."""
    if not isinstance(value, dict):
        return Usage()
    prompt = _count(value.get("prompt_tokens", value.get("input_tokens")))
    written = _count(value.get("completion_tokens", value.get("output_tokens")))
    details = value.get("completion_tokens_details") or value.get("output_tokens_details") or {}
    before = value.get("prompt_tokens_details") or value.get("input_tokens_details") or {}
    reasoning = _count(details.get("reasoning_tokens")) if isinstance(details, dict) else None
    if reasoning is None:
        reasoning = _count(value.get("reasoning_tokens"))
    cached = _count(before.get("cached_tokens")) if isinstance(before, dict) else None
    total = _count(value.get("total_tokens"))
    if written is None:
        return Usage(prompt, reasoning, None, cached)
    apart = None if total is None or prompt is None else total - prompt - written
    if apart and apart > 0 and reasoning in (None, apart):  # counted beside the answer: xAI, Gemini
        return Usage(prompt, apart, written, cached)
    if reasoning is None or reasoning > written:
        return Usage(prompt, reasoning or 0, written, cached)
    return Usage(prompt, reasoning, written - reasoning, cached)


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return int(value)


def _unpacked(value: Any) -> Any:
    """The value that a text holds as JSON, where it holds an object, a list or a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ('"', "{", "["):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return found
    return value


def _page_words(text: str) -> str:
    """The words of an error page, or of a text that is none."""
    if re.search(r"<(?:!doctype|html|head|body|title|h1)\b", text[:2000], re.IGNORECASE):
        text = re.sub(r"<(script|style)\b.*?(?:</\1>|$)", " ", text[:100_000], flags=re.IGNORECASE | re.DOTALL)
        text = "an HTML page: " + re.sub(r"<[^>]*>", " ", text)
    return " ".join(text.split())
