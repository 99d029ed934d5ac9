"""The one way from questions to answers: what is in the store is taken from it, the rest is asked and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from .request import Model, Request, Response, content_key
from .store import Store

Generate = Callable[[Sequence[Request]], list[Response]]
# Told of a response, and of how many there will be.
Watch = Callable[[Response, int], None]


class Backend(Protocol):
    """Something that answers: a server, a model in this process, files that go to a cluster and come back."""

    @property
    def model(self) -> Model:
        """Who answers."""

    def answer(self, requests: Mapping[str, Request]) -> Iterable[tuple[str, Response]]:
        """Answer every request, in any order, each as soon as it is there.

        Args:
            requests: By key.

        Yields:
            Key and response; a request that failed has a response without an answer.

        Raises:
            UserError: Nothing can be answered before the user has acted; what was yielded is kept.
        """


def generate(requests: Sequence[Request], backend: Backend, store: Store, watch: Watch | None = None) -> list[Response]:
    """Answer requests, each distinct one at most once ever.

    Args:
        requests: The questions; repeats are asked once.
        backend: Who is asked what the store lacks.
        store: Where answers are kept, as they come.
        watch: Told of the response to every distinct request, and of their number.

    Returns:
        One response per request, in their order. Failures are not kept: the next run asks again.

    Raises:
        UserError: See `Backend.answer`.
    """
    keys = [content_key(request, backend.model) for request in requests]
    distinct = dict(zip(keys, requests, strict=True))
    tell = watch or (lambda *_: None)
    responses = {key: store.get(key) for key in distinct if key in store}
    for response in responses.values():
        tell(response, len(distinct))
    unanswered = {key: request for key, request in distinct.items() if key not in responses}
    if unanswered:
        for key, response in backend.answer(unanswered):
            if response.finish is not None:
                store.add(key, backend.model, unanswered[key], response)
            responses[key] = response
            tell(response, len(distinct))
    return [responses[key] for key in keys]
