"""Answers kept by content in one file that only ever grows, so that no question is paid for twice.

The file is JSON lines and travels with the dataset. It holds no prompt: prompts quote replies, which belong to those
who wrote them. Whoever has the texts finds the answers again by their key.

A line with `failure` records a failure: cut, empty, unreadable, refused by the server. Its question is asked again. The
line takes back an earlier line of the same key and text.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .request import Model, Request, Response

_log = logging.getLogger(__name__)


class AnswerCache:
    """The answers of one file; use it as a context manager.

    Each answer is one line and one write, so that a kill costs at most the line being written; such a torn line is
    passed over when the file is read, and never removed. Of two answers with one key the first counts.

    Args:
        path: The file; made with its folder at the first answer.

    Attributes:
        failures: What failed and was not answered since, by key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: dict[str, Response] = {}
        self.failures: dict[str, Response] = {}
        self._file: int | None = None
        for line, response in _read(path) if path.exists() else ():
            self._take(line["key"], response, line.get("failure"))

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Bring what was added to the disk."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def get(self, key: str) -> Response | None:
        """Return the answer with that key, marked as cached; None where there is none, or only a failure."""
        return self._answers.get(key)

    def add(self, key: str, model: Model, request: Request, response: Response, failure: str | None = None) -> None:
        """Keep an answer, or a failure.

        Args:
            key: `content_key` of the request.
            model: Who answered.
            request: The question; its prompt is not kept.
            response: The answer.
            failure: Why it is none, in a word or two; None for an answer. An equal failure is kept once.

        Raises:
            ValueError: The response holds no answer, and is to be kept as one.
        """
        if failure is None and response.finish is None:
            raise ValueError(f"there is no answer to keep: {response.error}")
        kept = replace(response, cached=True)
        if (failure is None and key in self._answers) or (failure and self.failures.get(key) == kept):
            return
        line = {
            "key": key,
            "model": model.name,
            "revision": model.revision,
            "template": request.template,
            "parameters": asdict(request.parameters),
            "finish": response.finish,
            "text": response.text,
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            "answered_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if failure:
            line |= {"failure": failure, "error": response.error}
        self._append(json.dumps(line).encode())  # ASCII: a model may write half a surrogate pair
        self._take(key, kept, failure)

    def _take(self, key: str, response: Response, failure: str | None) -> None:
        answer = self._answers.get(key)
        # Earlier versions kept answers that were cut or filtered without a word.
        if failure is None and response.finish == "stop":
            self._answers.setdefault(key, response)
            self.failures.pop(key, None)
        elif answer is None or (failure and answer.text == response.text):
            self._answers.pop(key, None)
            self.failures[key] = response

    def _append(self, line: bytes) -> None:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            size = os.fstat(self._file).st_size
            if size and os.pread(self._file, 1, size - 1) != b"\n":
                os.write(self._file, b"\n")  # end the torn line of a run that was killed
        data = line + b"\n"
        while data:  # a disk that is full writes a part, and raises at the next attempt
            data = data[os.write(self._file, data) :]


def _read(path: Path) -> Iterator[tuple[dict[str, Any], Response]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                value = json.loads(line)
                response = _response(value)
            except (ValueError, KeyError, TypeError, AttributeError):
                if line.strip():
                    _log.warning("%s, line %d: torn or damaged; what it held is asked again", path, number)
                continue
            yield value, response


def _response(line: dict[str, Any]) -> Response:
    if not isinstance(line["key"], str) or line["finish"] not in ("stop", "length", "filtered", None):
        raise ValueError("not a line of the store")
    tokens = int(line["prompt_tokens"]), int(line["completion_tokens"])
    return Response(str(line["text"]), line["finish"], *tokens, error=line.get("error"), cached=True)
