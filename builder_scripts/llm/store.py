"""Answers kept by content in one file that only ever grows, so that no question is paid for twice.

The file is JSON lines and travels with the dataset. It holds no prompt: prompts quote replies, which belong to those
who wrote them. Whoever has the texts finds the answers again by their key.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .request import Model, Request, Response

_log = logging.getLogger(__name__)


class Store:
    """The answers of one file; use it as a context manager.

    Each answer is one line and one write, so that a kill costs at most the line being written; such a torn line is
    passed over when the file is read, and never removed. Of two answers with one key the first counts.

    Args:
        path: The file; made with its folder at the first answer.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers = dict(_read(path)) if path.exists() else {}
        self._file: int | None = None

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

    def get(self, key: str) -> Response:
        """Return the answer with that key, marked as cached.

        Raises:
            KeyError: There is none.
        """
        return self._answers[key]

    def add(self, key: str, model: Model, request: Request, response: Response) -> None:
        """Keep an answer.

        Args:
            key: `content_key` of the request.
            model: Who answered.
            request: The question; its prompt is not kept.
            response: The answer; one that did not come cannot be kept.

        Raises:
            ValueError: The response holds no answer.
        """
        if response.finish is None:
            raise ValueError(f"there is no answer to keep: {response.error}")
        if key in self._answers:
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
        self._append(json.dumps(line).encode())  # ASCII: a model may write half a surrogate pair
        self._answers[key] = _response(line)

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


def _read(path: Path) -> Iterator[tuple[str, Response]]:
    seen: set[str] = set()
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                value = json.loads(line)
                key, response = value["key"], _response(value)
            except (ValueError, KeyError, TypeError):
                if line.strip():
                    _log.warning("%s, line %d: torn or damaged; what it held is asked again", path, number)
                continue
            if key not in seen:
                seen.add(key)
                yield key, response


def _response(line: dict[str, Any]) -> Response:
    tokens = int(line["prompt_tokens"]), int(line["completion_tokens"])
    return Response(str(line["text"]), line["finish"], *tokens, cached=True)
