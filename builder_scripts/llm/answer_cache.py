"""Cache of answers by content, in one append-only file, so that no question is paid for twice.

The file is JSON lines and belongs to the dataset. It holds no prompt: prompts quote replies, which belong to their
authors. A reader who has the texts finds the answers by their key.

A line with `failure` records a failure: cut, empty, unreadable, refused by the server. Its question is asked again. The
line takes back an earlier line of the same key and text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from musicrs_metric.base.jsonl_log import JsonlLog, read_log

from .request import Model, Request, Response

_log = logging.getLogger(__name__)


class AnswerCache:
    """Answers of one file; use it as a context manager.

    Each answer is one line and one write. A kill costs at most the last line, which readers then skip. If two answers
    have the same key, the first counts.

    Args:
        path: The file. The first answer creates it with its folder.

    Attributes:
        failures: Failures without a later answer, by key.
    """

    def __init__(self, path: Path) -> None:
        self._answers: dict[str, Response] = {}
        self.failures: dict[str, Response] = {}
        self._file = JsonlLog(path, fsync="close")
        for line, response in _read(path):
            self._take(line["key"], response, line.get("failure"))

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Bring new answers to the disk."""
        self._file.close()

    def get(self, key: str) -> Response | None:
        """Return the answer with that key, marked as cached. None if there is none, or only a failure."""
        return self._answers.get(key)

    def add(self, key: str, model: Model, request: Request, response: Response, failure: str | None = None) -> None:
        """Store an answer or a failure.

        Args:
            key: `content_key` of the request.
            model: The model that answered.
            request: The question. Its prompt is not stored.
            response: The answer.
            failure: Reason of the failure, in a word or two. None for an answer. Equal failures are stored once.

        Raises:
            ValueError: The response holds no answer, and no failure is given.
        """
        if failure is None and response.finish is None:
            raise ValueError(f"there is no answer to keep: {response.error}")
        stored = replace(response, cached=True)
        if (failure is None and key in self._answers) or (failure and self.failures.get(key) == stored):
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
        self._file.append([json.dumps(line)])  # ASCII: a model may write half a surrogate pair
        self._take(key, stored, failure)

    def _take(self, key: str, response: Response, failure: str | None) -> None:
        answer = self._answers.get(key)
        # Earlier versions stored answers that were cut or filtered without a reason.
        if failure is None and response.finish == "stop":
            self._answers.setdefault(key, response)
            self.failures.pop(key, None)
        elif answer is None or (failure and answer.text == response.text):
            self._answers.pop(key, None)
            self.failures[key] = response


def _read(path: Path) -> Iterator[tuple[dict[str, Any], Response]]:
    for line in read_log(path):
        try:
            value = json.loads(line.data)
            response = _response(value)
        except (ValueError, KeyError, TypeError, AttributeError):
            if line.data.strip():
                _log.warning("%s, line %d: torn or damaged; what it held is asked again", path, line.number)
            continue
        yield value, response


def _response(line: dict[str, Any]) -> Response:
    if not isinstance(line["key"], str) or line["finish"] not in ("stop", "length", "filtered", None):
        raise ValueError("not a line of the cache")
    tokens = int(line["prompt_tokens"]), int(line["completion_tokens"])
    return Response(str(line["text"]), line["finish"], *tokens, error=line.get("error"), cached=True)
