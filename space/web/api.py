"""The endpoints for programs: `/submit`, `/score`, `/leaderboard` and `/predictions`, by gradio_client or plain HTTP.

What is wrong with a submission comes back as data, so that a program can show each fault at its place. All other
trouble is an error of one sentence.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import gradio as gr

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import PredictionError

from ..intake import Form
from ..service import LeaderboardService
from .public import query_of
from .rate_limits import caller_of

_LOG = logging.getLogger(__name__)
# How the base64 of a gzip file and of a zip archive starts; a prediction file starts with a brace.
_PACKED = ("H4sI", "UEsD")

Answer = dict[str, Any]


def expose(service: LeaderboardService) -> None:
    """Add the endpoints to the gradio app that is being built.

    Args:
        service: What answers.
    """

    def submit(
        request: gr.Request,
        predictions: str,
        name: str = "",
        modality: str = "",
        paradigm: str = "",
        reads: str = "",
        link: str = "",
        description: str = "",
        open_weights: bool | None = None,
        partial: bool = False,
        pools: str = "",
        card: str = "",
    ) -> Answer:
        """Submit predictions to the leaderboard; scores are computed there.

        Args:
            request: Filled in by the server.
            predictions: Text of a predictions.jsonl, or base64 of the same packed with gzip or zip.
            name: What the board is to call the system.
            modality: audio_query, query_only or audio_only.
            paradigm: generative, retrieval or traditional.
            reads: thread, pools or labels: what the system looks at beyond its own thread.
            link: Its page, an https address.
            description: A few words on it, without an e-mail address.
            open_weights: Whether anyone can download its weights.
            partial: Whether threads may be missing, which then score 0.
            pools: Name of the pools that it ranked; empty for the published ones.
            card: Text of a run.json, whose fields count more than the others.

        Returns:
            state ("stored", "queued", "already" or "refused"), then key, row and warnings, or every fault.
        """
        form = Form(
            name=name, modality=modality, paradigm=paradigm, reads=reads, link=link, description=description,
            open_weights=open_weights, partial=partial, pools=pools,
        )  # fmt: skip
        content = _text(card).encode(errors="surrogatepass") or None
        caller = caller_at(service, request)
        return _answer(lambda: service.submit(_bytes_of(predictions), form, caller=caller, card=content).to_dict())

    def submit_repo(
        request: gr.Request,
        repo: str,
        kind: str = "dataset",
        name: str = "",
        description: str = "",
        link: str = "",
        partial: bool = False,
    ) -> Answer:
        """Submit the predictions.jsonl and run.json at the root of a public repository on the Hub.

        Args:
            request: Filled in by the server.
            repo: owner/name.
            kind: dataset or model.
            name: What the board is to call the system, where run.json does not say it.
            description: A few words on it, without an e-mail address.
            link: Its page; empty for the repository.
            partial: Whether threads may be missing, which then score 0.

        Returns:
            As for submit.
        """
        form = Form(name=name, description=description, link=link, partial=partial)
        caller = caller_at(service, request)
        return _answer(lambda: service.submit_repo(repo, kind, form, caller=caller).to_dict())

    def score(request: gr.Request, predictions: str, pools: str = "") -> Answer:
        """Score predictions and keep nothing.

        Args:
            request: Filled in by the server.
            predictions: Text of a predictions.jsonl, or base64 of the same packed with gzip or zip.
            pools: Name of the pools that they rank; empty for the published ones.

        Returns:
            Every measure with chance, ceiling and interval, overall and by genre, or state "refused" and every fault.
        """
        caller = caller_at(service, request)
        return _answer(lambda: service.score(_bytes_of(predictions), caller=caller, pools=_text(pools) or None))

    def leaderboard(
        pools: str = "",
        modality: str = "",
        paradigm: str = "",
        reads: str = "",
        genre: str = "",
        open_weights: bool | None = None,
        reported: bool = True,
        sort: str = "recall@20",
        ascending: bool = False,
        details: bool = False,
    ) -> list[dict[str, Any]]:
        """The leaderboard.

        Args:
            pools: Name of the pools; empty for the published ones.
            modality: Only this one; empty for all.
            paradigm: Only this one; empty for all.
            reads: Only systems that read this; empty for all.
            genre: Scores and ranks on the threads of this genre; empty for all threads.
            open_weights: Only systems whose weights are open, or are not.
            reported: Whether the paper's own figures are among the lines.
            sort: A measure, name, modality, paradigm, reads, received, coverage or answered.
            ascending: The least first.
            details: All measures and all that is known of each line, in place of what a table shows.

        Returns:
            One object per line, chance first; shares lie between 0 and 1, and null is what nobody knows.
        """
        asked = {
            "pools": pools, "modality": modality, "paradigm": paradigm, "reads": reads, "genre": genre,
            "open_weights": open_weights, "reported": reported, "sort": sort, "ascending": ascending,
        }  # fmt: skip
        with in_one_sentence():
            return service.leaderboard(query_of(asked), details=details is True)

    def predictions(key: str) -> str:
        """The predictions of a row as the text of a predictions.jsonl, to compute its scores again.

        Args:
            key: The row's key, as the leaderboard has it.
        """
        with in_one_sentence():
            return service.predictions(_text(key))

    for function in (submit, submit_repo, score, leaderboard, predictions):
        gr.api(function, api_name=function.__name__, concurrency_limit=None)


def caller_at(service: LeaderboardService, request: gr.Request) -> str:
    """Who a call is counted for.

    Args:
        service: Its settings say whom to believe.
        request: The call.
    """
    raw = request.request
    headers = {name.lower(): value for name, value in raw.headers.items()}
    name = _signed_in(raw.scope.get("session") or {}) if service.settings.sign_in else None
    host = None if raw.client is None else raw.client.host
    return caller_of(name, headers, host, behind_proxy=service.settings.behind_proxy)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn whatever goes wrong into one sentence for the other end; what is our fault goes to the log, not out."""
    try:
        yield
    except UserError as error:
        raise gr.Error(str(error), print_exception=False) from None
    except Exception:  # a traceback at the other end would help nobody there, and tell of our machine
        _LOG.exception("a call failed")
        message = "something went wrong on our side, and it stands in our log; please try again later"
        raise gr.Error(message, print_exception=False) from None


def refused(error: PredictionError) -> Answer:
    """A refusal as plain JSON types: every fault with file, line, thread, field and message."""
    faults = [asdict(fault) | {"text": str(fault)} for fault in error.faults]
    return {"state": "refused", "message": str(error), "n_faults": error.n_faults, "faults": faults}


def _answer(work: Callable[[], Answer]) -> Answer:
    with in_one_sentence():
        try:
            return work()
        except PredictionError as error:
            return refused(error)


def _signed_in(session: Mapping[str, Any]) -> str | None:
    """The name in the session, whose cookie the server has signed, as long as it is valid."""
    info = session.get("oauth_info") or {}
    expires = info.get("expires_at")
    if expires is not None and expires < time.time():
        return None
    name = (info.get("userinfo") or {}).get("preferred_username")
    return name if isinstance(name, str) else None


def _bytes_of(predictions: object) -> bytes:
    text = _text(predictions)
    if text.startswith(_PACKED):
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise UserError("predictions: found base64 that is cut off or damaged; send it again") from None
    return text.encode(errors="surrogatepass")


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
