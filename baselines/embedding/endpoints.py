"""Vectors and scores of a server: OpenAI's /embeddings, and /rerank in the form of Cohere and vLLM, or of TEI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from musicrs_metric.base.chat import Chat, ChatServer
from musicrs_metric.errors import UserError, show

from ..options import flag, option
from .vector_cache import Vectors

# Texts per request: text-embeddings-inference takes 32 by default.
_AT_ONCE = 32


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

    def server(self, set_here: Sequence[str] = ()) -> ChatServer:
        """Return the server.

        Args:
            set_here: Options that only a model in this process has, and that the user set.

        Raises:
            UserError: An option is missing, or has no effect with a server.
        """
        if set_here:
            raise UserError(
                f"{flag(set_here[0])}: has no effect with --base-url, where the server decides; leave it out"
            )
        if self.base_url is None or not self.model_name:
            raise UserError("--base-url, --model-name: a server needs both; set the URL and the name of its model")
        return ChatServer(
            url=self.base_url,
            model=self.model_name,
            key_variable=self.api_key_env,
            timeout_s=self.timeout_s,
            retries=self.retries,
        )


class ServerEmbedder:
    """Embeds texts by /embeddings. Vectors stay in memory: another model may get the same name tomorrow.

    Args:
        server: The server.
    """

    def __init__(self, server: ChatServer) -> None:
        self._server = server
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
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for start in range(0, len(missing), _AT_ONCE):
            batch = missing[start : start + _AT_ONCE]
            body = {"model": self._server.model, "input": batch, "encoding_format": "float"}
            rows = _by_index(self._chat.post("/embeddings", body), ("data",), ("embedding",), len(batch))
            vectors = np.asarray(rows, dtype=np.float64)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True) if vectors.ndim == 2 else np.zeros(1)
            if not (np.isfinite(lengths) & (lengths > 0)).all():
                raise ValueError("the server sent a vector without a finite length")
            self._vectors.update(zip(batch, (vectors / lengths).astype(np.float32), strict=True))
        return np.stack([self._vectors[text] for text in texts])

    def save(self) -> None:
        """Close the connection; the next call opens another one."""
        if "_chat" in vars(self):
            self._chat.close()
            del self._chat

    @cached_property
    def _chat(self) -> Chat:
        return Chat(self._server)


class ServerScorer:
    """Scores pairs by /rerank.

    Args:
        server: The server.
        api: Form of the request: cohere (model, query, documents) or tei (query, texts).
    """

    def __init__(self, server: ChatServer, api: Literal["cohere", "tei"]) -> None:
        self._server, self._api = server, api
        self.revision, self.max_tokens = server.model, None

    def score(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Score pairs of one query.

        Args:
            pairs: n pairs of query and candidate; n at least 1.

        Returns:
            Shape (n,).

        Raises:
            ChatError: A request got no answer.
            ValueError: The server replied with something else than one finite score per candidate.
        """
        scores: list[float] = []
        for start in range(0, len(pairs), _AT_ONCE):
            texts = [candidate for _, candidate in pairs[start : start + _AT_ONCE]]
            body: dict[str, Any] = {"query": pairs[start][0]}
            if self._api == "tei":  # raw scores: a sigmoid turns the best ones into ties
                body |= {"texts": texts, "raw_scores": True}
            else:
                body |= {"model": self._server.model, "documents": texts, "top_n": len(texts)}
            reply = self._chat.post("/rerank", body)
            scores += _by_index(reply, ("results", "data"), ("relevance_score", "score"), len(texts))
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError("the server sent a score that is no finite number")
        return values

    @cached_property
    def _chat(self) -> Chat:
        return Chat(self._server)


def _by_index(reply: Any, lists: Sequence[str], fields: Sequence[str], n: int) -> list[Any]:
    """Return one value per text in the order of the texts; servers send them in any order."""
    fields_of = reply if isinstance(reply, dict) else {}
    items = reply if isinstance(reply, list) else next((fields_of[key] for key in lists if fields_of.get(key)), None)
    values: dict[int, Any] = {}
    for place, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            values[item.get("index", place)] = next((item[field] for field in fields if field in item), None)
    if sorted(values, key=str) != sorted(range(n), key=str) or any(value is None for value in values.values()):
        raise ValueError(f"the server replied {show(reply)[:200]}, expected one {fields[0]} per text for {n} texts")
    return [values[index] for index in range(n)]
