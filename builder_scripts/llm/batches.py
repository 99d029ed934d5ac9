"""Request files for a cluster (`vllm run-batch`) or a batch service, and their answer files.

The lines have OpenAI's batch format. `custom_id`, the content key, joins them: answers may come from any number of
jobs, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musicrs_dataset.jsonl import read_objects
from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.errors import count

from .generate import Stop
from .request import Model, Request, Response, UnansweredError, no_answer
from .server import PASSING, body, response_of

_REQUESTS = "requests-*-of-*.jsonl"


@dataclass(frozen=True)
class BatchFiles:
    """Folder of request files and answer files.

    Attributes:
        model: The model.
        folder: The folder. Every `*.jsonl` in it that holds no requests is read as answers.
        per_file: Requests per file. Hosted services accept 50,000.
    """

    model: Model
    folder: Path
    per_file: int = 50_000

    def answer(self, requests: Mapping[str, Request], _: Stop) -> Iterator[tuple[str, Response]]:
        """Yield every answer in the folder, and write the requests without an answer.

        Request files of an earlier call are replaced. Answers to them still count.

        Raises:
            UnansweredError: Requests are waiting. Run the batch, put its output into the folder, and run again.
        """
        answered = set()
        for key, response in self._answers():
            if key in requests:
                answered.add(key)
                yield key, response
        waiting = {key: request for key, request in requests.items() if key not in answered}
        if where := self.leave(waiting):
            raise UnansweredError(where)

    def leave(self, waiting: Mapping[str, Request]) -> str:
        """Write request files, and remove those of an earlier call.

        Args:
            waiting: Requests by key.

        Returns:
            The next step, in one line. "" without a request.
        """
        for file in self.folder.glob(_REQUESTS):
            file.unlink()
        if not waiting:
            return ""
        first, *others = self._write(waiting)
        more = f" and {count(len(others), 'other file')}" if others else ""
        return (
            f"{count(len(waiting), 'request')} to {self.model.name} in {first}{more}; answer them, for one with "
            f"`vllm run-batch -i {first.name} -o answers-{first.name.removeprefix('requests-')} --model "
            f"{self.model.name}`, then run this command again"
        )

    def _answers(self) -> Iterator[tuple[str, Response]]:
        requests = set(self.folder.glob(_REQUESTS))
        for file in sorted(set(self.folder.glob("*.jsonl")) - requests):
            for fields in read_objects(file):
                response = _response(fields.values)
                if response is not None:
                    yield fields.string("custom_id"), response

    def _write(self, waiting: Mapping[str, Request]) -> list[Path]:
        lines = list(waiting.items())
        parts = [lines[start : start + self.per_file] for start in range(0, len(lines), self.per_file)]
        files = [
            self.folder / f"requests-{number:03d}-of-{len(parts):03d}.jsonl" for number in range(1, len(parts) + 1)
        ]
        for file, part in zip(files, parts, strict=True):
            write_text(file, (f"{to_json(self._line(key, request))}\n" for key, request in part))
        return files

    def _line(self, key: str, request: Request) -> dict[str, Any]:
        return {
            "custom_id": key,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": body(request, self.model),
        }


def _response(line: Mapping[str, Any]) -> Response | None:
    """Return the answer of a line. None if a second attempt may help."""
    answer = line.get("response")
    status = answer.get("status_code") if isinstance(answer, dict) else None
    if isinstance(answer, dict) and status in (None, 200):
        return response_of(answer.get("body"))
    if isinstance(status, int) and 400 <= status < 500 and status not in PASSING:
        return no_answer(f"status {status}: {to_json(line.get('error') or answer)[:200]}")
    return None
