"""Vectors and scores of a server: OpenAI's /embeddings, and /rerank in the form of Cohere and vLLM, or of TEI."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from musicrs_metric.base.chat import Chat, ChatError, ChatServer
from musicrs_metric.errors import UserError, count

from ..options import flag, option
from .vector_cache import Vectors

Numbers = npt.NDArray[np.float64]

# Texts per request: text-embeddings-inference takes 32 by default.
_AT_ONCE = 32
# Requests without an answer in a row after which the server counts as down.
_MAX_FAILURES = 10


@dataclass(frozen=True)
class ServerOptions:
    """Options of a server that holds the model."""

    base_url: str | None = option(
        None, "URL of a server that holds the model, without the endpoint; [none]", identity=False
    )
    model_name: str | None = option(None, "name of the model on the server; [none]")
    api_key_env: str = option("MUSICRS_LLM_KEY", "environment variable that holds the key", identity=False)
    timeout_s: float = option(600.0, "most seconds per attempt at a request", identity=False)
    retries: int = option(6, "attempts after the first one", identity=False)

    def server(self, local: Sequence[str] = ()) -> ChatServer:
        """Return the server.

        Args:
            local: Options that have an effect on a model in this process only.

        Raises:
            UserError: An option is missing or out of range, or has no effect with a server.
        """
        if self.retries < 0 or not self.timeout_s > 0:
            raise UserError("--retries, --timeout-s: expected at least 0, more than 0")
        for name in local:
            if getattr(self, name) is not None:
                raise UserError(f"{flag(name)}: has no effect with --base-url, where the server decides; leave it out")
        if self.base_url is None or not self.model_name:
            raise UserError("--base-url, --model-name: a server needs both; set the URL and the name of its model")
        return ChatServer(
            url=self.base_url,
            model=self.model_name,
            key_variable=self.api_key_env,
            timeout_s=self.timeout_s,
            retries=self.retries,
        )


class _Endpoint:
    """Requests to one server, whose replies hold one item per text."""

    def __init__(self, server: ChatServer) -> None:
        self._server, self._n_failed = server, 0

    def _ask(self, path: str, body: dict[str, Any], lists: Sequence[str], fields: Sequence[str], n: int) -> Numbers:
        """Return one number or vector per text, in the order of the texts."""
        try:
            reply = self._chat.post(path, body)
        except ChatError as error:
            self._n_failed += 1
            if self._n_failed < _MAX_FAILURES:
                raise
            raise UserError(
                f"{self._server.url}: {_MAX_FAILURES} requests in a row got no answer, the last with: {error}; all "
                "rankings are kept; fix the server, then run the same command again"
            ) from None
        self._n_failed = 0
        try:
            return _by_index(reply, lists, fields, n)
        except ValueError as error:
            shown = self._server.secret.words(json.dumps(reply))[:200]
            raise ValueError(f"the server sent {error}; its reply begins {shown}") from None

    @cached_property
    def _chat(self) -> Chat:
        return Chat(self._server)


class ServerEmbedder(_Endpoint):
    """Embeds texts by /embeddings. Vectors stay in memory: another model may get the same name tomorrow.

    Args:
        server: The server.
    """

    def __init__(self, server: ChatServer) -> None:
        super().__init__(server)
        self._vectors: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: n texts, repeats allowed; n at least 1.

        Returns:
            Shape (n, d): rows of length 1.

        Raises:
            ChatError: A request got no answer.
            ValueError: The server replied with something else than one vector per text.
            UserError: Several requests in a row got no answer.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for start in range(0, len(missing), _AT_ONCE):
            batch = missing[start : start + _AT_ONCE]
            body = {"model": self._server.model, "input": batch, "encoding_format": "float"}
            vectors = self._ask("/embeddings", body, ("data",), ("embedding",), len(batch))
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True) if vectors.ndim == 2 else np.zeros(1)
            if not (np.isfinite(lengths) & (lengths > 0)).all():
                raise ValueError("the server sent a vector without a finite length")
            self._vectors.update(zip(batch, (vectors / lengths).astype(np.float32), strict=True))
        rows = [self._vectors[text] for text in texts]
        sizes = sorted({len(row) for row in rows})
        if len(sizes) > 1:
            raise ValueError(f"the server sent vectors of {sizes[0]} and of {sizes[1]} numbers")
        return np.stack(rows)

    def save(self) -> None:
        """Close the connection; the next call opens another one."""
        if "_chat" in vars(self):
            self._chat.close()
            del self._chat


class ServerScorer(_Endpoint):
    """Scores pairs by /rerank.

    Args:
        server: The server.
        api: Form of the request: cohere (model, query, documents) or tei (query, texts).
    """

    def __init__(self, server: ChatServer, api: Literal["cohere", "tei"]) -> None:
        super().__init__(server)
        self._api = api
        self.revision, self.max_tokens = server.model, None

    def score(self, pairs: Sequence[tuple[str, str]]) -> Numbers:
        """Score pairs of one query.

        Args:
            pairs: n pairs of query and candidate; n at least 1.

        Returns:
            Shape (n,).

        Raises:
            ChatError: A request got no answer.
            ValueError: The server replied with something else than one finite score per candidate.
            UserError: Several requests in a row got no answer.
        """
        scores: list[float] = []
        for start in range(0, len(pairs), _AT_ONCE):
            texts = [candidate for _, candidate in pairs[start : start + _AT_ONCE]]
            body: dict[str, Any] = {"query": pairs[start][0]}
            if self._api == "tei":  # raw scores: a sigmoid turns the best ones into ties
                body |= {"texts": texts, "raw_scores": True}
            else:
                body |= {"model": self._server.model, "documents": texts, "top_n": len(texts)}
            scores += self._ask("/rerank", body, ("results", "data"), ("relevance_score", "score"), len(texts)).tolist()
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError("the server sent a score that is no finite number")
        return values


def _by_index(reply: Any, lists: Sequence[str], fields: Sequence[str], n: int) -> Numbers:
    """Return one value per text in the order of the texts; servers send them in any order."""
    fields_of = reply if isinstance(reply, dict) else {}
    items = reply if isinstance(reply, list) else next((fields_of[key] for key in lists if fields_of.get(key)), None)
    items = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    # Without an index a server's own order would decide, and rerankers send the best first.
    if len(items) != n or {repr(item.get("index")) for item in items} != set(map(repr, range(n))):
        raise ValueError(
            f"{count(len(items), 'item')} for {count(n, 'text')}, expected each index from 0 to {n - 1} once"
        )
    ordered = sorted(items, key=lambda item: int(item["index"]))
    try:
        values = np.array([next((item[field] for field in fields if field in item), None) for item in ordered])
    except ValueError:  # lists of different lengths
        values = np.array(None)
    if values.dtype.kind not in "iuf":  # also text, which numpy would convert
        raise ValueError(f"another {fields[0]} than numbers, of one length for all texts")
    return values.astype(np.float64)
