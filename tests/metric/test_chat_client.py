"""The parts of the chat client that need no server: the key, URLs, fields that are refused, replies, waits."""

from __future__ import annotations

import base64
import json
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musicrs_metric.base.chat_attempt import _retry_after
from musicrs_metric.base.chat_form import FieldRefusedError, Form, learn_form
from musicrs_metric.base.chat_reply import ReplyError, error_words, read_reply
from musicrs_metric.base.chat_server import read_extra_body
from musicrs_metric.base.secret import Secret, check_url
from musicrs_metric.errors import UserError

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=\"'\\&<>%$ "
KEYS = st.text(ALPHABET, min_size=12, max_size=60).filter(lambda key: key == key.strip() and len(set(key)) > 5)
FIELDS = {"temperature": 0, "top_p": 1, "seed": 0, "max_tokens": 9, "response_format": {}}


@given(KEYS, st.integers(0, 300), st.sampled_from(["", "\n", " \r\n", "\t"]))
def test_no_part_of_a_key_is_left_wherever_it_is_cut(key: str, before: int, end: str) -> None:
    """The key as it is, quoted, escaped, encoded, in parts: no eight characters of it are shown, whatever is cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_KEY", key + end)
        secret = Secret("SOME_KEY")
        forms = [key, json.dumps(key), repr(key), quote(key), base64.b64encode(key.encode()).decode(), key.upper()]
        parts = [key[at : at + 8] for at in range(0, len(key) - 7)]
        for form in forms:
            shown = secret.words(f"{'9' * before} {form} {form[: len(form) // 2 + 4]}")
            assert not any(part.lower() in shown.lower() for part in parts)


@pytest.mark.parametrize(("text", "shown"), [
    ("Incorrect API key provided: sk-inven***cdef.", "Incorrect API key provided: ***."),
    ("key sk-i...cdef", "key ***"),
    ("nothing of it", "nothing of it"),
    ("two\nlines\x1b[31m", "two lines [31m"),
    ("", ""),
])  # fmt: skip
def test_masked_keys_are_hidden_whole(monkeypatch: pytest.MonkeyPatch, text: str, shown: str) -> None:
    """Also the first and last characters that services show."""
    monkeypatch.setenv("SOME_KEY", "sk-invented-0123456789abcdef")
    assert Secret("SOME_KEY").words(text) == shown


def test_a_short_key_is_hidden_as_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is a word, as local servers take it, leaves other words alone."""
    monkeypatch.setenv("SOME_KEY", "key")
    assert Secret("SOME_KEY").words("key 'key' of a keyboard") == "*** '***' of a keyboard"
    monkeypatch.delenv("SOME_KEY")
    assert Secret("SOME_KEY").words("key") == "key"


@pytest.mark.parametrize("url", [
    "http://127.0.0.1:8000/v1", "https://api.example.org/v1/", "http://[::1]:8000/v1", "HTTP://host/v1",
    "https://host/@cf/v1",
])  # fmt: skip
def test_urls_that_are_taken(url: str) -> None:
    check_url(url, "--base-url", "SOME_KEY")


@pytest.mark.parametrize("url", [
    "http://[", "http://[::1", "http://[::1]x:80/v1", "", " ", "host:8000/v1", "//host/v1", "http:///v1", "http://:80/v1",
    "ftp://host", "http://host:port/v1", "http://host:99999/v1", "http://ho st/v1", "http://host\n/v1", "http://h\\v1",
    "http://<host>/v1", "http://me:pass-word@host/v1", "http://me:pass#word@host/v1", "http://@host/v1",
    "me:pass-word@host/v1", "htp://me:pass-word@host", "http://host/v1?key=pass-word", "http://host/v1?",
    "http://host/v1#pass-word", "host/v1?key=pass-word", "http://me:pass-word@[::1/v1",
])  # fmt: skip
def test_urls_that_are_refused_in_one_line(url: str) -> None:
    """It names the option, and shows no password."""
    with pytest.raises(UserError, match=r"^--base-url.*expected a URL") as refused:
        check_url(url, "--base-url", "SOME_KEY")
    assert "word" not in str(refused.value).replace("without password", "")
    assert "\n" not in str(refused.value)


@given(st.sets(st.sampled_from(sorted(FIELDS))), st.booleans(), st.booleans())
def test_as_few_fields_are_left_out_as_a_server_refuses(refused: set[str], renames: bool, names: bool) -> None:
    """Whether or not the server names the field, and whether or not it knows the budget by its other name."""
    n_sent = 0

    def send(form: Form) -> None:
        nonlocal n_sent
        n_sent += 1
        fields = form.apply(FIELDS)
        wrong = sorted(refused & fields.keys())
        if "max_tokens" in refused and not renames and "max_completion_tokens" in fields:
            wrong.append("max_completion_tokens")
        if wrong:
            raise FieldRefusedError("no", f"{wrong[0]} is not supported" if names else "bad request")

    form = learn_form(FIELDS, {}, send)
    gone = refused - {"max_tokens"} if renames else refused
    assert set(form.left_out) == gone
    assert form.budget == "max_completion_tokens" or "max_tokens" not in refused or "max_tokens" in form.left_out
    assert n_sent <= 14


def test_a_field_of_the_user_is_never_left_out() -> None:
    """It is sent with every form, so the server's refusal stands."""
    sent = []

    def send(form: Form) -> None:
        sent.append(form)
        raise FieldRefusedError("temperature must be 1", "temperature")

    with pytest.raises(FieldRefusedError):
        learn_form(FIELDS, {"temperature": 0.5}, send)
    assert not any("temperature" in form.left_out for form in sent)


def test_a_prompt_that_is_too_long_teaches_nothing() -> None:
    """Servers name max_tokens when they refuse it; one request is enough."""
    sent = []

    def send(form: Form) -> None:
        sent.append(form)
        raise FieldRefusedError("no", "maximum context length is 8 tokens, reduce max_tokens")

    with pytest.raises(FieldRefusedError):
        learn_form(FIELDS, {}, send)
    assert len(sent) == 1


def body(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


@pytest.mark.parametrize(("usage", "expected"), [
    ({"prompt_tokens": 9, "completion_tokens": 7}, (9, 0, 7, None)),
    ({"input_tokens": 9, "output_tokens": 7}, (9, 0, 7, None)),
    ({"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16,
      "completion_tokens_details": {"reasoning_tokens": 5}, "prompt_tokens_details": {"cached_tokens": 4}},
     (9, 5, 2, 4)),
    # xAI counts the reasoning beside the answer; Gemini leaves it to the total.
    ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 16,
      "completion_tokens_details": {"reasoning_tokens": 5}}, (9, 5, 2, None)),
    ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 16}, (9, 5, 2, None)),
    ({"prompt_tokens": True, "completion_tokens": -1}, (None, None, None, None)),
    ({"prompt_tokens": float("inf"), "completion_tokens": "7"}, (None, None, None, None)),
    (None, (None, None, None, None)),
    ([], (None, None, None, None)),
])  # fmt: skip
def test_tokens_are_counted_once(usage: Any, expected: tuple[int | None, ...]) -> None:
    """Prompt, reasoning, answer, cached; None where the server does not say."""
    assert tuple(read_reply(body({"content": "yes"}, usage=usage)).usage) == expected


@pytest.mark.parametrize(("finish", "expected"), [
    ("length", "cut"), ("MAX_TOKENS", "cut"), ("max_output_tokens", "cut"), ("model_length", "cut"), ("limit", "cut"),
    ("model_context_window_exceeded", "cut"), ("content_filter", "withheld"), ("SAFETY", "withheld"),
    ("guardrail_intervened", "withheld"), ("stop", "whole"), ("eos_token", "whole"), ("stop_token", "whole"),
    ("end_of_turn", "whole"), ("tool_calls", "whole"), ("", "whole"), (None, "whole"), ("OTHER", "whole"),
])  # fmt: skip
def test_what_a_finish_reason_means(finish: str | None, expected: str) -> None:
    assert read_reply(body({"content": "yes"}, finish)).finish == expected


@pytest.mark.parametrize("finish", ["error", "abort", "cancelled", "network_error", "insufficient_system_resource"])
def test_an_answer_that_failed_is_none(finish: str) -> None:
    with pytest.raises(ReplyError, match=finish):
        read_reply(body({"content": "yes"}, finish))


@pytest.mark.parametrize(("message", "text", "reasoning"), [
    ({"content": "a"}, "a", ""),
    ({"content": None, "refusal": "I will not"}, "I will not", ""),
    ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
    ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]}, "a", "hm"),
    ({"content": {"ranking": [2, 1]}}, '{"ranking": [2, 1]}', ""),
    ({"content": "a", "reasoning_content": "hm"}, "a", "hm"),
    ({"content": None, "reasoning": {"summary": "hm"}}, "", "hm"),
    ({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, "", "hm"),
    ({"content": "By", "tool_calls": [{"function": {"arguments": '{"ranking": [2]}'}}]}, 'By\n{"ranking": [2]}', ""),
    ({"content": None, "function_call": {"arguments": '"{\\"ranking\\": [2]}"'}}, '{"ranking": [2]}', ""),
    ({"content": None, "audio": {"transcript": "a"}}, "a", ""),
])  # fmt: skip
def test_where_an_answer_may_be(message: dict[str, Any], text: str, reasoning: str) -> None:
    reply = read_reply(body(message, usage={"completion_tokens": 3}))
    assert (reply.text if not text.startswith("{") else json.dumps(json.loads(reply.text)), reply.reasoning) == (
        text,
        reasoning,
    )


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["choices", "message", "content", "error", "usage", "code", "tool_calls",
                                       "function", "arguments", "finish_reason", "prompt_tokens"]), inner, max_size=4),
    max_leaves=20,
))  # fmt: skip
def test_any_json_is_a_reply_or_one_reason(value: Any) -> None:
    """Nothing that a server sends ends in another error, and no reason is empty."""
    try:
        found = read_reply(value).text
    except ReplyError as error:
        found = str(error) or None  # type: ignore[assignment]
    assert isinstance(found, str)


@pytest.mark.parametrize(("value", "words"), [
    ({"error": {"message": "busy", "code": 1}}, "busy"),
    ({"error": '{"message": "busy"}'}, "busy"),
    ({"error": {"message": "Provider returned error", "metadata": {"raw": "busy"}}}, "Provider returned error busy"),
    ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]}, "Extra inputs (body.seed)"),
    ({"error": {"type": "overloaded_error"}}, "overloaded_error"),
    ([{"error": {"message": "busy"}}], "busy"),
    ("<html><script>x</script><h1>Bad</h1> gateway</html>", "an HTML page: Bad gateway"),
    ("busy\n", "busy"),
    (None, ""),
])  # fmt: skip
def test_the_words_of_an_error(value: Any, words: str) -> None:
    assert error_words(value) == words


@pytest.mark.parametrize(("headers", "low", "high"), [
    ({"retry-after": "7"}, 7, 7), ({"retry-after-ms": "250"}, 0.25, 0.25), ({"retry-after": "1.5"}, 1.5, 1.5),
    ({"retry-after": 3600}, 3590, 3601), ({"retry-after": "soon"}, None, None),
    ({"retry-after": "-1"}, None, None), ({"retry-after": "0"}, None, None), ({}, None, None),
    ({"retry-after": -30}, None, None),
])  # fmt: skip
def test_retry_after_in_seconds_or_as_a_date(headers: Any, low: float | None, high: float | None) -> None:
    moments = {name: value for name, value in headers.items() if isinstance(value, int)}
    dates = {name: formatdate(time.time() + seconds, usegmt=True) for name, seconds in moments.items()}
    wait_s = _retry_after(headers | dates)
    assert (wait_s is None and low is None) or low <= wait_s <= high  # type: ignore[operator]


@pytest.mark.parametrize(("text", "message"), [
    ("[1]", "found a list of 1, expected a JSON object"), ("{", "found no JSON"), ('{"model": "x"}', "--model-name"),
    ('{"max_tokens": 9}', "--answer-tokens"), ('{"stream": true}', "this client"), ("", "found no JSON"),
    ('{"metadata": {"api_key": "x"}}', "holds a secret"), ('{"a": 1, "a": 2}', "found no JSON"),
])  # fmt: skip
def test_further_fields_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """With the file, and what decides the field."""
    (tmp_path / "extra.json").write_text(text)
    with pytest.raises(UserError, match=message) as refused:
        read_extra_body(tmp_path / "extra.json")
    assert str(refused.value).startswith(f"--extra-body {tmp_path / 'extra.json'}: ")
    with pytest.raises(UserError, match="cannot be read"):
        read_extra_body(tmp_path / "none.json")


def test_further_fields_are_read(tmp_path: Path) -> None:
    """Also behind a byte order mark; any field that the run does not decide."""
    (tmp_path / "extra.json").write_text('\ufeff{"chat_template_kwargs": {"enable_thinking": false}, "temperature": 1}')
    fields = {"chat_template_kwargs": {"enable_thinking": False}, "temperature": 1}
    assert read_extra_body(tmp_path / "extra.json") == fields
