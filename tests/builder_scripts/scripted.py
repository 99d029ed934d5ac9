"""A source of answers without store and backend, for tests that look at what is asked and read."""

from __future__ import annotations

from collections.abc import Sequence

from builder_scripts.llm import Request, Response
from builder_scripts.llm.generate import Judge


class Scripted:
    """Answers every request by `reply`.

    Attributes:
        left: The requests that failed in the end.
    """

    def __init__(self) -> None:
        self.left: list[Request] = []

    def reply(self, requests: Sequence[Request]) -> list[Response]:
        raise NotImplementedError

    def recall(self, requests: Sequence[Request], judge: Judge) -> None:
        """Nothing was ever answered."""

    def generate(self, requests: Sequence[Request], judge: Judge) -> list[Response]:
        responses = self.reply(requests)
        for place, response in enumerate(responses):
            judge(place, response)
        return responses

    def leave(self, requests: Sequence[Request]) -> None:
        self.left = list(requests)
